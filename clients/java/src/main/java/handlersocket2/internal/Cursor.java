package handlersocket2.internal;

import handlersocket2.Address;
import handlersocket2.ClientClosedException;
import handlersocket2.ConnectionLostException;
import handlersocket2.DecodeException;
import handlersocket2.Failure;
import handlersocket2.ProtocolException;
import handlersocket2.ReplyException;
import handlersocket2.RequestCancelledException;
import handlersocket2.RequestTimeoutException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one large find, decoded while the reply arrives. It reads only when a row is wanted, so a slow consumer
 * slows down the server. It belongs to one thread at a time.
 */
public final class Cursor implements AutoCloseable {
    private static final int BUFFER = 1 << 16;
    private static final int LONGEST_HEAD = 1 << 16;

    private enum State {
        /** The hello that turns texts on has no reply yet. */
        HELLO,
        OPENING,
        HEAD,
        ROWS,
        ENDED
    }

    private final StreamPool pool;
    private final Shared shared;
    private final IndexDef index;
    private final byte[] prefix;
    private final LineWriter line;
    private final long timeout;
    private final int columns;
    private final long began = Clock.now();

    private StreamPool.@Nullable Stream stream;
    private @Nullable Address address;
    private State state = State.HEAD;
    /** P was sent, too. */
    private boolean opens;
    private byte[] in = new byte[BUFFER];
    private int begin;
    private int end;
    /** Of the row that has begun: its values, and how far it was looked at. */
    private int[] starts;

    private int values;
    private int scanned;
    private @Nullable ReplyException openingError;
    private int refusals;
    private long rows;
    private long bytesIn;
    /** The observer has heard of the end. */
    private boolean told;

    Cursor(StreamPool pool, Shared shared, IndexDef index, byte[] prefix, LineWriter line, long timeout) {
        this.pool = pool;
        this.shared = shared;
        this.index = index;
        this.prefix = prefix;
        this.line = line;
        this.timeout = timeout;
        this.columns = index.columns().size();
        this.starts = new int[columns + 1];
        pool.begun();
        try {
            send();
        } catch (Throwable problem) {
            failed(problem);
            throw problem;
        }
    }

    private long bytesOut() {
        return prefix.length + line.length();
    }

    private long deadline() {
        return timeout == Clock.NEVER ? Clock.NEVER : Clock.now() + timeout;
    }

    private void send() {
        stream = pool.acquire(deadline());
        address = stream.address;
        LineWriter request = new LineWriter();
        boolean greets = shared.settings.texts && !stream.greeted;
        if (greets) {
            request.raw(Hello.TEXTS);
            stream.greeted = true;
        }
        Integer known = stream.ids.get(index);
        int id = known == null ? stream.ids.size() + 1 : known;
        opens = known == null;
        if (opens) {
            request.raw(Opening.WORD).number(id).raw(index.opening);
            stream.ids.put(index, id);
        }
        request.raw(prefix).number(id);
        state = greets ? State.HELLO : opens ? State.OPENING : State.HEAD;
        try {
            write(request.bytes(), request.length());
            write(line.bytes(), line.length());
        } catch (IOException | CancelledKeyException | ClosedSelectorException problem) {
            throw lost(problem);
        }
    }

    private void write(byte[] bytes, int count) throws IOException {
        int written = 0;
        for (; ; ) {
            written += stream.ready.transport().write(bytes, written, count - written);
            if (written == count && !stream.ready.transport().holdsUnwritten()) {
                return;
            }
            await(SelectionKey.OP_WRITE);
        }
    }

    private void await(int wanted) throws IOException {
        Connector.Ready ready = stream.ready;
        long until = deadline();
        long dead = Clock.after(Clock.now(), shared.settings.deadAfter);
        try {
            Connector.await(ready.selector(), ready.key(), wanted, Math.min(until, dead), () -> shared.closed);
        } catch (IOException problem) {
            if (Thread.currentThread().isInterrupted()) {
                throw fail(new RequestCancelledException("the thread was interrupted", true, false));
            }
            if (!shared.closed && until <= Clock.now()) {
                throw fail(new RequestTimeoutException("the next bytes took too long", true, false));
            }
            if (!shared.closed && dead <= Clock.now()) {
                throw lost(shared.settings.silence(), null);
            }
            throw problem;
        }
    }

