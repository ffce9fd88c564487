"""Rows: from the body of a reply to named tuples, or to objects of the caller's own class."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar, get_type_hints

from .codec import Cell, decode_value
from .descriptions import Description
from .errors import DecodeError, ProtocolError
from .types import ColumnType

V_co = TypeVar("V_co", covariant=True)
R = TypeVar("R")


class NamedRow(tuple[V_co, ...]):
    """A tuple of a row's values. Each is also an attribute, by the name of its column."""

    __slots__ = ()
    _columns: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, V_co]:
        """The values by the names of their columns."""
        return dict(zip(self._columns, self, strict=True))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"Row({values})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _row_of, (self._columns, tuple(self))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> V_co: ...


#: A row of an index for which no types were named.
Row: TypeAlias = NamedRow[Cell]


@lru_cache(maxsize=1024)
def row_class(columns: tuple[str, ...]) -> type[NamedRow[Any]]:
    """The class of the rows with these columns."""
    attributes = {
        name: property(itemgetter(number))
        for number, name in enumerate(columns)
        if not (name.startswith("_") or name == "as_dict")
    }
    return type("Row", (NamedRow,), {**attributes, "__slots__": (), "_columns": columns})


def _row_of(columns: tuple[str, ...], values: tuple[Any, ...]) -> NamedRow[Any]:
    """For pickle: the class has no name under which it could be found."""
    return row_class(columns)(values)


class RowReader(Generic[R]):
    """Reads the rows of one index: what follows a reply's number of columns, if anything does."""

    def __init__(
        self,
        columns: Sequence[str],
        types: Sequence[ColumnType] | None,
        make: Callable[[Sequence[Any]], R],
    ) -> None:
        self._columns = columns
        self._width = len(columns)
        self._types = types
        self._make = make
        kinds = types or ()
        self._from_bytes = [kind.from_bytes for kind in kinds]
        #: All columns are texts, or made of texts: a row is decoded at once.
        self._of_text = bool(kinds) and all(kind.of_text for kind in kinds)
        converters = [kind.from_text for kind in kinds] if self._of_text else self._from_bytes
        #: The columns that are not as they come, with what makes them.
        self._made = [(n, convert) for n, convert in enumerate(converters) if convert is not None]
        self._some_not_null = not all(kind.nullable for kind in kinds)

    def reordered(self, columns: Sequence[str]) -> RowReader[R]:
        """Reads the same rows where their columns come in another order."""
        places = [columns.index(name) for name in self._columns]
        types = self._types and [self._types[self._columns.index(name)] for name in columns]
        make = self._make
        return RowReader(columns, types, lambda values: make([values[place] for place in places]))

    def one_of_lines(
        self, begin: bytes, otherwise: Callable[[bytes, bool], R | None]
    ) -> Callable[[bytes, bool], R | None]:
        """What reads a line of one row; `otherwise` reads any other line.

        It is the reader of most lines, so it does everything by itself.
        """
        width, skip = self._width, len(begin)
        of_text, made, convert, make = self._of_text, self._made, self._convert, self._make

        def one(line: bytes, plain: bool) -> R | None:
            if not plain or not line.startswith(begin):
                return otherwise(line, plain)
            values: list[Any]
            body = line[skip:]
            if of_text:
                try:
                    values = body.decode().split("\t")
                except UnicodeDecodeError:
                    return otherwise(line, plain)
            else:
                values = body.split(b"\t")
            if len(values) != width:
                return otherwise(line, plain)
            try:
                if made:
                    convert(values)
                return make(values)
            except Exception as error:
                raise_as_decode_error(error)

        return one

    def rows(self, body: bytes, plain: bool) -> list[R]:
        """All rows. Raises ProtocolError if the values are no whole rows."""
        width, make = self._width, self._make
        tokens = body.split(b"\t")
        if not width or len(tokens) % width:
            raise ProtocolError(f"{len(tokens)} values in rows of {width}", sent=True)
        starts = range(0, len(tokens), width)
        if not plain:
            values = [decode_value(token) for token in tokens]
            return [self.row(values[start : start + width]) for start in starts]
        texts: list[Any] = tokens
        if self._of_text:
            try:
                texts = str(body, "utf-8").split("\t")
            except UnicodeDecodeError:
                return [self.row(tokens[start : start + width]) for start in starts]
        cut = [texts[start : start + width] for start in starts]
        try:
            if self._made:
                for row in cut:
                    self._convert(row)
            return [make(row) for row in cut]
        except Exception as error:
            raise_as_decode_error(error)

    def row(self, values: Sequence[Cell]) -> R:
        """One row of values that are decoded, some of them perhaps NULL."""
        if self._some_not_null:
            self._check_null(values)
        try:
            return self._make(self._converted(values) if self._types else values)
        except Exception as error:
            raise_as_decode_error(error)

    def _converted(self, values: Sequence[Cell]) -> list[Any]:
        try:
            return [
                value if convert is None or value is None else convert(value)
                for convert, value in zip(self._from_bytes, values, strict=True)
            ]
        except ValueError:
            self._refuse(self._first_that_does_not_fit(values))

    def _first_that_does_not_fit(self, values: Sequence[Cell]) -> int:
        for number, (convert, value) in enumerate(zip(self._from_bytes, values, strict=True)):
            if convert is not None and value is not None:
                try:
                    convert(value)
                except ValueError:
                    return number
        raise DecodeError(_NO_FIT, sent=True) from None

    def _convert(self, values: list[Any]) -> None:
        """Makes what the caller wants of a row that has no NULL."""
        number = 0
        try:
            for number, convert in self._made:
                values[number] = convert(values[number])
        except ValueError:
            self._refuse(number)

    def _refuse(self, number: int) -> NoReturn:
        """Says which column it was, and not the value: that may be anybody's secret."""
        assert self._types is not None
        wanted = self._types[number].wanted
        kind = getattr(wanted, "__name__", wanted)
        text = f"a value of the column {self._columns[number]!r} is no {kind}"
        # Not `from` the other error, which shows the value.
        raise DecodeError(text, sent=True) from None

    def _check_null(self, values: Sequence[Any]) -> None:
        assert self._types is not None
        for name, kind, value in zip(self._columns, self._types, values, strict=True):
            if value is None and not kind.nullable:
                raise DecodeError(f"a value of the column {name!r} is NULL", sent=True)


