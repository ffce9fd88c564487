import handlersocket2.Assign;
import handlersocket2.Column;
import handlersocket2.Duplicate;
import handlersocket2.Find;
import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;
import handlersocket2.Pipeline;
import handlersocket2.ReplyException;
import handlersocket2.Upsert;
import handlersocket2.Values;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Requests that the original does not have. It prints one line for each step. */
final class NewRequests {
    private NewRequests() {}

    record Visitor(int id, String name, @Column("visits") Integer visits, int flags) {}

    private static void step(String name, Object result) {
        System.out.println(name + "\t" + result);
    }

    static void run(HandlerSocketClient client) {
        Index<Visitor> visitors = client.table("visitor").filterColumns("visits").open(Visitor.class);
        Index<Visitor> byName = client.table("visitor").index("by_name").open(Visitor.class);
        step("insert many", visitors.insertMany(
                List.of(List.of(1, "Ann", 1), List.of(2, "Anton", 2), Arrays.asList(3, null, 3)), Duplicate.FAIL));
        ranges(visitors, byName);
        step("iterate", visitors.stream(Find.range().down().limit(9)).map(Visitor::id).toList());
        step("count", visitors.count(Find.range()) + " " + visitors.count(Find.range().limit(2)));
        step("count some", visitors.count(Find.range().filter("visits", "<", 3)));
        step("count in", visitors.count(Find.eq("").in(0, List.of(1, 3, 9))));
        step("exists", visitors.exists(Find.eq(3)) + " " + visitors.exists(Find.eq(4)));
        assignments(visitors);
        severalRows(client, visitors);
    }

    private static void ranges(Index<Visitor> visitors, Index<Visitor> byName) {
        step("whole", ids(visitors, Find.range()));
        step("down", ids(visitors, Find.range().down()));
        step("two ends", ids(visitors, Find.range().after(1).to(3)));
        step("two ends down", ids(visitors, Find.range().from(1).before(3).down()));
        step("prefix", ids(byName, Find.range().prefix("An")));
        step("from null", ids(byName, Find.range().from(null).before("Anton")));
        step("below", ids(byName, Find.range().before("Anton")));
        step("key null", ids(byName, Find.range((Object) null)));
        step("page", ids(visitors, Find.gt(2)));
    }

    private static List<Integer> ids(Index<Visitor> index, Find find) {
        return index.find(find.limit(9)).stream().map(Visitor::id).toList();
    }

    private static void assignments(Index<Visitor> visitors) {
        Find one = Find.eq(1);
        for (Map<String, ?> changes : List.of(
                Values.of("visits", Assign.add(5, null, 4)).and("name", Assign.append("!")),
                Values.of("visits", Assign.toDefault()).and("flags", Assign.bitAnd(6)).and("seen", Assign.now()),
                Values.of("visits", Assign.subtract(9)).and("flags", Assign.bitOr(3)),
                Values.of("visits", Assign.subtract(9, -3, null)).and("flags", Assign.bitXor(1)),
                Values.of("visits", Assign.max(8)).and("name", Assign.prepend("Dr. ")).and("seen", null))) {
            step("changed " + changes.keySet(), visitors.update(one, changes) + " " + visitors.findOne(1).orElseThrow());
        }
        step("min", visitors.update(one, Arrays.asList(1, null, Assign.min(3))) + " " + visitors.findOne(1).orElseThrow());
        step("before", visitors.fetchAndUpdate(one, Map.of("flags", Assign.add(1))));
        step("afterwards", visitors.updateAndFetch(one, Values.of("flags", Assign.add(1)).and("name", "Ann")));
        step("updated", visitors.updateAndFetch(one, Map.of("flags", 2)));
        step("incremented", visitors.incrementAndFetch(one, Map.of("visits", 2)));
        step("decremented", visitors.decrementAndFetch(one, Map.of("visits", 1)));
    }

    private static void severalRows(HandlerSocketClient client, Index<Visitor> visitors) {
        try {
            visitors.insertMany(List.of(Map.of("id", 6), Map.of("id", 1)), Duplicate.FAIL);
        } catch (ReplyException duplicate) {
            step("duplicate", duplicate.category() + " " + visitors.exists(Find.eq(6)));
        }
        step("ignored", visitors.insertMany(List.of(Map.of("id", 1)), Duplicate.IGNORE));
        step("replaced", visitors.insertMany(List.of(new Visitor(1, "Ann", 1, 5)), Duplicate.REPLACE));
        Upsert upsert = Upsert.of(Map.of("id", 1, "visits", 50)).set("visits", Assign.inserted());
        step("upsert", visitors.upsert(upsert.set("name", Assign.append("!"))) + " " + visitors.findOne(1).orElseThrow());
        step("unchanged", visitors.upsert(upsert));
        step("unmet", visitors.upsert(Upsert.of(Map.of("id", 1)).set("visits", 51).filter("visits", "<", 50)));
        step("upserts", visitors.upsertMany(
                Upsert.ofAll(List.of(List.of(1), List.of(20))).set("flags", Assign.add(1))));
        Pipeline pipeline = client.pipeline();
        CompletableFuture<?> changed = pipeline.on(visitors).upsert(Upsert.of(List.of(20)).set("flags", Assign.add(1)));
        CompletableFuture<?> count = pipeline.on(visitors).count(Find.range());
        CompletableFuture<?> exists = pipeline.on(visitors).exists(Find.eq(20));
        pipeline.run();
        step("pipeline", changed.join() + " " + count.join() + " " + exists.join());
    }
}
