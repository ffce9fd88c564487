package handlersocket2;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A request that has ended.
 *
 * @param operation the word of OpenTelemetry, such as find, insert, group, describe, list or ping
 * @param database the database; empty if the request has none, as a hello
 * @param table the table; empty if the request has none
 * @param index the index; empty means PRIMARY
 * @param address the server that had it last, if one had it
 * @param route read, write, long or stream
 * @param took from when it was called to its end
 * @param bytesOut of the request
 * @param bytesIn of the reply
 * @param rows of the reply, or how many were modified
 * @param error why it failed, if it has
 */
public record RequestEvent(
        String operation,
        String database,
        String table,
        String index,
        Optional<Address> address,
        String route,
        Duration took,
        long bytesOut,
        long bytesIn,
        long rows,
        Optional<Throwable> error) {

    /**
     * The name of a span of OpenTelemetry.
     *
     * @return the operation, and the table if there is one
     */
    public String spanName() {
        return table.isEmpty() ? operation : operation + " " + table;
    }

    /**
     * The attributes by the names of OpenTelemetry. The duration belongs to {@code db.client.operation.duration}.
     *
     * @return names and values
     */
    public Map<String, Object> attributes() {
        Map<String, Object> attributes = new LinkedHashMap<>();
        attributes.put("db.system.name", "handlersocket");
        if (!database.isEmpty()) {
            attributes.put("db.namespace", database);
        }
        if (!table.isEmpty()) {
            attributes.put("db.collection.name", table);
        }
        attributes.put("db.operation.name", operation);
        address.ifPresent(
                server -> {
                    if (!server.isUnix()) {
                        attributes.put("server.address", server.host());
                        boolean toWrite = route.equals("write") || server.readPort().isEmpty();
                        (toWrite ? server.writePort() : server.readPort())
                                .ifPresent(port -> attributes.put("server.port", (long) port));
                    }
                });
        error.ifPresent(
                reason -> {
                    if (reason instanceof ReplyException reply) {
                        attributes.put("error.type", reply.text());
                        attributes.put("db.response.status_code", reply.text());
                    } else if (reason instanceof Failure failure) {
                        attributes.put("error.type", failure.kind().name().toLowerCase(Locale.ROOT));
                    } else {
                        attributes.put("error.type", reason.getClass().getName());
                    }
                });
        return attributes;
    }
}
