/** A client of the HandlerSocket protocol, for MariaDB and MySQL. */
@SuppressWarnings("module")
module handlersocket2 {
    requires static transitive org.jspecify;

    exports handlersocket2;
}
