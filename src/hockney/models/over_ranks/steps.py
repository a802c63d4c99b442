"""Steps of time against ranks at places where there is a reason for one, from all allocations together.

A smooth curve of few coefficients is fitted around each place. Whether the curves of one algorithm jump there on
top of it is told by the ratio of two likelihoods, with a step and without: of each curve alone, and of all with
one step that they share. A benchmark's repeats have heavy tails: residuals are taken to follow Student's t
(Lange, Little and Taylor, J. Am. Stat. Assoc. 84, 1989), so that a disturbed run counts for little. How heavy the
tails are all curves of the algorithm say together, or an allocation's own where they say clearly otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import starmap
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hockney.models.over_ranks.boundaries import EACH, Boundary
from hockney.models.over_ranks.shared_step import (
    StepFit,
    StepShape,
    basis_of,
    excess_of,
    fitted,
    information,
    likelihoods,
    projected,
    smooth,
    tails_of,
)
from hockney.records.record import Locality
from hockney.statistics import NORMAL, Array

FALSE_ALARMS = 0.01
"""Chance that a curve shows a step by noise."""
OWN_SHARE = 0.25
"""Of that chance, what the tests of a curve alone share where there are tests of several together."""
LEAST = math.log(1.05)
"""Smaller steps are no news to a reader."""
SPAN = 4.0
"""Points count up to this factor in ranks on either side."""
LEAST_SIDE = 3
"""Points of a curve on each side of a place without which it says nothing about it."""
DISAGREE = 0.01
"""Level at which steps, or tails, of curves are called different."""
LEAST_BEND = 6
"""Points on each side of the beginning of a package or a node with which a bend there is told from a step."""
LEAST_KNOWN = 0.1
"""Share of a step's column that the other columns must leave free, or the points cannot tell it from them."""

Why = Literal["power_of_two", "protocol", "segments"] | Locality
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class StepPlace:
    """A place where a step has a reason: `before` ranks are measured, `after` is the next number of ranks.

    A power of two lies at `at` itself (`before` < `at` ≤ `after`, or `before` = `at`); a boundary lies between.
    """

    before: int
    after: int
    why: tuple[Why, ...]


@dataclass(frozen=True)
class LevelStep:
    """How much longer an operation takes beyond a place: the ratio of levels and its 95 % interval.

    `p_value` None: the curve has too few points there to tell. `likelihood`: ln of that of the curves with it.
    `slope_ratio`: how much more a further rank costs beyond, where the curve breaks so (`lasting`); such a break
    without a step has no interval.
    """

    ratio: float
    low: float
    high: float
    p_value: float | None
    likelihood: float
    slope_ratio: float | None = None


UNTOLD = LevelStep(math.nan, math.nan, math.nan, None, math.nan)


@dataclass(frozen=True)
class FoundStep:
    """A step of one algorithm: of its allocations together, and of each.

    `is_common`: they show it together; `shown_by`: those in which it can be told by itself.
    """

    candidate: StepPlace
    together: LevelStep
    each: Mapping[str, LevelStep]
    is_common: bool
    shown_by: tuple[str, ...]

    @property
    def is_tested(self) -> bool:
        """Whether the test of candidates tells it, with an interval; a break elsewhere has none."""
        return self.is_common or all(not math.isnan(self.each[name].low) for name in self.shown_by)

    @property
    def least_p(self) -> float:
        """The least chance that noise makes the step of one allocation, or of all together."""
        return min(one.p_value for one in (self.together, *self.each.values()) if one.p_value is not None)


@dataclass(frozen=True)
class Searched:
    """What was looked for, and what was found, in the order of ranks."""

    found: list[FoundStep]
    untested: list[StepPlace]
    """Places with too few points of every curve."""


def block_changes(size_B: int, segment_B: int, limits_B: Iterable[float]) -> list[tuple[int, Why]]:
    """The last ranks P before a block of S/P bytes is cut into fewer segments, or falls below a protocol's limit.

    Of segments the last two changes, from three to two and from two to one: others are small.
    """
    below: list[tuple[float, Why]] = [(limit_B, "protocol") for limit_B in limits_B]
    below += [(count * segment_B, "segments") for count in (2, 1) if segment_B]
    return [(last, why) for least_B, why in below if (last := math.ceil(size_B / least_B) - 1) > 0]


