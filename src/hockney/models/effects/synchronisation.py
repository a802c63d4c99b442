"""S of LogGPS: the largest message whose sender does not wait for its receiver; what has travelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hockney.models.effects._scaffold import channel_of, expect_undamaged
from hockney.models.effects.base import Effect, Plot, effect_models
from hockney.records.effect_answers import SynchronisationAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.units import format_bytes, grouped

CERTAIN = 0.05
ARRIVED_SHARE = 0.5
STEP = 1.5
"""A limit of a protocol makes the late receive at least this much longer from one byte to the next."""
HEADER_B = 256
"""A library may count its own header against its limit; no known one has a longer header."""
SOURCE = "LogGPS: Ino, Fujimoto, Hagihara, PPoPP 2001"


@dataclass(frozen=True)
class _Size:
    """What was seen of one size with one kind of receiver, all launches together."""

    done: int
    valid: int
    simulated: bool
    receiving_s: float
    transfer_s: float

    @property
    def is_free(self) -> bool:
        return 2 * self.done > self.valid

    @property
    def is_certain(self) -> bool:
        """Whether the verdict differs from chance at the 95 % level; a simulation has none."""
        # Half a second, which whoever reads a machine file does without.
        from scipy.stats import binomtest

        return self.simulated or binomtest(self.done, self.valid).pvalue < CERTAIN

    @property
    def has_arrived(self) -> bool:
        return self.receiving_s < ARRIVED_SHARE * self.transfer_s


Sizes = Mapping[int, _Size]


@effect_models.register(
    "synchronisation",
    "The size from which a send waits for its receiver: S of LogGPS.",
    Plot(x="bytes", y="sending_s", by="receiver", title="Time of a send whose receiver is late"),
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """S_B, S_absent_B and arrived_B; RequestError where a payload was damaged or no try was valid.

    `low` and `high` of a limit are the sizes nearest to it at which a binomial test of the tries excludes chance
    at the 95 % level.
    """
    expect_undamaged(records)
    present, absent = _sizes(records, "present"), _sizes(records, "absent")
    _enter_limit(effect, "S_B", present, "the receiver in the library")
    _enter_limit(effect, "S_absent_B", absent, "the receiver computing")
    _enter_arrived(effect, present, is_far=records[0].locality == "network")
    _compare(effect, records)
    _state(effect)
    for record in sorted(records, key=lambda record: (record.parameters["receiver"], record.parameters["bytes"])):
        answer = answered(record, SynchronisationAnswer)
        effect.points.append(
            {
                "receiver": str(record.parameters["receiver"]),
                "bytes": int(record.parameters["bytes"]),
                "done": answer.done,
                "valid": answer.valid,
                "sending_s": min(answer.sending_s, default=None),
                "receiving_s": min(answer.receiving_s, default=None),
                "transfer_s": min(answer.transfers_s),
            }
        )


def _sizes(records: Sequence[EffectRecord], receiver: str) -> Sizes:
    valid = [
        (record, answer)
        for record in records
        if (answer := answered(record, SynchronisationAnswer)).valid and record.parameters["receiver"] == receiver
    ]
    return {
        size_B: _Size(
            done=sum(answer.done for _, answer in launches),
            valid=sum(answer.valid for _, answer in launches),
            simulated=all(record.about.get("simulated", False) for record, _ in launches),
            receiving_s=min(min(answer.receiving_s) for _, answer in launches),
            transfer_s=min(min(answer.transfers_s) for _, answer in launches),
        )
        for size_B, launches in sorted(grouped(valid, lambda each: int(each[0].parameters["bytes"])).items())
    }


def _last(sizes: Sizes, verdict: Callable[[_Size], bool]) -> tuple[int | None, int | None]:
    """(largest size before the first no, that first no); None where there is none."""
    last: int | None = None
    for size_B, seen in sizes.items():
        if not verdict(seen):
            return last, size_B
        last = size_B
    return last, None


def _enter_limit(effect: Effect, name: str, sizes: Sizes, where: str) -> None:
    if not sizes:
        effect.cannot_tell(f"no valid try with {where}: measure with a core for each rank", name)
        return
    last, first = _last(sizes, lambda seen: seen.is_free)
    if first is None:
        up_to = format_bytes(max(sizes))
        effect.cannot_tell(f"with {where}, no sender waited up to {up_to}: measure with a larger --largest", name)
        return
    if last is None:
        effect.notes.append(f"{name}: with {where}, every sender waits, even of an empty message")
        last = 0
    again = [size_B for size_B, seen in sizes.items() if size_B > first and seen.is_free]
    if again:
        effect.notes.append(
            f"{name}: senders waited at {first} B and did not at {', '.join(f'{size_B} B' for size_B in again)}; "
            "the lowest limit is given"
        )
    sure = [size for size, seen in sizes.items() if size <= last and seen.is_certain]
    waits = [size for size, seen in sizes.items() if size >= first and seen.is_certain and not seen.is_free]
    effect.know(name, last, "B", max(sure, default=None), max(0, min(waits) - 1) if waits else None)
    if first - last > 1:
        effect.notes.append(f"{name}: known to lie from {last} B to {first - 1} B; the bisection was cut short")


def _enter_arrived(effect: Effect, sizes: Sizes, *, is_far: bool) -> None:
    """The size up to which a late receiver finds its message there; only where the verdict is a step."""
    name = "arrived_B"
    last, first = _last(sizes, lambda seen: seen.has_arrived)
    near = "measure between nodes, where a transfer takes longer than a receive"
    settle = "measure with more launches, whose least times are clearer" if is_far else near
    if sizes and sizes[max(sizes)].is_free:
        # Not the protocol ended the search: the step may lie above.
        settle = f"no sender waited up to {format_bytes(max(sizes))}: measure with a larger --largest"
    quick = [size for size, seen in sizes.items() if first is not None and size > first and seen.has_arrived]
    if not sizes:
        why = "no valid try: measure with a core for each rank"
    elif first is None:
        why = "every message had arrived: measure with a larger --largest"
    elif quick:
        why = f"the late receive takes more than half a transfer at {first} B, and again less at {quick[0]} B: "
        why += settle
    elif last is None:
        why = (
            "the late receive takes more than half a transfer even of an empty message: nothing travels early, "
            f"or the receive itself takes that long; {settle}"
        )
    elif first - last > 1 or sizes[first].receiving_s < STEP * sizes[last].receiving_s:
        why = f"the late receive passes half a transfer near {last} B without a step: {settle}"
    else:
        effect.know(name, last, "B", last, last)
        return
    effect.cannot_tell(why, name)


def _compare(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """Compare S_B with the library's own limit: it agrees, less a header; it disagrees; or it cannot be told."""
    limits = {record.about.get("eager_limit_B", {}).get(channel_of(record)) for record in records} - {None}
    if len(limits) != 1:
        effect.notes.append("the library does not state an eager limit of its own to compare with")
        return
    limit_B = int(limits.pop())
    effect.know("library_limit_B", limit_B, "B")
    measured = effect.parameters.get("S_B")
    if measured is None:
        return
    low = 0.0 if measured.low is None else measured.low
    high = float("inf") if measured.high is None else measured.high
    least_B, most_B = max(0.0, limit_B - high), limit_B - low
    if limit_B < low or least_B > HEADER_B:
        effect.notes.append(
            f"disagrees with the library's own limit of {limit_B} B: another limit decides, or another channel"
        )
    elif high > limit_B or most_B > HEADER_B:
        effect.notes.append(
            f"undecided whether S_B is the library's own limit of {limit_B} B: its interval is too wide; measure "
            "with more launches"
        )
    else:
        header_B = limit_B - measured.value
        effect.know("header_B", header_B, "B", least_B, most_B)
        effect.notes.append(
            f"agrees with the library's own limit of {limit_B} B"
            + (f", {header_B:g} B of which are left to its header" if header_B else "")
        )


def _state(effect: Effect) -> None:
    """The four views, where the limit is known."""
    limit, absent = effect.parameters.get("S_B"), effect.parameters.get("S_absent_B")
    if limit is None:
        return
    up_to, beyond = f"n ≤ {limit.value:g} B", f"n > {limit.value:g} B"
    effect.state("asymptotic", "T_send(n) = Θ(n)", up_to)
    effect.state("asymptotic", "T_send(n) = Θ(t_late + n)", beyond)
    effect.state("dominant", "T_send(n) ≥ t_late", beyond, SOURCE)
    effect.state("bounded", "0 ≤ wait(n) ≤ t_late", "every n", SOURCE)
    if absent is None or absent.value >= limit.value:
        effect.state("exact", "wait(n) = 0", up_to, SOURCE)
    else:
        effect.state("exact", "wait(n) = 0", f"n ≤ {absent.value:g} B", SOURCE)
        effect.state(
            "exact",
            "wait(n) = time until the receiver next enters the library",
            f"{absent.value:g} B < {up_to}",
            mathematics=r"t_{wait}(n) = t_{away}",
        )
    effect.state("exact", "wait(n) = t_late", beyond, SOURCE)
