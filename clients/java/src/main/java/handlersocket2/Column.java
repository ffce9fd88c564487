package handlersocket2;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names the column of a record's component. Without it, the column has the component's name. */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Column {

    /**
     * The column's name.
     *
     * @return the name
     */
    String value();
}
