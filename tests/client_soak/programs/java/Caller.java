import handlersocket2.Assign;
import handlersocket2.Failure;
import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import handlersocket2.ReplyException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** One caller: what it asks, and what must come. It belongs to one thread. */
final class Caller {
    private static final String OWNER = "java";
    private static final int LIVE_ROWS = 8;
    private static final int MOST_ROWS = 1_000_000;
    private static final int MOST_CHARACTERS = 60;
    private static final int[] CHARACTERS = "abcdefghijklmnopqrstuvwxyz\t\n\0\u00e9\ud83d\ude00".codePoints().toArray();
    private static final Duration PAUSE = Duration.ofMillis(10);
    /** What faults may cause. */
    private static final Set<Failure.Kind> KINDS =
            EnumSet.of(
                    Failure.Kind.LOST,
                    Failure.Kind.CONNECT,
                    Failure.Kind.TIMEOUT,
                    Failure.Kind.CANCELLED,
                    Failure.Kind.BUSY);

    private static final Set<ReplyException.Category> REPLIES =
            EnumSet.of(
                    ReplyException.Category.LOCK,
                    ReplyException.Category.ELSEWHERE,
                    ReplyException.Category.READ_ONLY,
                    ReplyException.Category.INTERRUPTED,
                    ReplyException.Category.LIMIT,
                    ReplyException.Category.SCHEMA,
                    ReplyException.Category.SERVER);

    private final HandlerSocketClient client;
    private final Calls calls;
    private final int number;
    private final SplittableRandom random;
    private final LongAdder succeeded;
    private final Index<Kept> kept;
    private final Index<Logged> log;
    private final Book book;
    private final Map<Failure.Kind, Integer> errors = new EnumMap<>(Failure.Kind.class);
    private int unsure;
    /** Of the step that is made: what it does, and whether an error came. */
    private String doing = "";

    private boolean failed;

    record Kept(String owner, int caller, int number, long n, String text) {}

    record Logged(String owner, int caller, int number) {}

    private record Operation(int weight, String name, Runnable work) {}

    private final Operation insert = new Operation(0, "insert", this::insert);
    private final List<Operation> operations =
            List.of(
                    new Operation(30, "find", this::find),
                    new Operation(8, "find all", this::findAll),
                    new Operation(3, "count", this::count),
                    new Operation(10, "update", this::update),
                    new Operation(10, "increment", this::increment),
                    new Operation(5, "fetch and increment", this::fetchAndIncrement),
                    new Operation(5, "delete", this::delete),
                    new Operation(10, "insert into log", this::insertIntoLog),
                    new Operation(8, "group", this::group),
                    new Operation(5, "pipeline", this::pipeline),
                    new Operation(3, "iterate", this::iterate),
                    new Operation(3, "find in a hurry", this::findInHurry),
                    new Operation(3, "increment in a hurry", this::incrementInHurry));
    private final int weights = operations.stream().mapToInt(Operation::weight).sum();

    Caller(HandlerSocketClient client, Calls calls, int number, long seed, LongAdder succeeded) {
        this.client = client;
        this.calls = calls;
        this.number = number;
        this.succeeded = succeeded;
        random = new SplittableRandom(1_000_003 * seed + number);
        kept = client.table("kept").open(Kept.class);
        log = client.table("log").open(Logged.class);
        book = new Book(number);
    }

    Book book() {
        return book;
    }

    Map<Failure.Kind, Integer> errors() {
        return errors;
    }

    /** How many of the errors have left it open whether something was done. */
    int unsure() {
        return unsure;
    }

    /** It and what it does. */
    @Override
    public String toString() {
        return "caller " + number + ", " + doing;
    }

    void step() throws InterruptedException {
        Operation operation = book.live().size() < LIVE_ROWS ? insert : drawn();
        doing = operation.name;
        failed = false;
        operation.work.run();
        if (failed) {
            Thread.sleep(PAUSE.toMillis());
        }
    }

    private Operation drawn() {
        int left = random.nextInt(weights);
        for (Operation operation : operations) {
            left -= operation.weight;
            if (left < 0) {
                return operation;
            }
        }
        throw new AssertionError("the weights have another sum");
    }

    // Reading.

    private void find() {
        find(kept, Duration.ZERO);
    }

    private void findInHurry() {
        Duration timeout = hurry();
        find(kept.withTimeout(timeout), timeout);
    }

    private void find(Index<Kept> index, Duration patience) {
        int row = anyLive();
        attempt(
                false,
                patience,
                () -> Wrong.unlessSame(Optional.of(live(row)), calls.findOne(index, OWNER, number, row)));
    }

