/** A client of the HandlerSocket protocol, for MariaDB and MySQL. */
@SuppressWarnings("module")
module handlersocket2 {
    // Not transitive: a module that requires this one would not compile without the annotations.
    requires static org.jspecify;

    exports handlersocket2;
}