def candidates(
    rank_counts: Iterable[float], boundaries: Sequence[Boundary] = (), changes: Iterable[tuple[int, Why]] = ()
) -> list[StepPlace]:
    """Powers of two, boundaries and `block_changes` inside the measured numbers of ranks, in order.

    Those of one gap are one.

    At a power of two a tree gets a level deeper on its one side (⌊log₂P⌋) or its other (⌈log₂P⌉), and many
    algorithms take another way at exactly this number: where it was measured, it belongs to neither side.
    """
    counts = sorted({int(count) for count in rank_counts})
    why: dict[tuple[int, int], list[Why]] = {}
    for boundary in boundaries:
        why.setdefault((boundary.before, boundary.after), []).append(boundary.level)
    for last, reason in changes:
        if counts and counts[0] <= last < counts[-1]:
            after = next(count for count in counts if count > last)
            why.setdefault((counts[counts.index(after) - 1], after), []).append(reason)
    for exponent in range(1, max(counts, default=1).bit_length()):
        power = 2**exponent
        below = [count for count in counts if count <= power]
        above = [count for count in counts if count > power]
        if not below or not above or (below[-1] == power and len(below) < 2):
            continue
        why.setdefault((below[-1], above[0]), []).insert(0, POWER)
    return [StepPlace(*gap, tuple(dict.fromkeys(words))) for gap, words in sorted(why.items())]


POWER: Literal["power_of_two"] = "power_of_two"


def at_candidates(
    curves: Mapping[str, tuple[Array, Array]],
    places: Mapping[str, Sequence[StepPlace]],
    alike: Mapping[str, Sequence[tuple[Array, Array]]] | None = None,
) -> Searched:
    """Steps of one algorithm; `curves`: allocation → ranks and times, shape (n,); `places`: its candidates.

    `alike`: allocation → further curves whose steps are the same, as those of hardly larger messages are.

    Candidates of several allocations that lie at the same place are tested together, too. The clearest step is
    taken first, and the others are looked for beside it, until none is left; what is then no longer told is
    dropped.
    """
    by_place: dict[int, dict[str, StepPlace]] = {}
    for allocation, own in places.items():
        for candidate in own:
            by_place.setdefault(_key(candidate), {})[allocation] = candidate

    all_of = {name: (curve, *(alike or {}).get(name, ())) for name, curve in curves.items()}

    def beside(place: int, taken: Iterable[int]) -> tuple[int, ...]:
        """Those places that lie among the points that count at a place: only they change what is found there."""
        own = by_place[place]
        pairs = {n: [(own[name], one) for name, one in by_place[n].items() if name in own] for n in sorted(taken)}
        return tuple(n for n, both in pairs.items() if n != place and any(starmap(_is_near, both)))

    def measured(place: int, besides: Sequence[int]) -> dict[str, list[_Curve]]:
        """The curves that can tell of a place, by allocation."""
        told = {}
        for allocation, candidate in by_place[place].items():
            others = [one for n in besides if (one := by_place[n].get(allocation)) and _is_near(candidate, one)]
            near = [_measured(*one, candidate, others, places[allocation]) for one in all_of[allocation]]
            if known := [curve for curve in near if curve is not None]:
                told[allocation] = known
        return told

    alone = {place: told for place in sorted(by_place) if (told := measured(place, []))}
    own_tests = Counter(allocation for told in alone.values() for allocation in told)
    joint_tests = sum(len(told) > 1 for told in alone.values())
    of_own = FALSE_ALARMS * (OWN_SHARE if joint_tests else 1)
    every_of = {name: [one for told in alone.values() for one in told.get(name, ())] for name in own_tests}
    points = {name: sum(ranks.size for ranks, _ in all_of[name]) for name in every_of}
    by_tail = {name: likelihoods(own, [c.target for c in own], points[name]) for name, own in every_of.items()}
    tails = tails_of(by_tail, DISAGREE)

    @cache
    def found_at(place: int, besides: tuple[int, ...]) -> FoundStep | None:
        # Beside steps that were taken no curve may be left that can tell.
        if not (told := measured(place, besides) if besides else alone[place]):
            return None
        allowed = {name: of_own / own_tests[name] for name in told}
        every = [curve for own in told.values() for curve in own]
        of_each = np.array([tails[name] for name, own in told.items() for _ in own])
        of_group = [group for group, own in enumerate(told.values()) for _ in own]
        targets = [curve.target[None] for curve in every]
        both = [fitted(every, targets, of_each[:, None], step) for step in ("none", of_group)]
        each = {}
        for n, (name, own) in enumerate(told.items()):
            pair = [fit.of(of_group, n) for fit in both]
            each[name] = _tested(own, pair, np.full(len(own), tails[name]), allowed[name])
        shown = tuple(name for name, one in each.items() if _is_told(one, allowed[name]))
        joint, is_common = next(iter(each.values()), UNTOLD), False
        if len(each) > 1:
            of_joint = (FALSE_ALARMS - of_own) / joint_tests
            fits = both[0], fitted(every, targets, of_each[:, None], "shared")
            joint = _tested(every, fits, of_each, of_joint, list(each.values()))
            is_common = _is_told(joint, of_joint)
        if not shown and not is_common:
            return None
        at = by_place[place]
        whole = StepPlace(
            max(candidate.before for candidate in at.values()),
            min(candidate.after for candidate in at.values()),
            tuple(dict.fromkeys(word for candidate in at.values() for word in candidate.why)),
        )
        return FoundStep(whole, joint, {name: each.get(name, UNTOLD) for name in at}, is_common, shown)

    taken: list[int] = []
    while left := [place for place in alone if place not in taken]:
        clear = {place: one for place in left if (one := found_at(place, beside(place, taken))) is not None}
        if not clear:
            break
        taken.append(min(clear, key=lambda place: clear[place].least_p))
    steps = filter(None, (found_at(place, beside(place, taken)) for place in taken))
    first = {place: next(iter(own.values())) for place, own in by_place.items()}
    untested = [first[place] for place in sorted(by_place) if place not in alone]
    by_ranks = sorted(steps, key=lambda step: step.candidate.before)
    return Searched(by_ranks, untested)