    /** The next row, or null at the end. */
    public @Nullable Reply next() {
        if (state == State.ENDED) {
            tell(null);
            return null;
        }
        try {
            while (state != State.ENDED) {
                Reply row = state == State.ROWS ? row() : null;
                if (row != null) {
                    rows++;
                    return row;
                }
                if (state != State.ENDED && (state == State.ROWS || !head())) {
                    fill();
                }
            }
            return null;
        } catch (Reply.WrongReply problem) {
            throw fail(new ProtocolException(told(problem.getMessage()), false));
        } catch (IOException | CancelledKeyException | ClosedSelectorException problem) {
            throw lost(problem);
        } catch (RuntimeException | Error problem) {
            failed(problem);
            throw problem;
        }
    }

    /**
     * Ends it, if it has not ended by this already: it may be that there is no memory, or no connection to another
     * address. Nobody else may miss its permit for that.
     */
    private void failed(Throwable problem) {
        end(problem, StreamPool.Ending.closed("the iteration has failed"));
    }

    /** Reads what stands in front of the rows. False if more has to come. */
    private boolean head() throws Reply.WrongReply {
        int stop = begin;
        int tabs = 0;
        boolean whole = state != State.HEAD || begin < end && in[begin] != '0';
        while (stop < end && in[stop] != '\n' && (whole || in[stop] != '\t' || tabs++ == 0)) {
            stop++;
        }
        if (stop == end) {
            if (end - begin > LONGEST_HEAD) {
                throw new Reply.WrongReply(Greetings.NO_REPLY);
            }
            return false;
        }
        Reply.Expect expect = switch (state) {
            case HELLO -> Reply.Expect.PAIRS;
            case OPENING -> Reply.Expect.NOTHING;
            default -> Reply.Expect.ROWS;
        };
        Reply reply = Reply.parse(in, begin, stop, expect, whole ? -1 : columns);
        boolean more = in[stop] == '\t';
        begin = more ? stop : stop + 1;
        if (state == State.HELLO) {
            state = opens ? State.OPENING : State.HEAD;
            return true;
        }
        if (state == State.OPENING) {
            state = State.HEAD;
            if (reply.code != 0) {
                openingError = error(reply, true);
                stream.ids.remove(index);
            }
            return true;
        }
        stream.answered = true;
        if (openingError != null || reply.code != 0) {
            refused(openingError != null ? openingError : error(reply, false));
        } else if (more) {
            state = State.ROWS;
        } else {
            finish();
        }
        return true;
    }

    private ReplyException error(Reply reply, boolean opening) {
        String where = reply.code == Call.NO_LOG_IN ? String.valueOf(address) : index.key.words(reply, opening);
        return new ReplyException(false, false, reply.code, reply.errorText(), 0, reply.texts(), where);
    }

    private void refused(ReplyException error) {
        Address left = stream.address;
        boolean opening = openingError != null;
        openingError = null;
        if (opening && error.text().equals(OpenIndexes.FULL) && !stream.ids.isEmpty()) {
            sendAgain(StreamPool.Ending.FULL);
            return;
        }
        if (error.retry() != ReplyException.Retry.ELSEWHERE) {
            // The connection is as good as before, but for an index that could not be opened.
            end(error, stream.ids.containsKey(index) ? surplus() : StreamPool.Ending.closed("an index could not be opened"));
            throw error;
        }
        shared.leave(left, false, String.valueOf(error.getMessage()));
        if (++refusals >= shared.addresses.size()) {
            end(error, StreamPool.Ending.MOVED);
            throw error;
        }
        sendAgain(StreamPool.Ending.MOVED);
    }

    private void sendAgain(StreamPool.Ending ending) {
        release(ending);
        begin = 0;
        end = 0;
        send();
    }

