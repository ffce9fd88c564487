package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientBuilder.ReadFrom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** Which of the addresses is current, for writes and for finds. Any thread may ask. */
final class AddressBook {
    private final List<Address> addresses;
    private final ReadFrom readFrom;
    private int writer;
    private int reader;

    AddressBook(Settings settings) {
        addresses = settings.addresses;
        readFrom = settings.readFrom;
        if (readFrom != ReadFrom.WRITER) {
            reader = ThreadLocalRandom.current().nextInt(addresses.size());
            avoidWriter();
        }
    }

    int size() {
        return addresses.size();
    }

    boolean canWrite() {
        return addresses.stream().anyMatch(Address::canWrite);
    }

    boolean canRead() {
        return addresses.stream().anyMatch(address -> address.readPort().isPresent() || address.readSocket().isPresent());
    }

    synchronized Address current(boolean toWrite) {
        return addresses.get(place(toWrite));
    }

    private int place(boolean toWrite) {
        int place = toWrite || readFrom == ReadFrom.WRITER ? writer : reader;
        while (toWrite && !addresses.get(place).canWrite()) {
            place = (place + 1) % addresses.size();
        }
        return place;
    }

    /** The addresses that an attempt tries, the current one first. The writer is the last choice for replicas. */
    synchronized List<Address> order(boolean toWrite) {
        List<Address> order = new ArrayList<>(addresses.size());
        int first = place(toWrite);
        boolean replicas = !toWrite && readFrom == ReadFrom.REPLICAS;
        for (int i = 0; i < addresses.size(); i++) {
            int at = (first + i) % addresses.size();
            if ((!replicas || at != writer) && (!toWrite || addresses.get(at).canWrite())) {
                order.add(addresses.get(at));
            }
        }
        if (replicas) {
            order.add(addresses.get(writer));
        }
        return order;
    }

    /** An address did not serve: the next one becomes current, if that one still is. Whether it has changed. */
    synchronized boolean leave(Address address, boolean toWrite) {
        int left = place(toWrite);
        if (addresses.get(left) != address) {
            return false;
        }
        int next = (left + 1) % addresses.size();
        if (toWrite || readFrom == ReadFrom.WRITER) {
            writer = next;
        } else {
            reader = next;
        }
        avoidWriter();
        return addresses.get(place(toWrite)) != address;
    }

    /** Whether a connection to this address serves. The writer does in place of replicas, none of which was reached. */
    synchronized boolean accepts(Address address, boolean toWrite) {
        boolean lastChoice = !toWrite && readFrom == ReadFrom.REPLICAS && addresses.get(writer) == address;
        return lastChoice || addresses.get(place(toWrite)) == address;
    }

    private void avoidWriter() {
        if (readFrom == ReadFrom.REPLICAS && reader == writer) {
            reader = (reader + 1) % addresses.size();
        }
    }
}
