"""Values that nobody means, for tests of what is not trusted: numbers at the ends of their types, odd texts,
containers of them."""

from __future__ import annotations

import math
from random import Random

INTEGERS = (
    *(
        sign * 2**power + beside
        for power in (7, 8, 15, 16, 31, 32, 63, 64)
        for sign in (1, -1)
        for beside in (-1, 0)
    ),
    *(-2, -1, 0, 1, 2),
    10**400,
)
NUMBERS = (math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 1e308, -1e308, 0.1, 2.0**53 + 2)
TEXTS = (
    "",
    " ",
    "\0",
    "\n",
    "-1",
    "1e999",
    "nan",
    "../../etc/passwd",
    "<script>",
    "%s%n{0}",
    "\u202e\u0301",
    "\ud800",
    "é" * 5000,
)


def scalar(dice: Random) -> object:
    """Something that is no container."""
    kinds: tuple[tuple[object, ...], ...] = (INTEGERS, NUMBERS, TEXTS, (None, True, False, b"\xff\xfe", object()))
    return dice.choice(dice.choice(kinds))


def anything(dice: Random, depth: int = 3) -> object:
    """A scalar, or lists, tuples and dictionaries of such, nested up to `depth` deep."""
    if depth == 0 or dice.random() < 0.6:
        return scalar(dice)
    items = [anything(dice, depth - 1) for _ in range(dice.randrange(4))]
    return dice.choice((items, tuple(items), {str(place): item for place, item in enumerate(items)}))
