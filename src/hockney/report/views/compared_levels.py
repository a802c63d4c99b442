"""The levels of the machine at which two entries are compared: those that both met, where they met one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hockney.machine.file import Entry, EntryLevel, Machine, at_level
from hockney.machine.levels import at_other_level, at_reference, goes_with_reference, level_remark
from hockney.machine.select import words
from hockney.records.exponents import LARGE_B, REFERENCE_B
from hockney.records.levels import in_common, is_same_level, large_drifted, may_drift
from hockney.units import format_bytes, format_time, percent

NOTED = 0.005
"""References that differ by less are the same to a reader."""


@dataclass(frozen=True)
class ComparedLevels:
    """Two entries at the levels at which they are compared, with remarks on them.

    `apart`: both were measured on one machine, but met no level in common. `at_reference_s`: the reference to
    which the times of B were brought, that of A; None where they stand as they were measured.
    `at_large_reference_s`: the large one; None, too, where one of them has none, or they are too far apart.
    """

    a: Entry
    b: Entry
    remarks: tuple[str, ...] = ()
    apart: bool = False
    at_reference_s: float | None = None
    at_large_reference_s: float | None = None

    @property
    def levels(self) -> tuple[EntryLevel | None, EntryLevel | None]:
        """At which each was measured; None where it is not known, or the entry is the mixture of all."""
        return self.a.level, self.b.level


def is_one_machine(a: Machine, b: Machine) -> bool:
    """Whether both files are of the same system and of hosts in common, as far as they say."""
    hosts = [{host.host for host in machine.system.hosts} for machine in (a, b)]
    return a.system.name == b.system.name and (not all(hosts) or bool(hosts[0] & hosts[1]))


def levels_to_compare(a: Entry, b: Entry, *, on_one_machine: bool) -> ComparedLevels:
    """The entries at their own levels if these are the same, otherwise at others that are, with models.

    Of several such pairs of levels the one counts whose smaller share of the time is the largest; without any
    those between which the machine may drift. Entries of other ranks, libraries or settings stay
    at their own levels: their references differ by nature.
    """
    remarks = tuple(f"{side} {remark}" for side, entry in (("A", a), ("B", b)) if (remark := level_remark(entry)))
    own = ComparedLevels(a, b, remarks)
    if a.level is None or b.level is None or not on_one_machine or words(a) != words(b):
        return own
    if is_same_level(a.level.reference_s, b.level.reference_s):
        return _at_one_reference(own)
    pair = in_common(((of_a, of_b) for of_a in _at_levels(a) for of_b in _at_levels(b)), _level)
    if pair is None:
        return replace(own, apart=True)
    there_a, there_b = pair
    if there_a is a and there_b is b:
        return _at_one_reference(own)
    remark = f"{_called('A', a, there_a)}, compared with {_called('B', b, there_b)}"
    return _at_one_reference(ComparedLevels(there_a, there_b, (remark,)))


def _at_one_reference(compared: ComparedLevels) -> ComparedLevels:
    """The entries at the reference of A: within a level the machine drifts, and times go with the reference."""
    of_a, of_b = compared.levels
    if of_a is None or of_b is None or not (goes_with_reference(compared.a) and goes_with_reference(compared.b)):
        return compared  # older files do not say how times go with it
    large_s = a_large_s, b_large_s = of_a.large_reference_s, of_b.large_reference_s
    there_s = of_a.reference_s, a_large_s if large_drifted(*large_s) else None
    a, b = (at_reference(entry, *there_s) for entry in (compared.a, compared.b))
    remarks = [_remark(REFERENCE_B, "", of_a.reference_s, of_b.reference_s)]
    if a_large_s is not None and b_large_s is not None:
        remarks.append(_remark(LARGE_B, " and more", a_large_s, b_large_s))
    return replace(
        compared,
        a=a,
        b=b,
        remarks=(*compared.remarks, *filter(None, remarks)),
        at_reference_s=there_s[0],
        at_large_reference_s=there_s[1],
    )


def _remark(size_B: int, and_more: str, a_s: float, b_s: float) -> str:
    """What is said of the references of A and B, messages of that size; "" where they are alike."""
    off, size = b_s / a_s - 1, format_bytes(size_B)
    if abs(off) < NOTED:
        return ""
    how = "longer" if off > 0 else "shorter"
    sides = f"the reference of {size} is {percent(abs(off))} {how} in B ({format_time(b_s)})"
    if not may_drift(a_s, b_s):
        return f"{sides} than in A ({format_time(a_s)}), too far for a drift: times are not brought to it"
    return (
        f"{sides}, and times are compared at that of A ({format_time(a_s)}): messages of {size}{and_more} differ "
        "so because of the machine, or of the library"
    )


def stands_elsewhere(entry: Entry) -> bool:
    """Whether models of the entry rest on points that were never met at its level."""
    return any(point.elsewhere for point in at_level(entry.measurements.points))


def _at_levels(entry: Entry) -> list[Entry]:
    """The entry at its own level, and at each of the others that has models."""
    others = [other for other in entry.other_levels if other.level is not None and other.fits]
    return [entry, *(at_other_level(entry, other) for other in others)]


def _level(entry: Entry) -> tuple[float, float]:
    """The reference (s) of an entry's level, and its share."""
    assert entry.level is not None
    return entry.level.reference_s, entry.level.share


def _share(entry: Entry) -> float:
    return entry.level.share if entry.level is not None else 0.0


def _called(side: str, entry: Entry, there: Entry) -> str:
    """`A at its level of 0.21 µs, which held 12% of the time`, or `A at its common level of 0.21 µs`."""
    assert there.level is not None
    reference = format_time(there.level.reference_s)
    if there is not entry:
        return f"{side} at its level of {reference}, which held {percent(there.level.share)} of the time"
    shares = [other.level.share for other in entry.other_levels if other.level is not None]
    kind = "common" if _share(entry) >= max(shares, default=0.0) else "quietest"
    return f"{side} at its {kind} level of {reference}"