_NO_FIT = "the values do not fit the row's class"


def raise_as_decode_error(error: Exception) -> NoReturn:
    """What the caller's own code has thrown ends its own call, and is the cause of its error.

    A ValueError is no cause: its text is likely to show the value.
    """
    if isinstance(error, DecodeError):
        raise error
    if isinstance(error, ValueError):
        raise DecodeError(_NO_FIT, sent=True) from None
    text = f"the code that makes a row has failed: {type(error).__name__}"
    raise DecodeError(text, sent=True) from error


def reader_for(
    columns: Sequence[str] | Mapping[str, Any] | type[R] | Description,
) -> tuple[tuple[str, ...], RowReader[Any]]:
    """The names of the columns, and what reads their rows.

    Names alone give rows of bytes; with a type for each, rows of these types; a dataclass or a
    NamedTuple gives its own objects, by the names and types of its fields; a description gives rows
    of the types that the columns have.
    """
    if isinstance(columns, type):
        return _reader_of_class(columns)
    if isinstance(columns, Description):
        types = [column.python_type for column in columns.columns]
        return _reader_of_types([column.name or "" for column in columns.columns], types)
    if isinstance(columns, Mapping):
        return _reader_of_types(columns, columns.values())
    names = tuple(columns)
    return names, RowReader(names, None, row_class(names))


def _reader_of_types(
    columns: Iterable[str], types: Iterable[Any]
) -> tuple[tuple[str, ...], RowReader[NamedRow[Any]]]:
    names = tuple(columns)
    return names, RowReader(names, [ColumnType(each) for each in types], row_class(names))


def _reader_of_class(wanted: type[R]) -> tuple[tuple[str, ...], RowReader[R]]:
    hints = get_type_hints(wanted)
    make: Callable[[Sequence[Any]], R]
    if dataclasses.is_dataclass(wanted):
        fields = [field for field in dataclasses.fields(wanted) if field.init]
        names = tuple(field.name for field in fields)
        if any(field.kw_only for field in fields):
            make = lambda values: wanted(**dict(zip(names, values, strict=True)))  # noqa: E731
        else:
            make = lambda values: wanted(*values)  # noqa: E731
    elif issubclass(wanted, tuple) and hasattr(wanted, "_fields"):
        names = tuple(getattr(wanted, "_fields"))  # noqa: B009
        make = lambda values: wanted(*values)  # noqa: E731
    else:
        raise TypeError(f"rows are read into a dataclass or a NamedTuple, not {wanted.__name__}")
    return names, RowReader(names, [ColumnType(hints.get(name, Any)) for name in names], make)
