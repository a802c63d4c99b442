"""What launches with rules and without them say: whether the rules take effect, and what they gain.

Each launch with rules is compared with the launch by default of the same turn, so that what slows a whole turn
down cancels; how the ratios differ from turn to turn gives their interval (`hockney.records.series_of_table`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from hockney.errors import RequestError
from hockney.records.contents import Contents
from hockney.records.levels import Level, is_same_level
from hockney.records.record import Record
from hockney.records.series_of_table import intervals
from hockney.records.verification import Effect, Proof, Verdict, VerifiedCell
from hockney.records.visits import ranks_of
from hockney.runner.variants import DEFAULT
from hockney.statistics import MOST_REACH, NORMAL, TAILS, Array, standard_error, steady_median, t_reach
from hockney.tune.cells import CallTimes
from hockney.tune.rules import Method, Rule, find
from hockney.tune.trial import PROBE, TUNED, Probe, without

STATISTIC = "completion"
Point = tuple[str, int, int]


@dataclass(frozen=True)
class Ratio:
    """How many times as long as another variant one takes, with the 95 % interval; NaN where that is unknown.

    `freedom`: the degrees of freedom of its logarithm's standard error.
    """

    value: float
    low: float
    high: float
    freedom: float = math.inf

    @property
    def is_known(self) -> bool:
        """Whether enough launches tell it."""
        return not math.isnan(self.low)

    @property
    def p(self) -> float:
        """The probability of a ratio as large as this where it is in truth 1 (Student's t, one-sided)."""
        reach = math.log(self.value / self.low)
        if not reach > 0:
            return 0.0 if self.value > 1 else 1.0
        return float(stats.t.sf(math.log(self.value) / reach * t_reach(1.0, self.freedom), self.freedom))


class TrialTimes:
    """The times of a trial: each variant's at each point, one column a launch.

    None where a variant gave a wrong result. `libraries` are those that were launched, `last` is when the last
    time was taken. RequestError where times are of buffers in the caches and outside of them.
    """

    def __init__(self, contents: Contents) -> None:
        elsewhere = set(map(id, contents.settled.elsewhere))
        kept = [
            each for each in contents.settled.records if each.statistic == STATISTIC and id(each) not in elsewhere
        ]
        if len({each.cache for each in kept}) > 1:
            raise RequestError(
                f"{contents.path} has times with buffers in the caches and outside of them",
                "rules are tried in one of the two: write to another --output",
            )
        self.libraries = {each.mpi for each in kept}
        self.last = max((each.time for each in kept), default="")
        self._wrong = {(each.variant, _point_of(each)) for each in contents.records if each.verified is False}
        self.launches = 1 + max((each.repetition for each in kept), default=-1)
        self.variants = {each.variant for each in kept}
        self._times: dict[tuple[str, Point], Array] = {}
        self._levels: dict[tuple[str, Point], tuple[Level, bool]] = {}
        for record in kept:
            if (levels := contents.levels.get(ranks_of(record), ())) and (level := contents.choice(levels)):
                self._levels[record.variant, _point_of(record)] = level, len(levels) > 1
            row = self._times.setdefault((record.variant, _point_of(record)), np.full((3, self.launches), np.nan))
            low, high = (record.value if bound is None else bound for bound in (record.low, record.high))
            row[:, record.repetition] = min(low, record.value), record.value, max(high, record.value)

    def median_s(self, variant: str, point: Point) -> float | None:
        """The steady median over launches; None where nothing was timed."""
        row = self._right(variant, point)
        return None if row is None else float(steady_median(row[1:2])[0])

    def _right(self, variant: str, point: Point) -> Array | None:
        """The times of a variant at a point; None where there are none, or a result was wrong."""
        return None if (variant, point) in self._wrong else self._times.get((variant, point))

    def count(self, variant: str, point: Point) -> int:
        """The launches in which it was timed, whatever its results."""
        row = self._times.get((variant, point))
        return 0 if row is None else int(np.sum(~np.isnan(row[1])))

    def half_width(self, variant: str, point: Point) -> float:
        """Half the 95 % interval of its time over launches, relative to it; inf where launches are too few."""
        row = self._right(variant, point)
        if row is None:
            return math.inf
        known = row[:, ~np.isnan(row[1])]
        (middle,), (low,), (high,), _ = intervals(*known[:, None])
        return math.inf if math.isnan(low) else float((high - low) / 2 / middle)

    def is_apart(self, variant: str, other: str, point: Point) -> bool:
        """Whether the times of two variants are of different levels of the machine.

        Where both know one level alone what counts of their samples is compared turn by turn.
        """
        both = [self._levels.get((name, point)) for name in (variant, other)]
        known = [pair for pair in both if pair is not None]
        if len(known) < 2 or not any(is_chosen for _, is_chosen in known):
            return False
        return not is_same_level(*(level.reference_s for level, _ in known))

    def ratio(self, variant: str, other: str, point: Point) -> Ratio | None:
        """Time of `variant` over that of `other`, launch by launch.

        None where no turn has both, a result of either was wrong, or their times are of different levels of the
        machine.

        A spread of its own for each size: small messages differ from launch to launch ten times as much as large
        ones.
        """
        upper, lower = self._right(variant, point), self._right(other, point)
        if upper is None or lower is None or self.is_apart(variant, other, point):
            return None
        ratio = upper[1] / lower[1]
        turns = ~np.isnan(ratio)
        if not turns.any():
            return None
        errors = [
            standard_error(np.log(part[0].clip(min=part[1] / 100)), np.log(part[2])) for part in (upper, lower)
        ]
        within = np.exp(NORMAL * np.hypot(*errors))[turns]
        seen = ratio[turns]
        bounds = (seen / within)[None], seen[None], (seen * within)[None]
        (middle,), (low,), (high,), (freedom,) = intervals(*bounds)
        if high >= middle * math.exp(MOST_REACH):
            # `intervals` reaches no farther; what was seen lies within in any case.
            low, high = min(low, seen.min()), max(high, seen.max())
        return Ratio(float(middle), float(low), float(high), float(freedom))


def _point_of(record: Record) -> Point:
    """What is timed, without its variant."""
    return record.operation, record.ranks or 0, record.bytes


def missing(times: TrialTimes, cells: Sequence[CallTimes], variants: Sequence[str], launches: int) -> int:
    """How many times a cell was not timed, of all that a trial of so many launches asks for."""
    return sum(max(0, launches - times.count(variant, cell.place)) for cell in cells for variant in variants)


def proof(
    probe: Probe | None,
    operation: str,
    seen: Ratio | None,
    gains: Sequence[Ratio] = (),
    *,
    is_switched: bool = False,
) -> Proof:
    """Whether the rules of an operation take effect.

    `seen`: the time with the probe's rule over that by default. `gains`: those of the operation's cells under the
    rules themselves; where the probe tells nothing, one that is above 1 with Bonferroni's correction for their
    number proves as much. `is_switched`: the settings that load rules change calls without a rule, too, so that
    no gain proves the rules.
    """
    effect: Effect
    if probe is None:
        effect, why = "not proven", "no algorithm was measured whose time differs enough from the default's"
    elif seen is None or not seen.is_known:
        effect, why = "not proven", "the probe was timed in too few launches, or at another level of the machine"
    else:
        near, far = sorted(math.log(end) * (1 if probe.expected > 1 else -1) for end in (seen.low, seen.high))
        # Half of the least change, on a logarithmic scale.
        half = math.log(probe.least_change) / 2
        if near >= half:
            effect, why = "proven", "a rule for another algorithm changes the time"
            if is_switched:
                why += " as that algorithm should; the settings that load it may do so as well"
        elif near <= 0 <= far < half:
            effect, why = "none", "a rule for another algorithm does not change the time: the library ignores it"
        elif near > 0 or far < 0:
            effect, why = "not proven", "the time changes, but not as that algorithm's should"
        else:
            effect, why = "not proven", "launches differ too much"
    known = [gain for gain in gains if gain.is_known and not is_switched]
    if effect == "not proven" and (count := sum(gain.p * len(known) < TAILS[0] for gain in known)):
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        effect, why = "proven", f"{cells} faster with the rules, beyond what {len(known)} intervals may miss"
    told = Proof(operation=operation, effect=effect, why=why)
    if probe is not None:
        told.algorithm, told.expected = str(probe.algorithm), probe.expected
        told.ranks, told.bytes = probe.cell.ranks, probe.cell.bytes
    if seen is not None and seen.is_known:
        told.seen, told.seen_low, told.seen_high = seen.value, seen.low, seen.high
    return told


def seen_of(times: TrialTimes, probe: Probe) -> Ratio | None:
    """What launches with the probe showed; None where it was not timed."""
    return times.ratio(PROBE, DEFAULT, probe.cell.place)


def gains_of(times: TrialTimes, cells: Sequence[CallTimes], rules: Sequence[Rule], operation: str) -> list[Ratio]:
    """The gains of an operation's cells that have a rule, as far as they were timed."""
    ruled = [cell for cell in cells if cell.operation == operation and find(rules, *cell.place)]
    gains = (times.ratio(DEFAULT, TUNED, cell.place) for cell in ruled)
    return [gain for gain in gains if gain is not None]


def judged(
    times: TrialTimes,
    cells: Sequence[CallTimes],
    rules: Sequence[Rule],
    void: Sequence[str],
    best: str,
    *,
    whole: bool,
    complete: Callable[[Rule], Rule] = lambda rule: rule,
) -> list[VerifiedCell]:
    """What became of each cell. `void`: operations whose rules go, without effect; `best`: the variant of it.

    `whole`: the rules of an operation stay where a cell is faster and none is slower, or go for all. `complete`:
    as of the target, by which the rules were completed.
    """
    found = [_judged(times, cell, rules, void, best, complete) for cell in cells]
    if whole:
        # A call without a rule counts: the library does not choose for it as by default.
        bad = {cell.operation for cell in found if cell.verdict in ("slower", "not timed")}
        good = {cell.operation for cell in found if cell.verdict == "faster"} - bad - {*void}
        found = [
            cell.model_copy(update={"is_kept": bool(cell.algorithm) and cell.operation in good}) for cell in found
        ]
    return found


def _judged(
    times: TrialTimes,
    cell: CallTimes,
    rules: Sequence[Rule],
    void: Sequence[str],
    best: str,
    complete: Callable[[Rule], Rule],
) -> VerifiedCell:
    def completed(one: Method) -> Method:
        return complete(Rule(cell.operation, cell.ranks, cell.ranks, cell.bytes, cell.bytes, *one)).method

    point = cell.place
    gain = times.ratio(DEFAULT, TUNED, point)
    named = find(rules, *cell.place)
    algorithm = "" if named is None else str(named)
    verdict, is_kept = _verdict(gain, is_sure=any(named == completed(name) for name in cell.faster()))
    if not algorithm and verdict not in ("slower", "not timed"):
        verdict = "no rule"
    is_kept = is_kept and bool(algorithm) and cell.operation not in void
    shortest = cell.by_medians().fastest()
    fastest = DEFAULT if shortest is None else str(completed(shortest))
    regret = times.ratio(TUNED if is_kept else DEFAULT, best, point)
    if fastest == (algorithm if is_kept else DEFAULT):
        # The same algorithm: two times of it differ by noise.
        regret = Ratio(1.0, 1.0, 1.0)
    return VerifiedCell(
        operation=cell.operation,
        ranks=cell.ranks,
        bytes=cell.bytes,
        algorithm=algorithm,
        verdict=verdict,
        is_kept=is_kept,
        default_s=times.median_s(DEFAULT, point),
        tuned_s=times.median_s(TUNED, point),
        best=fastest,
        best_s=times.median_s(best, point),
        gain=None if gain is None else gain.value,
        gain_low=None if gain is None or not gain.is_known else gain.low,
        gain_high=None if gain is None or not gain.is_known else gain.high,
        regret=None if regret is None else max(0.0, regret.value - 1),
    )


def _verdict(gain: Ratio | None, *, is_sure: bool) -> tuple[Verdict, bool]:
    """What the cell comes to, and whether a rule for it stays.

    The gain must be beyond its interval here, or have been in the campaign (`is_sure`) and still be there.
    """
    if gain is None or not gain.is_known:
        return "not timed", False
    if gain.high < 1:
        return "slower", False
    return ("faster", True) if gain.low > 1 else ("not told", is_sure and gain.value > 1)


def kept(
    rules: Sequence[Rule], cells: Sequence[CallTimes], found: Sequence[VerifiedCell], *, whole: bool
) -> list[Rule]:
    """The rules without the cells that go back to the default."""
    stays = {(judgement.operation, judgement.ranks, judgement.bytes) for judgement in found if judgement.is_kept}
    gone = [cell for cell in cells if find(rules, *cell.place) and cell.place not in stays]
    return without(rules, gone, cells, whole=whole)
