import handlersocket2.HandlerSocketClient;
import handlersocket2.ListedIndex;
import handlersocket2.ReplyException;

/** Lists, and a ping. It prints one line for each step. */
final class ListedTables {
    private ListedTables() {}

    private static void step(String name, Object result) {
        System.out.println(name + "\t" + result);
    }

    static void run(HandlerSocketClient client, String database) {
        client.ping();
        client.pingAsync().join();
        try {
            step("databases", client.databases().contains(database));
            step("tables", client.tables() + " " + client.tablesAsync(database).join());
            for (ListedIndex index : client.indexes("t")) {
                step(index.name(), index.unique() + " " + index.ordered() + " " + index.parts());
            }
            step("of a hash", client.indexesAsync(database, "hashed").join().get(0).ordered());
            client.tables("no_such_database");
        } catch (ReplyException problem) {
            step("error", problem.text());
        }
    }
}