def _is_near(place: StepPlace, other: StepPlace) -> bool:
    """Whether some of the points that count at a place may lie on either side of the other."""
    return place.before / SPAN <= other.before and other.after <= place.after * SPAN


def _is_told(one: LevelStep, significance: float) -> bool:
    return one.p_value is not None and one.p_value < significance and abs(math.log(one.ratio)) >= LEAST


def _key(candidate: StepPlace) -> int:
    """Candidates at one power of two are one place on all grids; a boundary is where it is."""
    if POWER in candidate.why:
        return int(2 ** ((candidate.after - 1).bit_length() - 1))
    return candidate.before


@dataclass(frozen=True)
class _Curve(StepShape):
    """A curve near a place: `target`, n residuals of ln T from a smooth curve, and what may make them up.

    `square`: the squared length of what the basis leaves of the column. `columns`: those of a curve √P at these
    ranks, to draw others like it: many curves have the same ones.
    """

    target: Array
    square: float
    columns: bytes


def _measured(
    ranks: Array, time_s: Array, place: StepPlace, others: Sequence[StepPlace], candidates: Sequence[StepPlace]
) -> _Curve | None:
    """One curve T(P), ranks and times of shape (n,), near a place; None where it cannot tell a step.

    `others`: places where the curve steps, too. A power of two among the `candidates` is on no side of any.
    """
    prepared = _prepared(ranks, time_s, place, others, candidates)
    if prepared is None:
        return None
    at, design, target = prepared
    _, freedom, square = projected(design)
    if target.size <= 2 * (target.size - freedom) or square < LEAST_KNOWN**2 * target.size * design[:, -1].var():
        return None
    columns = _columns(at, np.sqrt(at), place, others, candidates)
    return _Curve(basis_of(design[:, :-1]), design[:, -1], target, square, columns.tobytes())