    private void findAll() {
        List<Kept> all = book.live().stream().map(this::live).toList();
        attempt(false, () -> Wrong.unlessSame(all, sorted(calls.find(kept, liveAndUnused()))));
    }

    private static List<Kept> sorted(List<Kept> rows) {
        return rows.stream().sorted(Comparator.comparingInt(Kept::number)).toList();
    }

    private void count() {
        attempt(false, () -> Wrong.unlessSame((long) book.live().size(), calls.count(kept, liveAndUnused())));
    }

    private Find liveAndUnused() {
        List<Integer> numbers = new ArrayList<>(book.live());
        numbers.add(random.nextInt(numbers.size() + 1), book.unusedNumber());
        return key(0).in(2, numbers);
    }

    private void iterate() {
        Find all = Find.range(OWNER, number).from(0).limit(MOST_ROWS);
        attempt(false, () -> {
            TreeSet<Integer> seen = new TreeSet<>();
            calls.forEach(kept, all, row -> checkIterated(row, seen));
            if (!seen.containsAll(book.live())) {
                throw Wrong.of("all of " + book.live(), seen);
            }
        });
    }

    /** Rows come in the order of the index, each once. One that is unsure is in one of its states, if it is there. */
    private void checkIterated(Kept row, TreeSet<Integer> seen) {
        if (!seen.isEmpty() && row.number <= seen.last()) {
            throw Wrong.of("a row behind number " + seen.last(), row);
        }
        seen.add(row.number);
        Book.State state = new Book.State(row.n, row.text);
        Wrong.unlessSame(kept(row.number, state), row);
        if (!book.possible(row.number).contains(state)) {
            throw Wrong.of("of number " + row.number + " one of " + book.possible(row.number), row);
        }
    }

    // Changing.

    private void insert() {
        int row = book.nextNumber();
        doing += " of number " + row;
        Book.Change change = new Book.Change(row, null, new Book.State(random.nextInt(1000), text()));
        Kept inserted = kept(row, change.after());
        book.settle(attempt(true, () -> Wrong.unlessSame(OptionalLong.empty(), calls.insert(kept, inserted))), change);
    }

    private void update() {
        int row = anyLive();
        Book.State before = book.state(row);
        String text = text();
        while (text.equals(before.text())) {
            text = text();
        }
        Map<String, String> values = Map.of("text", text);
        change(row, new Book.State(before.n(), text), () -> expectOne(calls.update(kept, key(row), values)));
    }

    private void increment() {
        increment(kept, Duration.ZERO);
    }

    private void incrementInHurry() {
        Duration timeout = hurry();
        increment(kept.withTimeout(timeout), timeout);
    }

    private void increment(Index<Kept> index, Duration patience) {
        Book.Change change = increase(anyLive(), amount());
        Map<String, Long> values = Map.of("n", change.after().n() - change.before().n());
        Runnable call = () -> expectOne(calls.increment(index, key(change.number()), values));
        book.settle(attempt(true, patience, call), change);
    }

    private void fetchAndIncrement() {
        int row = anyLive();
        int amount = amount();
        Map<String, Integer> values = Map.of("n", amount);
        List<Kept> before = List.of(live(row));
        change(
                row,
                increase(row, amount).after(),
                () -> Wrong.unlessSame(before, calls.fetchAndIncrement(kept, key(row), values)));
    }

    private void delete() {
        int row = anyLive();
        change(row, null, () -> expectOne(calls.delete(kept, key(row))));
    }

    private void insertIntoLog() {
        Logged entry = nextLogged();
        book.settleLog(attempt(true, () -> expectId(calls.insert(log, entry))), entry.number);
    }

    /** It subtracts by an assignment, because a decrement leaves a row as it is if n would cross zero. */
    private void group() {
        List<Integer> rows = new ArrayList<>(book.live());
        int amount = amount();
        Book.Change less = increase(rows.remove(random.nextInt(rows.size())), -amount);
        Book.Change more = increase(rows.remove(random.nextInt(rows.size())), amount);
        Logged entry = nextLogged();
        doing += " of numbers " + less.number() + " and " + more.number();
        Group group = client.group();
        CompletableFuture<Long> subtracted =
                group.on(kept).update(key(less.number()), Map.of("n", Assign.subtract(amount)));
        CompletableFuture<Long> added = group.on(kept).increment(key(more.number()), Map.of("n", amount));
        CompletableFuture<OptionalLong> logged = group.on(log).insert(entry);
        Book.Fate fate = attempt(true, () -> {
            calls.run(group);
            expectOne(FutureCalls.join(subtracted));
            expectOne(FutureCalls.join(added));
            expectId(FutureCalls.join(logged));
        });
        if (!(subtracted.isDone() && added.isDone() && logged.isDone())) {
            throw Wrong.of("an end of each future of the group", List.of(subtracted, added, logged));
        }
        book.settleTogether(fate, less, more, entry.number);
    }

