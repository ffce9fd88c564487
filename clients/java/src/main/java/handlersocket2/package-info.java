/**
 * Reads and changes rows of MariaDB and MySQL by an indexed key, over the HandlerSocket protocol and without SQL. Begin
 * with {@link handlersocket2.HandlerSocketClient}.
 */
@NullMarked
package handlersocket2;

import org.jspecify.annotations.NullMarked;
