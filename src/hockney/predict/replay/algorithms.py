"""Which schedule each collective call of a run takes: asked for, by rules, or as its library chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from hockney.errors import RequestError
from hockney.predict.decisions.base import LibraryDecisions, ScheduleChoice, decisions_for
from hockney.predict.points import DEFAULT
from hockney.predict.procedures import Phase, phase
from hockney.predict.replay.recorded import CollectiveCall
from hockney.schedule.catalogue import find, offered

USUAL = {
    "bcast": "binomial",
    "scatter": "binomial",
    "gather": "binomial",
    "reduce": "binomial",
    "allreduce": "recursive_doubling",
    "allgather": "ring",
    "reduce_scatter": "pairwise",
    "alltoall": "pairwise",
    "barrier": "dissemination",
}
"""What stands for a library's choice where that is not known."""

Rules = Callable[[str, int, int], ScheduleChoice | None]
"""What rules say of an operation on so many ranks with so many bytes; None: nothing."""


class ServedCall(NamedTuple):
    """How calls are done: by what runs one after another, and by which word it is measured (with its segments and
    radix; 0: none, the usual one)."""

    call: CollectiveCall
    parts: list[Phase]
    algorithm: str
    segment_B: int = 0
    radix: int = 0


@dataclass
class Algorithms:
    """Answers of one library on so many nodes; `asked`: an algorithm for all calls of an operation."""

    mpi: str
    nodes: int | None
    asked: Mapping[str, str]
    rules: Rules
    taken: dict[str, dict[str, int]] = field(default_factory=dict)
    """By operation and algorithm, how many calls."""
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.library: LibraryDecisions = decisions_for(self.mpi)

    def served(self, call: CollectiveCall) -> ServedCall:
        """What runs. RequestError for an algorithm that is asked for and does not do it."""
        if name := self.asked.get(call.operation):
            choice = self._named(call, name)
            try:
                return self._take(call, choice, _parts(choice, call), name)
            except RequestError as error:
                what = f"{name} of {call.operation} on {call.ranks} ranks"
                raise RequestError(f"{what}: {error.message}", "ask for another one") from error
        nodes = None if self.nodes is None else min(self.nodes, call.ranks)
        own = self.library.default(call.operation, call.ranks, call.bytes, nodes=nodes, element_B=call.element_B)
        by_rule = self.rules(call.operation, call.ranks, call.bytes)
        for choice in filter(None, (by_rule, own)):
            with suppress(RequestError):
                return self._take(
                    call, choice, _parts(choice, call), DEFAULT if choice is own else choice.algorithm
                )
        usual, library = USUAL[call.operation], self.mpi or "the library"
        self.remarks.append(f"{library}'s algorithm of {call.operation} is not always known: {usual} stands in")
        for name in (usual, *(one.name for one in offered(call.operation))):
            choice = ScheduleChoice(name)
            with suppress(RequestError):
                return self._take(call, choice, _parts(choice, call), DEFAULT)
        if not call.is_commutative:
            self.remarks.append(f"{call.operation} with an operator of an order of its own takes other schedules")
            return self.served(call._replace(is_commutative=True))
        raise RequestError(
            f"no schedule does {call.operation} on {call.ranks} ranks", "ask for one by --algorithm"
        )

    def _named(self, call: CollectiveCall, name: str) -> ScheduleChoice:
        """A library's name where it has one so, else a schedule of ours."""
        decisions = self.library.decisions
        if decisions is not None and name not in {one.name for one in offered(call.operation)}:
            at = {"ranks": call.ranks, "size_B": call.bytes, "element_B": call.element_B}
            found = decisions.named(call.operation, name, self.library.version, **at)
            if found is not None:
                return found
        return ScheduleChoice(find(call.operation, name).name)

    def _take(
        self, call: CollectiveCall, choice: ScheduleChoice, parts: list[Phase], measured_as: str
    ) -> ServedCall:
        of_it = self.taken.setdefault(call.operation, {})
        of_it[choice.algorithm] = of_it.get(choice.algorithm, 0) + call.calls
        if measured_as == DEFAULT:
            return ServedCall(call, parts, DEFAULT)
        return ServedCall(call, parts, measured_as, choice.segment_B or 0, choice.radix or 0)


def _parts(choice: ScheduleChoice, call: CollectiveCall) -> list[Phase]:
    """RequestError where a schedule is not there, or does not do the call."""
    return [
        phase(
            inner,
            call.ranks,
            call.element_B if inner.size_B % call.element_B == 0 else 1,
            # An order of its own must be kept to any root: some schedules keep it to the first rank alone.
            call.ranks - 1 if inner.operation == "reduce" and not call.is_commutative else 0,
            is_commutative=call.is_commutative,
        )
        for inner in choice.phases(call.operation, call.bytes)
    ]
