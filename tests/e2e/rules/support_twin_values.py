"""Values that random work puts into columns, good and bad, and the keys by which it finds rows."""

from __future__ import annotations

from collections.abc import Sequence

from support_twins import Value

IDS = [str(number) for number in range(1, 10)]
NUMBERS: Sequence[Value] = [None, "0", "1", "5", "-7", "42", "100", "2000"]
BAD_NUMBERS: Sequence[Value] = [*NUMBERS, "abc", "", "1.6", "99999999999", "5 x"]
TEXTS: Sequence[Value] = [None, "", "a", "B", "bad", "word", "ten letters long"]
OLD: Sequence[Value] = [None, "2001-02-03 04:05:06", "2010-10-10 10:10:10.123456", "2001-02-30"]
