package handlersocket2;

import handlersocket2.internal.IndexDef;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes each definition of an index once for a client, so that connections open it once. */
final class IndexRegistry {
    private final ConcurrentHashMap<IndexDef.Key, IndexDef> known = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();

    IndexDef of(IndexDef.Key key) {
        return known.computeIfAbsent(key, wanted -> new IndexDef(numbers.getAndIncrement(), wanted));
    }
}
