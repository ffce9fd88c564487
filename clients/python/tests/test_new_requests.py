"""What the original does not have: ranges, counts, assignments, upserts. The rest is vectors."""

import pytest

from handlersocket2 import Assign, Filter, FilterKind, In, InsertRows, ModifyOp, Outcome, Range
from handlersocket2.asks import Nothing, Specs
from handlersocket2.operations import Operations
from handlersocket2.requests import OpenIndex
from handlersocket2.rows import reader_for

COLUMNS = ["id", "name", "visits"]


@pytest.fixture
def index():
    specs = Specs()
    spec = specs.get(OpenIndex(0, "d", "t", "PRIMARY", COLUMNS, ["age"]))
    return Operations(specs, spec, reader_for(COLUMNS)[1])


def sent(ask):
    """The columns with which its index is open, and its line."""
    return ",".join(ask.operation.spec.columns), ask.line


MINE = "id,name,visits"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (Range(), b"\tup\t0\n"),
        (Range(down=True), b"\tdown\t0\n"),
        (Range(key=42), b"\tup\t1\t42\n"),
        (Range(key=[42, "a"], down=True), b"\tdown\t2\t42\ta\n"),
        (Range(ge=1, lt=3), b"\tup\t0\t>=\t1\t<\t3\n"),
        (Range(gt=1, le=3), b"\tup\t0\t>\t1\t<=\t3\n"),
        (Range(ge=None), b"\tup\t0\t>=\t\x00\n"),
        (Range(key=None, le=None), b"\tup\t1\t\x00\t<=\t\x00\n"),
        (Range(prefix="a%"), b"\tup\t0\t^\ta%\n"),
    ],
)
def test_a_range_stands_in_the_place_of_a_key(index, given, line):
    assert index.find(given, {}).line == line
    assert index.find_one(given, {}).line == line
    behind = line[:-1] + b"\t1\t0\tD\n"
    assert index.modify(ModifyOp.DELETE, given, (), {}).line == behind
    assert index.count(given, {}).line == line[:-1] + b"\tC\n"


def test_values_in_a_range(index):
    found = index.find_in([1, 2], Range(lt=9), 0, {})
    assert found.line == b"\tup\t1\t\t<\t9\t2\t0\t@\t0\t2\t1\t2\n"
    found = index.find_in([1, 2], Range(key=["", "x"], lt=9), 0, {"limit": 5})
    assert found.line == b"\tup\t2\t\tx\t<\t9\t5\t0\t@\t0\t2\t1\t2\n"


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (Range(ge=1), {"op": ">="}),
        (Range(ge=1, gt=1), {}),
        (Range(le=1, lt=1), {}),
        (Range(prefix="a", lt="b"), {}),
    ],
)
def test_what_a_range_cannot_be(index, given, options):
    with pytest.raises(ValueError):
        index.find(given, options)


def test_a_count_has_no_limit_and_so_goes_with_the_long_finds(index):
    assert index.count(1, {}).reach > 1000
    assert index.count(1, {"limit": 5}).reach == 5
    assert index.count(1, {"long": False}).reach == 0
    assert index.count(1, {"limit": 5}).line == b"\t=\t1\t1\t5\tC\n"
    assert index.exists(1, {}).reach == 1
    assert not index.count(1, {}).operation.modifies
    assert not index.exists(1, {}).operation.modifies


def test_a_count_in_an_empty_list_is_known(index):
    none = index.count("", {"in_": In([])}), index.exists("", {"in_": In([])})
    assert [type(ask) for ask in none] == [Nothing, Nothing]
    assert [ask.result for ask in none] == [0, False]


def test_exists_has_no_limit(index):
    with pytest.raises(TypeError):
        index.exists(1, {"limit": 3})


def test_an_update_without_an_assignment_is_that_of_the_original(index):
    assert sent(index.modify(ModifyOp.UPDATE, 1, {"visits": 3}, {})) == (
        "visits",
        b"\t=\t1\t1\t1\t0\tU\t3\n",
    )


def test_an_update_with_an_assignment(index):
    changes = {"visits": Assign.add(1), "name": "Ann"}
    assert sent(index.modify(ModifyOp.UPDATE, 1, changes, {})) == (
        MINE,
        b"\t=\t1\t1\t1\t0\tset\t2\t2\t+\t1\t1\t=\tAnn\n",
    )
    assert sent(index.modify(ModifyOp.UPDATE, 1, [7, Assign.default()], {})) == (
        MINE,
        b"\t=\t1\t1\t1\t0\tset\t2\t0\t=\t7\t1\tdefault\t\n",
    )
    # A column that the index was not opened with.
    assert sent(index.modify(ModifyOp.UPDATE, 1, {"seen": Assign.now()}, {})) == (
        MINE + ",seen",
        b"\t=\t1\t1\t1\t0\tset\t1\t3\tnow\t\n",
    )


