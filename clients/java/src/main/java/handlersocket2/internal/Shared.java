package handlersocket2.internal;

import handlersocket2.Address;
import java.util.concurrent.atomic.LongAdder;

/** What the parts of one client have in common. */
final class Shared {
    final Settings settings;
    final AddressBook addresses;
    final Connector connector;
    final Observer observer;

    /** Replies for which nobody waited any more. */
    final LongAdder dropped = new LongAdder();

    volatile boolean closed;

    /** What happens when another address becomes current. */
    Runnable whenMoved = () -> {};

    Shared(Settings settings) {
        this.settings = settings;
        this.addresses = new AddressBook(settings);
        this.connector = new Connector(settings);
        this.observer = new Observer(settings);
    }

    /** An address did not serve. If it was current, the next one is now, and lanes leave it. */
    void leave(Address address, boolean toWrite, String reason) {
        if (addresses.leave(address, toWrite)) {
            moved(address, toWrite, reason);
        }
    }

    /** Another address than this one is current now. */
    void moved(Address from, boolean toWrite, String reason) {
        observer.failedOver(from, addresses.current(toWrite), reason);
        whenMoved.run();
    }
}