    /** The next row, if all of it is here. */
    private @Nullable Reply row() throws Reply.WrongReply {
        if (columns == 0) {
            throw new Reply.WrongReply("the values of the reply do not fill its rows");
        }
        int body = begin + 1;
        for (int at = begin + scanned; at < end; at++) {
            byte b = in[at];
            if (b == '\t' && values < columns) {
                starts[values++] = at + 1 - body;
            } else if (b == '\t' || b == '\n') {
                if (values < columns) {
                    throw new Reply.WrongReply("the values of the reply do not fill its rows");
                }
                starts[columns] = at + 1 - body;
                Reply row = Reply.ofRow(Arrays.copyOfRange(in, body, at), starts, columns);
                begin = at;
                scanned = 0;
                values = 0;
                starts = new int[columns + 1];
                if (b == '\n') {
                    begin++;
                    // That all rows have come is told when the last of them was taken.
                    leave(surplus());
                }
                return row;
            } else if (b == 1) {
                if (at + 1 == end) {
                    scanned = at - begin;
                    return null;
                }
                if ((in[++at] & 0xF0) != 0x40) {
                    throw new Reply.WrongReply("a value of the reply has a wrong escape");
                }
            }
        }
        scanned = end - begin;
        if (end - begin > shared.settings.maxReplyBytes) {
            throw new Reply.WrongReply("a row is longer than max_reply_bytes");
        }
        return null;
    }

    private void fill() throws IOException {
        if (begin > 0) {
            System.arraycopy(in, begin, in, 0, end - begin);
            end -= begin;
            begin = 0;
        }
        if (end == in.length) {
            in = Arrays.copyOf(in, (int) Math.min(in.length * 2L, shared.settings.maxReplyBytes + 2L + BUFFER));
        }
        for (; ; ) {
            int count = stream.ready.transport().read(ByteBuffer.wrap(in, end, in.length - end));
            if (count < 0) {
                throw lost(StreamPool.SERVER_CLOSED, null);
            }
            if (count > 0) {
                end += count;
                bytesIn += count;
                return;
            }
            await(SelectionKey.OP_READ);
        }
    }

    /** All rows have come. */
    private void finish() {
        end(null, surplus());
    }

    /** What becomes of the connection when the whole reply was read. */
    private StreamPool.@Nullable Ending surplus() {
        return begin == end ? null : StreamPool.Ending.UNASKED;
    }

    private RuntimeException lost(Exception problem) {
        return lost("the connection broke: " + problem.getMessage(), problem);
    }

    private RuntimeException lost(String reason, @Nullable Exception cause) {
        return fail(
                shared.closed
                        ? new ClientClosedException("the client is closed", true, false)
                        : new ConnectionLostException(told(reason), cause, true, false));
    }

    /** A connection that has never answered may be none of HandlerSocket. */
    private String told(@Nullable String reason) {
        boolean known = stream == null || stream.answered;
        return known ? String.valueOf(reason) : address + ": " + reason + Greetings.hint(in, end);
    }

    private <E extends RuntimeException & Failure> E fail(E error) {
        boolean violated = error.kind() == Failure.Kind.PROTOCOL;
        boolean lost = violated || error.kind() == Failure.Kind.LOST;
        boolean unanswered = stream != null && !stream.answered;
        end(error, new StreamPool.Ending(lost, violated, String.valueOf(error.getMessage())));
        if (lost && unanswered) {
            shared.leave(address, false, String.valueOf(error.getMessage()));
        }
        return error;
    }

    /** The connection ends with it, unless all of the reply was read. */
    private void end(@Nullable Throwable error, StreamPool.@Nullable Ending ending) {
        leave(ending);
        tell(error);
    }

    private void leave(StreamPool.@Nullable Ending ending) {
        if (state != State.ENDED) {
            state = State.ENDED;
            try {
                release(ending);
            } finally {
                pool.ended();
            }
        }
    }

    private void tell(@Nullable Throwable error) {
        if (!told) {
            told = true;
            shared.observer.ended(index, address, began, bytesOut(), bytesIn, rows, error);
        }
    }

    /** The caller has made what it wants of the row that came last. */
    public void taken() {
        if (state == State.ENDED) {
            tell(null);
        }
    }

    /** The caller could not use the row that came last: the iteration is over. */
    public void spoiled(DecodeException error) {
        rows--;
        end(error, StreamPool.Ending.closed("the iteration ended before its reply"));
    }

    private void release(StreamPool.@Nullable Ending ending) {
        StreamPool.Stream former = stream;
        stream = null;
        if (former != null) {
            pool.release(former, ending);
        }
    }

    /** Ends it early. */
    @Override
    public void close() {
        end(null, StreamPool.Ending.closed("the iteration ended before its reply"));
    }
}
