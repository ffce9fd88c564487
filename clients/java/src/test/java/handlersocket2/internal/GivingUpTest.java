package handlersocket2.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import handlersocket2.Address;
import handlersocket2.ClientClosedException;
import handlersocket2.ClientListener;
import handlersocket2.ConnectionEvent;
import handlersocket2.RequestCancelledException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that are given up, and clients that are closed, at the moment at which something else happens to the call. */
@Timeout(60)
class GivingUpTest {
    private static final int ROUNDS = 200_000;
    /** On a busy machine, two threads that wait for each other meet less often. */
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(3);

    private static Call<Reply> call(Operation operation) {
        LineWriter line = new LineWriter().raw("echo\tping\n");
        return new Call<>(
                operation, null, new byte[0], line, Reply.Expect.ECHO, false, 0, Clock.now(), Clock.NEVER, reply -> reply,
                null);
    }

    /** A call that goes to another connection is given up on the way. If it gets a slot there, it may be executed. */
    @Test
    void onTheWayToAnotherConnection() throws Exception {
        AtomicReference<Call<Reply>> next = new AtomicReference<>();
        AtomicBoolean over = new AtomicBoolean();
        Thread caller = new Thread(() -> {
            while (!over.get()) {
                Call<Reply> call = next.get();
                if (call == null) {
                    Thread.yield();
                    continue;
                }
                call.cancel(false);
                next.set(null);
            }
        });
        caller.setDaemon(true);
        caller.start();
        int wrong = 0;
        long end = System.nanoTime() + LONGEST_NS;
        for (int i = 0; i < ROUNDS && System.nanoTime() < end; i++) {
            Call<Reply> call = call(Operation.DELETE);
            assertTrue(call.take());
            next.set(call);
            for (int spin = i % 64; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            call.untake(false);
            boolean sent = call.take();
            while (next.get() != null) {
                Thread.yield();
            }
            RequestCancelledException ended = assertThrows(RequestCancelledException.class, call::join);
            if (sent && !ended.maybeExecuted()) {
                wrong++;
            }
        }
        over.set(true);
        assertEquals(0, wrong, "so many writes were sent and said not to be executed");
    }

    /** A reply has been read, and before its slot is looked for the client is closed. The server has done nothing wrong. */
    @Test
    void closedWhileAReplyIsRead() throws Exception {
        Queue<ConnectionEvent> events = new ConcurrentLinkedQueue<>();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Settings settings = new Settings();
            settings.addresses = List.of(Address.of("127.0.0.1", listener.getLocalPort(), listener.getLocalPort()));
            settings.listener = new ClientListener() {
                @Override
                public void connectionChanged(ConnectionEvent event) {
                    events.add(event);
                }
            };
            Router router = new Router(settings.complete());
            Call<Reply> call = call(Operation.PING);
            router.submit(call);
            try (Socket socket = listener.accept()) {
                assertEquals("echo\tping\n", new String(socket.getInputStream().readNBytes(10)));
                Lane lane = call.connection.lane;
                lane.lock.lock();
                try {
                    socket.getOutputStream().write("0\t1\tping\n".getBytes());
                    while (!lane.lock.hasQueuedThreads()) {
                        Thread.onSpinWait();
                    }
                    router.close();
                } finally {
                    lane.lock.unlock();
                }
                CompletionException ended = assertThrows(CompletionException.class, call::join);
                assertEquals(ClientClosedException.class, ended.getCause().getClass());
                long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
                while (events.size() < 2 && System.nanoTime() < until) {
                    Thread.onSpinWait();
                }
            }
        }
        assertEquals(
                List.of(ConnectionEvent.What.CONNECTED, ConnectionEvent.What.CLOSED),
                events.stream().map(ConnectionEvent::what).toList(),
                events::toString);
        assertFalse(events.stream().anyMatch(event -> event.reason().contains("answers no request")));
    }
}
