"""A recorded run in one surrounding: the schedules of its calls, how fast it computes, where its ranks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hockney._core import Replay
from hockney.predict.costs import Costs
from hockney.predict.options import MessageCosts
from hockney.predict.replay.algorithms import Algorithms, Rules
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

    @cached_property
    def algorithms(self) -> Algorithms:
        """What serves the calls; `taken` says how many each, once the run was played."""
        return Algorithms(self.run.trace.mpi, self.around.node, self.asked, self.rules)

    @cached_property
    def replay(self) -> Replay:
        """RequestError where an algorithm that is asked for does not do a call."""
        return Replay(
            self.run.trace,
            [self.algorithms.parts(call) for call in self.run.calls],
            uses_cpu=self.run.trace.has_cpu,
            site_factor=self.site_factor,
            rank_factor=self.rank_factor,
        )

    def with_algorithm(self, operation: str, name: str) -> ReplayCase:
        """The same with one algorithm for all calls of an operation."""
        return replace(self, asked={**self.asked, operation: name})

    def with_ranks(self, rank_factor: Sequence[float]) -> ReplayCase:
        """The same where each rank computes so many times as long."""
        return replace(self, rank_factor=rank_factor)

    def curves(self, end: int | None = None) -> Costs | None:
        """Of each locality; with `end` where all messages take that end of their intervals, None without any."""
        costs = self.around.costs if end is None else self.around.costs.at_end(end)
        return None if costs is None else self.around.curves(costs)

    def run_s(self, curves: Costs) -> float:
        """Until the last rank is through."""
        return float(self.around.play(self.replay, curves, traced=False).finish_s.max())

    def played(self, window: tuple[float, float, int] = (0.0, 0.0, 0)) -> tuple[Played, Costs]:
        """With its critical path, and the moments of a window: from and until (s), and how many at most."""
        curves = self.around.curves()
        return Played.of(self.around.play(self.replay, curves, window=window), curves), curves
