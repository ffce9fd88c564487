package handlersocket2;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where a server is: a host with a port for reading and a port for writing, or two Unix sockets. One of the two may be
 * missing.
 */
public final class Address {
    /** The usual port for reading. */
    public static final int READ_PORT = 9998;
    /** The usual port for reading and writing. */
    public static final int WRITE_PORT = 9999;

    private final String host;
    private final int readPort;
    private final int writePort;
    private final Optional<Path> readSocket;
    private final Optional<Path> writeSocket;

    private Address(String host, int readPort, int writePort, Optional<Path> readSocket, Optional<Path> writeSocket) {
        this.host = host;
        this.readPort = readPort;
        this.writePort = writePort;
        this.readSocket = readSocket;
        this.writeSocket = writeSocket;
    }

    /**
     * A host with the usual ports.
     *
     * @param host a name or an IP address
     * @return the address
     */
    public static Address of(String host) {
        return of(host, READ_PORT, WRITE_PORT);
    }

    /**
     * A host with its ports.
     *
     * @param host a name or an IP address
     * @param readPort the port for reading, or 0 if there is none
     * @param writePort the port for reading and writing, or 0 if there is none
     * @return the address
     */
    public static Address of(String host, int readPort, int writePort) {
        if (host.isEmpty()) {
            throw new UsageException("an address has an empty host");
        }
        if (readPort < 0 || readPort > 65535 || writePort < 0 || writePort > 65535 || readPort + writePort == 0) {
            throw new UsageException("an address needs a port from 1 to 65535");
        }
        return new Address(host, readPort, writePort, Optional.empty(), Optional.empty());
    }

    /**
     * Unix sockets.
     *
     * @param readSocket the one for reading, if there is one
     * @param writeSocket the one for reading and writing, if there is one
     * @return the address
     */
    public static Address ofSockets(Optional<Path> readSocket, Optional<Path> writeSocket) {
        if (readSocket.isEmpty() && writeSocket.isEmpty()) {
            throw new UsageException("an address needs a socket");
        }
        return new Address("", 0, 0, readSocket, writeSocket);
    }

    /**
     * Whether it has Unix sockets.
     *
     * @return true: it has no host
     */
    public boolean isUnix() {
        return host.isEmpty();
    }

    /**
     * The host.
     *
     * @return a name or an IP address; empty for Unix sockets
     */
    public String host() {
        return host;
    }

    /**
     * The port for reading.
     *
     * @return the port, if there is one
     */
    public OptionalInt readPort() {
        return readPort == 0 ? OptionalInt.empty() : OptionalInt.of(readPort);
    }

    /**
     * The port for reading and writing.
     *
     * @return the port, if there is one
     */
    public OptionalInt writePort() {
        return writePort == 0 ? OptionalInt.empty() : OptionalInt.of(writePort);
    }

    /**
     * The Unix socket for reading.
     *
     * @return its path, if there is one
     */
    public Optional<Path> readSocket() {
        return readSocket;
    }

    /**
     * The Unix socket for reading and writing.
     *
     * @return its path, if there is one
     */
    public Optional<Path> writeSocket() {
        return writeSocket;
    }

    /**
     * Whether rows can be modified there.
     *
     * @return true: it has a port or a socket for writing
     */
    public boolean canWrite() {
        return writePort != 0 || writeSocket.isPresent();
    }

    @Override
    public String toString() {
        if (isUnix()) {
            return readSocket.map(Path::toString).orElse("") + "," + writeSocket.map(Path::toString).orElse("");
        }
        String shown = host.indexOf(':') >= 0 ? "[" + host + "]" : host;
        return shown + ":" + (readPort == 0 ? "" : readPort) + (writePort == 0 ? "" : "," + writePort);
    }
}