def _tested(
    curves: Sequence[_Curve],
    fits: Sequence[StepFit],
    tails: Array,
    significance: float,
    apart: Sequence[LevelStep] = (),
) -> LevelStep:
    """The step that these curves share, tested for this significance: only what may be told is drawn for.

    `fits`: the curves without it, and with it. `tails`: of each curve, by `tails_of`. `apart`: steps of groups of
    them. Where these differ by more than noise does, the common one is known less well (Birge 1932).
    """
    (without,), (likelihood,) = (fit.likelihood.tolist() for fit in fits)
    ratio = max(2 * (likelihood - without), 0.0)
    # Many coefficients on few points make the ratio too large (Bartlett 1937): by about this, or as drawn.
    points = sum(curve.target.size for curve in curves)
    excess = points / (points - 2 * sum(curve.basis.shape[1] + 1 for curve in curves))
    if special.chdtrc(1, ratio) < significance:
        # Of curves at the same ranks one is drawn: more of them make it no larger.
        drawn = [(one.target.size, one.columns, tail) for one, tail in zip(curves, tails.tolist(), strict=True)]
        excess = excess_of(tuple(dict.fromkeys(drawn)))
    if len(apart) > 1:
        differing, freedom = 2 * (sum(one.likelihood for one in apart) - likelihood) / excess, len(apart) - 1
        if special.chdtrc(freedom, differing) < DISAGREE:
            excess *= differing / freedom
    squares = np.array([curve.square for curve in curves])
    precision = float(np.sum(information(tails) * squares / fits[-1].scales[:, 0] ** 2))
    level = float(fits[-1].level[0, 0])
    root = math.sqrt(ratio / excess)
    # The interval is that of the ratio of likelihoods, as far as that tells a step from none.
    reach = NORMAL * (abs(level) / root if root > 1 else math.sqrt(excess / precision))
    middle, low, high = (math.exp(level + side * reach) for side in (0, -1, 1))
    return LevelStep(middle, low, high, float(2 * special.ndtr(-root)), likelihood)


def simulated_step(
    ranks: Array, time_s: Array, place: StepPlace, others: Sequence[StepPlace], candidates: Sequence[StepPlace]
) -> float:
    """The ratio that a curve without noise has at a place by the same definition; NaN where it cannot tell."""
    measured = _prepared(ranks, time_s, place, others, candidates)
    if measured is None:
        return math.nan
    _, design, target = measured
    return math.exp(float((projected(design)[0] @ target)[-1]))


def _prepared(
    ranks: Array, time_s: Array, place: StepPlace, others: Sequence[StepPlace], candidates: Sequence[StepPlace]
) -> tuple[Array, Array, Array] | None:
    """The ranks near a place, `_columns` and ln T there; None where points on a side are too few."""
    near = counts_at(ranks, place)
    # A power of two is on no side of any place.
    near &= ~np.isin(ranks, _powers(place, candidates))
    at, time = ranks[near], time_s[near]
    if min(side.sum() for side in _sides(at, place)) < LEAST_SIDE:
        return None
    shape = smooth(_curve(at), time)
    return at, _columns(at, shape, place, others, candidates), np.log(time / shape)


def counts_at(ranks: Array, place: StepPlace) -> Mask:
    """Which points count at a place."""
    return np.asarray((ranks >= place.before / SPAN) & (ranks <= place.after * SPAN))


def _powers(place: StepPlace, candidates: Sequence[StepPlace]) -> list[int]:
    return [2 ** ((one.after - 1).bit_length() - 1) for one in {place, *candidates} if POWER in one.why]


def _curve(at: Array) -> Array:
    return np.column_stack([np.ones_like(at), at / at.max(), (at / at.max()) ** 2, np.log(at)])


def _columns(
    at: Array, shape: Array, place: StepPlace, others: Sequence[StepPlace], candidates: Sequence[StepPlace]
) -> Array:
    """Columns of the smooth curve, of the other places and last of this one."""
    # The tangent space of curves a + bP + cP² + d log P at the best of them: a step multiplies, so that ln T is
    # fitted.
    columns = [_curve(at) / shape[:, None]]
    for other in others:
        left, right = _sides(at, other)
        if left.any() and right.any():
            columns.append(right[:, None].astype(np.float64))
    # Where a package or a node begins, each further rank costs more: the curve bends there, step or no step.
    for one in dict.fromkeys((place, *candidates)):
        left, right = _sides(at, one)
        if set(one.why) & set(EACH) and min(left.sum(), right.sum()) >= LEAST_BEND:
            columns.append((np.maximum(at - (one.before + one.after) / 2, 0.0) / at.max() / shape)[:, None])
    return np.hstack([*columns, _sides(at, place)[1][:, None].astype(np.float64)])


def _sides(at: Array, place: StepPlace) -> tuple[Mask, Mask]:
    return at <= place.before, at >= place.after
