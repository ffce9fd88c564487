/** How the client works. Nothing here is for programs, and all of it may change. */
@NullMarked
package handlersocket2.internal;

import org.jspecify.annotations.NullMarked;