    private void pipeline() {
        Pipeline pipeline = client.pipeline();
        List<Integer> rows = book.live();
        int middle = rows.size() / 2;
        Map<Integer, CompletableFuture<Optional<Kept>>> finds = new LinkedHashMap<>();
        Consumer<Integer> find = row -> finds.put(row, pipeline.on(kept).findOne(OWNER, number, row));
        rows.subList(0, middle).forEach(find);
        Logged entry = nextLogged();
        CompletableFuture<OptionalLong> logged = pipeline.on(log).insert(entry);
        rows.subList(middle, rows.size()).forEach(find);
        calls.run(pipeline);
        finds.forEach((row, found) -> attempt(
                false, () -> Wrong.unlessSame(Optional.of(live(row)), FutureCalls.join(found))));
        book.settleLog(attempt(true, () -> expectId(FutureCalls.join(logged))), entry.number);
    }

    private void change(int row, Book.State after, Runnable call) {
        book.settle(attempt(true, call), new Book.Change(row, book.state(row), after));
    }

    // What they have in common.

    private Book.Fate attempt(boolean modifies, Runnable call) {
        return attempt(modifies, Duration.ZERO, call);
    }

    /** Makes a call. It cannot time out before so much time is over. */
    private Book.Fate attempt(boolean modifies, Duration patience, Runnable call) {
        long began = System.nanoTime();
        try {
            call.run();
        } catch (RuntimeException problem) {
            if (!(problem instanceof Failure failure)) {
                throw problem;
            }
            boolean early = failure.kind() == Failure.Kind.TIMEOUT && System.nanoTime() - began < patience.toNanos();
            if (early || !isExplained(failure) || !isConsistent(failure, modifies)) {
                throw Wrong.of("a result, or an error that a fault explains", problem);
            }
            failed = true;
            errors.merge(failure.kind(), 1, Integer::sum);
            unsure += failure.maybeExecuted() ? 1 : 0;
            return failure.isSafeToRetry() ? Book.Fate.NOT_DONE : Book.Fate.UNSURE;
        }
        succeeded.increment();
        return Book.Fate.DONE;
    }

    private static boolean isExplained(Failure failure) {
        return failure.kind() == Failure.Kind.REPLY && failure instanceof ReplyException reply
                ? REPLIES.contains(reply.category())
                : KINDS.contains(failure.kind());
    }

    /** What the page of all clients says of errors, whatever has happened. */
    private static boolean isConsistent(Failure failure, boolean modifies) {
        boolean neverSent = failure.kind() == Failure.Kind.CONNECT || failure.kind() == Failure.Kind.BUSY;
        return !(failure.maybeExecuted() && !(modifies && failure.wasSent())) && !(neverSent && failure.wasSent());
    }

    private static void expectOne(long rows) {
        Wrong.unlessSame(1L, rows);
    }

    private static void expectId(OptionalLong id) {
        if (id.orElse(0) <= 0) {
            throw Wrong.of("the number of a row", id);
        }
    }

    private int anyLive() {
        List<Integer> rows = book.live();
        int row = rows.get(random.nextInt(rows.size()));
        doing += " of number " + row;
        return row;
    }

    private int amount() {
        return 1 + random.nextInt(9);
    }

    private Duration hurry() {
        return Duration.ofMillis(1 + random.nextInt(20));
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(MOST_CHARACTERS + 1); left > 0; left--) {
            text.appendCodePoint(CHARACTERS[random.nextInt(CHARACTERS.length)]);
        }
        return text.toString();
    }

    private Logged nextLogged() {
        Logged entry = new Logged(OWNER, number, book.nextLogNumber());
        doing += " with number " + entry.number + " of log";
        return entry;
    }

    private Find key(int row) {
        return Find.eq(OWNER, number, row);
    }

    private Kept live(int row) {
        return kept(row, book.state(row));
    }

    private Kept kept(int row, Book.State state) {
        return new Kept(OWNER, number, row, state.n(), state.text());
    }

    private Book.Change increase(int row, int amount) {
        Book.State before = book.state(row);
        return new Book.Change(row, before, new Book.State(before.n() + amount, before.text()));
    }
}
