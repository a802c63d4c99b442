"""A recorded run in one surrounding: the schedules of its calls, how fast it computes, where its ranks are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hockney._core import Replay
from hockney.predict.costs import Costs
from hockney.predict.options import MessageCosts
from hockney.predict.replay.algorithms import Algorithms, Rules, ServedCall
from hockney.predict.replay.measured import MeasuredCalls, measured_calls
from hockney.predict.replay.recorded import RecordedRun
from hockney.predict.replay.run import Played, ReplaySetting


@dataclass(frozen=True)
class ReplayCase:
    """`site_factor` of computing before each call site, `rank_factor` of each rank's (empty: 1)."""

    place: MessageCosts
    run: RecordedRun
    around: ReplaySetting
    rules: Rules
    asked: Mapping[str, str]
    site_factor: Sequence[float] = ()
    rank_factor: Sequence[float] = ()
    end: int | None = None
    """Of the intervals of what was measured: see `at_end`."""
    is_corrected: bool = True
    """Whether calls take their measured times where there are any: what of it each message has is not known."""

    @cached_property
    def algorithms(self) -> Algorithms:
        """What serves the calls; `taken` says how many each, once the run was played."""
        return Algorithms(self.run.trace.mpi, self.around.node, self.asked, self.rules)

    @cached_property
    def served(self) -> list[ServedCall]:
        """Of each call. RequestError as `replay`."""
        return [self.algorithms.served(call) for call in self.run.calls]

    @cached_property
    def measured(self) -> MeasuredCalls:
        """What is known of them as a whole."""
        if not self.is_corrected:
            return MeasuredCalls()
        return measured_calls(self.place, self.run.trace.mpi, self.around, self.served, self.end)

    @cached_property
    def replay(self) -> Replay:
        """RequestError where an algorithm that is asked for does not do a call."""
        return Replay(
            self.run.trace,
            [served.parts for served in self.served],
            uses_cpu=self.run.trace.has_cpu,
            site_factor=self.site_factor,
            rank_factor=self.rank_factor,
            call_factor=self.measured.factors,
        )

    def uncorrected(self) -> ReplayCase:
        """The same by its messages alone, itself where nothing corrects them."""
        return replace(self, is_corrected=False) if set(self.measured.factors) - {1.0} else self

    def with_algorithm(self, operation: str, name: str) -> ReplayCase:
        """The same with one algorithm for all calls of an operation."""
        return replace(self, asked={**self.asked, operation: name})

    def with_ranks(self, rank_factor: Sequence[float]) -> ReplayCase:
        """The same where each rank computes so many times as long."""
        return replace(self, rank_factor=rank_factor)

    def at_end(self, end: int | None) -> ReplayCase | None:
        """The same where all that was measured takes the low (0) or high (1) end of its interval; None where
        messages have none."""
        if end is None:
            return self
        costs = self.around.costs.at_end(end)
        return None if costs is None else replace(self, around=replace(self.around, costs=costs), end=end)

    def run_s(self, changes: Callable[[Costs], Costs] = lambda costs: costs) -> float:
        """Until the last rank is through, with changes of the costs."""
        curves = changes(self.around.curves())
        return float(self.around.play(self.replay, curves, traced=False).finish_s.max())

    def played(self, window: tuple[float, float, int] = (0.0, 0.0, 0)) -> tuple[Played, Costs]:
        """With its critical path, and the moments of a window: from and until (s), and how many at most."""
        curves = self.around.curves()
        return Played.of(self.around.play(self.replay, curves, window=window), curves), curves
