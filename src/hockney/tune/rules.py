"""Rules: which algorithm a library is to take for a collective on so many ranks and for so many bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple

from hockney.records.keys import COLLECTIVES
from hockney.units import format_bytes, in_pieces, in_range

Basis = Literal["measurement", "model"]
SIZES_B = tuple(4**power for power in range(1, 12))
"""Sizes at which a model chooses where none are named: 4 B to 4 MiB."""


class Method(NamedTuple):
    """An algorithm as tables name it, with its segment size and its fan-out or radix; 0 is the library's own."""

    algorithm: str
    segment_bytes: int = 0
    radix: int = 0

    def __str__(self) -> str:
        return in_pieces(*self)


@dataclass(frozen=True)
class Rule:
    """From `least` to `most`, both included (None: without bound), ranks and bytes; the first that fits counts.

    Bytes are those of the tidy table: the whole vector for bcast, reduce and allreduce, one rank's block for the
    others. `gain`: how many times as long the default takes in its cells, their geometric mean, by `basis`; None
    where nobody says. Two rules that say the same are equal whatever they gain.
    """

    operation: str
    least_ranks: int
    most_ranks: int | None
    least_bytes: int
    most_bytes: int | None
    algorithm: str
    segment_bytes: int = 0
    radix: int = 0
    gain: float | None = field(default=None, compare=False)
    basis: Basis | None = field(default=None, compare=False)

    @property
    def method(self) -> Method:
        """The algorithm with its segments and its radix."""
        return Method(self.algorithm, self.segment_bytes, self.radix)

    def fits(self, operation: str, ranks: int, size_B: int) -> bool:
        """Whether the rule is for such a call."""
        return (
            operation == self.operation
            and self.least_ranks <= ranks <= (ranks if self.most_ranks is None else self.most_ranks)
            and self.least_bytes <= size_B <= (size_B if self.most_bytes is None else self.most_bytes)
        )

    def __str__(self) -> str:
        ranks = in_range(self.least_ranks, self.most_ranks)
        sizes = in_range(self.least_bytes, self.most_bytes, format_bytes)
        return f"{self.operation} on {ranks} ranks, {sizes}: {self.method}"


def find(rules: Iterable[Rule], operation: str, ranks: int, size_B: int) -> Method | None:
    """What the rules say of such a call; None: the library's own choice."""
    return next((rule.method for rule in rules if rule.fits(operation, ranks, size_B)), None)


def in_order(rules: Iterable[Rule]) -> list[Rule]:
    """The rules by operation, in the usual order, then ranks and bytes."""
    place = {name: number for number, name in enumerate(COLLECTIVES)}
    return sorted(rules, key=lambda rule: (place[rule.operation], rule.least_ranks, rule.least_bytes))


def by_operation(rules: Iterable[Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """The operations that have rules, each with its own, in order."""
    for operation, of_it in groupby(in_order(rules), key=lambda rule: rule.operation):
        yield operation, list(of_it)


def chained(rules: Sequence[Rule], least: str, most: str) -> list[Rule]:
    """The rules with those that say the same from where others end, by these names of their bounds, as one."""
    done: list[Rule] = []
    nowhere: dict[str, Any] = {least: 0, most: 0, "gain": None, "basis": None}
    for rule in sorted(rules, key=lambda rule: (repr(replace(rule, **nowhere)), getattr(rule, least))):
        begins, ends = getattr(rule, least), {most: getattr(rule, most)}
        last = done[-1] if done else None
        if last and getattr(last, most) == begins - 1 and replace(last, **{least: begins}, **ends) == rule:
            done[-1] = replace(last, **ends)
        else:
            done.append(rule)
    return done


def joined(rules: Sequence[Rule]) -> list[Rule]:
    """The rules with those of consecutive numbers of ranks that say the same as one."""
    return in_order(chained(rules, "least_ranks", "most_ranks"))


def by_ranks(
    rules: Sequence[Rule], least: int, is_of_each: Callable[[Rule], bool]
) -> Iterator[tuple[int, int | None, list[Rule]]]:
    """Ranges of ranks from `least` on that do not overlap (None: no end), each with its rules by bytes.

    The first that fits counts: a library that takes the first range of ranks must find all rules of its ranks
    there. `is_of_each`: whether each number of ranks of a rule needs a range of its own.
    """
    bounds = {least}
    for rule in rules:
        bounds.add(rule.least_ranks)
        if rule.most_ranks is not None:
            bounds.add(rule.most_ranks + 1)
            if is_of_each(rule):
                bounds |= set(range(rule.least_ranks, rule.most_ranks + 1))
    for first, after in pairwise([*sorted(bounds), None]):
        assert first is not None
        here = [
            rule
            for rule in rules
            if rule.least_ranks <= first <= (first if rule.most_ranks is None else rule.most_ranks)
        ]
        yield first, None if after is None else after - 1, sorted(here, key=lambda rule: rule.least_bytes)
