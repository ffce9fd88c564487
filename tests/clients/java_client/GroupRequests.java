import handlersocket2.AsyncIndex;
import handlersocket2.Failure;
import handlersocket2.Find;
import handlersocket2.Group;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import handlersocket2.ReplyException;
import handlersocket2.Row;
import handlersocket2.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;

/** Groups. It prints one line for each step. */
final class GroupRequests {
    private static final int TIMES = 25;
    private final HandlerSocketClient client;
    private final Index<Account> accounts;
    private final Index<Row> entries;

    private GroupRequests(HandlerSocketClient client) {
        this.client = client;
        accounts = client.table("account").filterColumns("balance").open(Account.class);
        entries = client.index("entry", "text");
    }

    record Account(int id, long balance) {}

    private static void step(String name, Object result) {
        System.out.println(name + "\t" + result);
    }

    static void run(HandlerSocketClient client) throws InterruptedException {
        new GroupRequests(client).run();
    }

    private void run() throws InterruptedException {
        step("transfer", transfer(1, 2, 30));
        step("not so much", transfer(1, 2, 71));
        step("no such account", transfer(1, 3, 5));
        step("balances", balances());
        Set<Long> sums = new ConcurrentSkipListSet<>();
        inThreads(number -> {
            for (int i = 0; i < TIMES; i++) {
                transfer(1 + number % 2, 2 - number % 2, 7);
                sums.add(balances().stream().mapToLong(Long::longValue).sum());
            }
        });
        step("many transfers", new TreeSet<>(sums));
        step("set", set(0, 1));
        step("set again", set(0, 2));
        inThreads(number -> {
            for (int done = 0; done < TIMES; ) {
                long old = balance(5);
                done += set(old, old + 1).equals("done") ? 1 : 0;
            }
        });
        step("counted", balance(5));
        locks();
        mistakes();
    }

    private interface Work {
        void of(int number);
    }

    private static void inThreads(Work work) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> work.of(number));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private long balance(int id) {
        return accounts.findOne(id).orElseThrow().balance();
    }

    private List<Long> balances() {
        return accounts.find(Find.range().limit(2)).stream().map(Account::balance).toList();
    }

    private static String end(Group group) {
        try {
            group.run();
            return "done";
        } catch (ReplyException problem) {
            String unmet = problem.isUnmet() ? "unmet " : "";
            return unmet + problem.text() + " " + problem.line() + " " + problem.isSafeToRetry();
        }
    }

    private String transfer(int from, int to, long amount) {
        Group group = client.group();
        group.some(accounts).decrement(Find.eq(from), Map.of("balance", amount));
        group.some(accounts).increment(Find.eq(to), Map.of("balance", amount));
        return end(group);
    }

    private String set(long old, long balance) {
        Group group = client.group();
        group.some(accounts).update(Find.eq(5).filter("balance", "=", old), Map.of("balance", balance));
        return end(group);
    }

    private void locks() {
        Group group = client.group();
        AsyncIndex<Account> on = group.on(accounts);
        CompletableFuture<List<Account>> here = group.some(accounts).fetchAndLock(Find.eq(5));
        CompletableFuture<Long> none = group.none(accounts).lock(Find.eq(6));
        on.insert(List.of(6, 7));
        CompletableFuture<OptionalLong> entry = group.on(entries).insert(List.of("done"));
        CompletableFuture<List<Account>> nothing = on.findIn(List.of());
        CompletableFuture<Long> count = on.count(Find.range());
        String end = end(group);
        step("locks", end + " " + here.join() + " " + none.join() + " " + entry.join() + " " + nothing.join() + " " + count.join());
        CompletableFuture<OptionalLong> undone = group.on(entries).insert(List.of("undone"));
        on.findIn(List.of());
        on.insert(List.of(1, 1));
        step("duplicate", end(group) + " " + text(undone));
        step("entries", entries.find(Find.range().limit(9)).size());
    }

    private static String text(CompletableFuture<?> future) {
        Throwable problem = future.handle((result, error) -> error).join();
        return problem instanceof ReplyException reply ? reply.text() + " " + reply.line() : String.valueOf(problem);
    }

    /** What cannot be meant is refused when it is added. */
    private void mistakes() {
        Group group = client.group();
        List<Runnable> wrong = List.of(
                () -> group.some(accounts).findOne(1),
                () -> group.none(accounts).insert(List.of(9, 9)),
                () -> group.some(accounts).delete(Find.eq("").in(0, List.of())));
        int refused = 0;
        for (Runnable each : wrong) {
            try {
                each.run();
            } catch (UsageException problem) {
                refused += problem.kind() == Failure.Kind.USAGE ? 1 : 0;
            }
        }
        step("mistakes", refused + " " + end(group));
    }
}