def test_rows_before_and_afterwards(index):
    fetch = index.fetch
    plain = fetch(ModifyOp.UPDATE, 1, {"name": "Ann"}, {})  # as the original understands it
    assert sent(plain) == ("name,id,visits", b"\t=\t1\t1\t1\t0\tU?\tAnn\n")
    # Its rows are like all others of the index.
    assert plain.operation.decode(b"0\t3\tAnn\t1\t7", True) == [(b"1", b"Ann", b"7")]
    assert sent(fetch(ModifyOp.UPDATE, 1, {"name": "A", "id": 2}, {})) == (
        MINE,
        b"\t=\t1\t1\t1\t0\tU?\t2\tA\n",
    )
    changed = fetch(ModifyOp.UPDATE, 1, {"visits": Assign.max(3)}, {}, after=True)
    assert sent(changed) == (MINE, b"\t=\t1\t1\t1\t0\tset!\t1\t2\tmax\t3\n")
    assert fetch(ModifyOp.UPDATE, 1, [1, "x"], {}, after=True).line.endswith(b"\tU!\t1\tx\n")
    added = fetch(ModifyOp.INCREMENT, 1, {"visits": 3}, {}, after=True)
    assert sent(added) == ("visits,id,name", b"\t=\t1\t1\t1\t0\t+!\t3\n")


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.fetch(ModifyOp.UPDATE, 1, {"seen": 1}, {}),
        lambda index: index.fetch(ModifyOp.INCREMENT, 1, {"seen": 1}, {}),
        lambda index: index.fetch(ModifyOp.DELETE, 1, (), {}, after=True),
        lambda index: index.modify(ModifyOp.UPDATE, 1, {"name": Assign.inserted()}, {}),
        lambda index: index.modify(ModifyOp.UPDATE, 1, [1, 2, 3, Assign.now()], {}),
        lambda index: index.modify(ModifyOp.UPDATE, 1, {}, {}),
    ],
)
def test_what_a_change_cannot_be(index, ask):
    with pytest.raises(ValueError):
        ask(index)


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.insert([Assign.now()], {}),
        lambda index: index.find(Assign.now(), {}),
        lambda index: index.modify(ModifyOp.INCREMENT, 1, [Assign.add(1)], {}),
    ],
)
def test_an_assignment_has_its_place(index, ask):
    with pytest.raises(TypeError):
        ask(index)


def test_several_rows(index):
    assert sent(index.insert_many([[1, "a"], [2, None]], {})) == (
        MINE,
        b"\tinsert\t2\t2\t1\ta\t2\t\x00\n",
    )
    rows = [{"name": "a", "id": 1}, {"id": 2, "name": "b"}]
    assert sent(index.insert_many(rows, {"duplicate": "ignore"})) == (
        "id,name",
        b"\tinsert\t2\t2\t1\ta\t2\tb\telse\tignore\n",
    )


def test_an_upsert(index):
    changes = {"visits": Assign.add(1)}
    assert sent(index.upsert({"id": 1, "visits": 1}, changes, {})) == (
        "id,visits",
        b"\tinsert\t1\t2\t1\t1\telse\tupdate\t1\t1\t+\t1\n",
    )
    many = index.upsert_many(
        [[1, "a"]],
        {"seen": Assign.now(), "name": Assign.inserted()},
        {"filters": [Filter("<", "age", 9)]},
    )
    assert sent(many) == (
        MINE + ",seen",
        b"\tinsert\t1\t2\t1\ta\telse\tupdate\t2\t3\tnow\t\t1\tnew\t\tF\t<\t0\t9\n",
    )
    assert many.operation.modifies
    assert many.operation.name == "upsert"
    assert many.operation.decode(b"0\t2\tunmet\t\x00", False) == [Outcome("unmet", None)]
    one = index.upsert([1], {"name": "x"}, {})
    assert one.operation.decode(b"0\t2\tupdated\t7", False) == Outcome("updated", 7)


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.insert_many([], {}),
        lambda index: index.insert_many([[1], [1, 2]], {}),
        lambda index: index.insert_many([[]], {}),
        lambda index: index.insert_many([[1, 2, 3, 4]], {}),
        lambda index: index.insert_many([{"id": 1}, {"name": "a"}], {}),
        lambda index: index.insert_many([[1], {"id": 1}], {}),
        lambda index: index.insert_many([{"id": 1}, [1]], {}),
        lambda index: index.insert_many([[1]], {"duplicate": "update"}),
        lambda index: index.upsert([1], {}, {}),
        lambda index: index.upsert(
            [1], {"id": 2}, {"filters": [Filter("=", "age", 1, FilterKind.STOP)]}
        ),
        lambda index: index.upsert([1], {"id": 2}, {"filters": [Filter("=", "name", 1)]}),
        lambda index: InsertRows(1, [[1]], "ignore", [(0, 1)]).encode(),
        lambda index: InsertRows(1, [[1]], "fail", [], [Filter("=", 0, 1)]).encode(),
    ],
)
def test_what_rows_cannot_be(index, ask):
    with pytest.raises(ValueError):
        ask(index)
