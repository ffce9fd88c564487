import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a caller knows of its rows. Its lists for the report have the form that the README of the soak says. */
final class Book {
    /** What became of a request. */
    enum Fate {
        DONE,
        NOT_DONE,
        UNSURE
    }

    /** What a row has, beside its key. */
    record State(long n, String text) {
        private List<Object> told() {
            return List.of(n, text);
        }
    }

    /** What a request makes of a row. A state is null if there is no such row. */
    record Change(int number, State before, State after) {
        private List<Object> states() {
            return Arrays.asList(told(before), told(after));
        }

        private static Object told(State state) {
            return state == null ? null : state.told();
        }
    }

    private final int caller;
    private final Map<Integer, State> live = new TreeMap<>();
    /** Rows that may be as before or as after a change, each by itself. */
    private final Map<Integer, Change> unsure = new TreeMap<>();
    /** Those of which a group may have changed two at once. */
    private final Map<Integer, Change> unsureTogether = new TreeMap<>();

    private final List<Object> joint = new ArrayList<>();
    private int next;
    private int tries;
    private final List<Integer> notLogged = new ArrayList<>();
    private final List<Integer> perhapsLogged = new ArrayList<>();

    Book(int caller) {
        this.caller = caller;
    }

    /** The numbers of the live rows, in their order. */
    List<Integer> live() {
        return List.copyOf(live.keySet());
    }

    /** Of a live row. */
    State state(int number) {
        return live.get(number);
    }

    /** A number that no row ever had. */
    int nextNumber() {
        return next++;
    }

    /** A number that no row will have for long. */
    int unusedNumber() {
        return next + 1000;
    }

    int nextLogNumber() {
        return tries++;
    }

    /** What a row may be that is there: nothing if it must not be there. */
    Collection<State> possible(int number) {
        if (live.containsKey(number)) {
            return List.of(live.get(number));
        }
        Change change = unsure.getOrDefault(number, unsureTogether.get(number));
        return change == null ? List.of() : Arrays.asList(change.before, change.after);
    }

    void settle(Fate fate, Change change) {
        switch (fate) {
            case DONE -> done(change);
            case UNSURE -> retire(change, unsure);
            case NOT_DONE -> {}
        }
    }

    private void done(Change change) {
        if (change.after == null) {
            live.remove(change.number);
        } else {
            live.put(change.number, change.after);
        }
    }

    private void retire(Change change, Map<Integer, Change> doubtful) {
        live.remove(change.number);
        doubtful.put(change.number, change);
    }

    void settleLog(Fate fate, int number) {
        switch (fate) {
            case DONE -> {}
            case UNSURE -> perhapsLogged.add(number);
            case NOT_DONE -> notLogged.add(number);
        }
    }

    /** Of a group: two rows, and a number of the log. */
    void settleTogether(Fate fate, Change one, Change other, int logNumber) {
        if (fate == Fate.UNSURE) {
            retire(one, unsureTogether);
            retire(other, unsureTogether);
            joint.add(List.of(told(one), told(other), List.of(caller, logNumber)));
        } else {
            settle(fate, one);
            settle(fate, other);
            settleLog(fate, logNumber);
        }
    }

    private List<Object> told(Change change) {
        return Arrays.asList(caller, change.number, Change.told(change.before), Change.told(change.after));
    }

    /** The live ones with one state, and the unsure ones with two. */
    List<Object> rows() {
        List<Object> rows = new ArrayList<>();
        live.forEach((number, state) -> rows.add(List.of(caller, number, List.of(state.told()))));
        unsure.forEach((number, change) -> rows.add(List.of(caller, number, change.states())));
        return rows;
    }

    List<Object> log() {
        return List.of(caller, tries, notLogged, perhapsLogged);
    }

    List<Object> joint() {
        return joint;
    }
}
