"""Steps of time against ranks at places where there is a reason for one, from all allocations together.

A smooth curve of few coefficients is fitted around each place; what the curves of one algorithm jump there on top
of it is tested, each curve alone and all together. The fit is robust, for a benchmark's repeats have heavy tails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hockney.models.over_ranks.boundaries import EACH, Boundary
from hockney.records.record import Locality
from hockney.statistics import Array, t_reach

FALSE_ALARMS = 0.01
"""Chance that an algorithm's curves show a step by noise, if that is normal: the tests share it."""
LEAST = math.log(1.05)
"""Smaller steps are no news to a reader."""
SPAN = 4.0
"""Points count up to this factor in ranks on either side."""
LEAST_SIDE = 3
"""Points of a curve on each side of a place without which it says nothing about it."""
FAR = 1.5
"""Deviations from the fit (by the median of absolute residuals) that a point counts for at most."""
ROUNDS = 12
"""Of the robust fit: each brings the coefficients nearer by more than half."""
LEAST_BEND = 6
"""Points on each side of the beginning of a package or a node with which a bend there is told from a step."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
LEAST_KNOWN = 0.1
"""Share of a step's column that the other columns must leave free, or the points cannot tell it from them."""

Why = Literal["power_of_two"] | Locality
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Candidate:
    """A place where a step has a reason: `before` ranks are measured, `after` is the next number of ranks.

    A power of two lies at `at` itself (`before` < `at` ≤ `after`, or `before` = `at`); a boundary lies between.
    """

    before: int
    after: int
    why: tuple[Why, ...]


@dataclass(frozen=True)
class Step:
    """How much longer an operation takes beyond a place: the ratio of levels and its 95 % interval.

    `p_value` None: the curve has too few points there to tell.
    """

    ratio: float
    low: float
    high: float
    p_value: float | None
    freedom: int


UNTOLD = Step(math.nan, math.nan, math.nan, None, 0)


@dataclass(frozen=True)
class Found:
    """A step of one algorithm: of its allocations together, and of each.

    `is_common`: they show it together; `shown_by`: those in which it can be told by itself.
    """

    candidate: Candidate
    together: Step
    each: Mapping[str, Step]
    is_common: bool
    shown_by: tuple[str, ...]

    @property
    def least_p(self) -> float:
        """The least chance that noise makes the step of one allocation, or of all together."""
        return min(one.p_value for one in (self.together, *self.each.values()) if one.p_value is not None)


@dataclass(frozen=True)
class Searched:
    """What was looked for, and what was found, in the order of ranks."""

    found: list[Found]
    tested: list[Candidate]
    untested: list[Candidate]
    """Places with too few points of every curve."""


def candidates(rank_counts: Iterable[float], boundaries: Sequence[Boundary] = ()) -> list[Candidate]:
    """Powers of two and boundaries inside the measured numbers of ranks, in order; those of one gap are one.

    At a power of two a tree gets a level deeper on its one side (⌊log₂P⌋) or its other (⌈log₂P⌉), and many
    algorithms take another way at exactly this number: where it was measured, it belongs to neither side.
    """
    counts = sorted({int(count) for count in rank_counts})
    why: dict[tuple[int, int], list[Why]] = {}
    for boundary in boundaries:
        why.setdefault((boundary.before, boundary.after), []).append(boundary.level)
    for exponent in range(1, max(counts, default=1).bit_length()):
        power = 2**exponent
        below = [count for count in counts if count <= power]
        above = [count for count in counts if count > power]
        if not below or not above or (below[-1] == power and len(below) < 2):
            continue
        why.setdefault((below[-1], above[0]), []).insert(0, POWER)
    return [Candidate(*gap, tuple(dict.fromkeys(words))) for gap, words in sorted(why.items())]


POWER: Literal["power_of_two"] = "power_of_two"


def search(
    curves: Mapping[str, tuple[Array, Array]],
    places: Mapping[str, Sequence[Candidate]],
    alike: Mapping[str, Sequence[tuple[Array, Array]]] | None = None,
) -> Searched:
    """Steps of one algorithm; `curves`: allocation → ranks and times, shape (n,); `places`: its candidates.

    `alike`: allocation → further curves whose steps are the same, as those of hardly larger messages are.

    Candidates of several allocations that lie at the same place are tested together, too. The clearest step is
    taken first, and the others are looked for beside it, until none is left; what is then no longer told is
    dropped.
    """
    by_place: dict[int, dict[str, Candidate]] = {}
    for allocation, own in places.items():
        for candidate in own:
            by_place.setdefault(_key(candidate), {})[allocation] = candidate
    tests = sum(len(own) + (len(own) > 1) for own in by_place.values())
    significance = FALSE_ALARMS / max(tests, 1)

    def steps_at(place: int, besides: Sequence[int]) -> Found | None:
        each = {}
        for allocation, candidate in by_place[place].items():
            others = [by_place[other][allocation] for other in besides if allocation in by_place[other]]
            steps = [
                step(*curve, candidate, others, places[allocation])
                for curve in (curves[allocation], *(alike or {}).get(allocation, ()))
            ]
            told = [one for one in steps if one.p_value is not None]
            each[allocation] = together(told) if told else UNTOLD
        known = [one for one in each.values() if one.p_value is not None]
        if not known:
            return None
        own = by_place[place].values()
        whole = Candidate(
            max(one.before for one in own),
            min(one.after for one in own),
            tuple(dict.fromkeys(word for one in own for word in one.why)),
        )
        joint = together(known)
        shown = tuple(name for name, one in each.items() if _is_told(one, significance))
        return Found(whole, joint, each, len(known) > 1 and _is_told(joint, significance), shown)

    taken: list[int] = []
    while True:
        made = {place: steps_at(place, taken) for place in by_place if place not in taken}
        told = {place: one for place, one in made.items() if one is not None and (one.is_common or one.shown_by)}
        if not told:
            break
        taken.append(min(told, key=lambda place: told[place].least_p))
    found = [steps_at(place, [other for other in taken if other != place]) for place in sorted(taken)]
    testable = [place for place in sorted(by_place) if steps_at(place, []) is not None]
    first = {place: next(iter(own.values())) for place, own in by_place.items()}
    return Searched(
        [one for one in found if one is not None and (one.is_common or one.shown_by)],
        [first[place] for place in testable],
        [first[place] for place in sorted(by_place) if place not in testable],
    )


def _is_told(one: Step, significance: float) -> bool:
    return one.p_value is not None and one.p_value < significance and abs(math.log(one.ratio)) >= LEAST


def _key(candidate: Candidate) -> int:
    """Candidates at one power of two are one place on all grids; a boundary is where it is."""
    if POWER in candidate.why:
        return int(2 ** ((candidate.after - 1).bit_length() - 1))
    return candidate.before


def together(known: Sequence[Step]) -> Step:
    """The step that several curves have in common, each by its precision."""
    if len(known) == 1:
        return known[0]
    level = np.log([one.ratio for one in known])
    error = np.array([(math.log(one.high) - math.log(one.low)) / 2 / t_reach(1.0, one.freedom) for one in known])
    weight = 1 / error**2
    common, freedom = float((weight * level).sum() / weight.sum()), sum(one.freedom for one in known)
    # Curves that disagree by more than their errors say know the common step less well (Birge 1932).
    excess = float((weight * (level - common) ** 2).sum()) / (len(known) - 1)
    return _step(common, math.sqrt(max(excess, 1.0) / float(weight.sum())), freedom)


def step(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Step:
    """The step of one curve T(P), ranks and times of shape (n,), at a place; `UNTOLD` where it cannot tell.

    `others`: places where the curve steps, too. A power of two among the `candidates` is on no side of any.
    """
    measured = _prepared(ranks, time_s, place, others, candidates)
    if measured is None:
        return UNTOLD
    design, target, fewest = measured
    inverse, freedom, square = _projected(design)
    if freedom < 1 or square < LEAST_KNOWN**2 * _spread(design[:, -1]):
        return UNTOLD
    coefficients = inverse @ target
    # Huber (1981), section 7.8: residuals count up to a few deviations; what is cut off widens the error.
    for _ in range(ROUNDS):
        missed = target - design @ coefficients
        scale = max(1.4826 * float(np.median(np.abs(missed))), LEAST_SCALE)
        scale *= math.sqrt(target.size / freedom)
        cut = np.clip(missed, -FAR * scale, FAR * scale)
        coefficients = coefficients + inverse @ cut
    kept = float(np.mean(np.abs(missed) <= FAR * scale))
    widened = 1 + (target.size - freedom) / target.size * (1 - kept) / kept
    noise = widened * math.sqrt(float(cut @ cut) / freedom) / kept
    error = math.hypot(noise, LEAST_SCALE) / math.sqrt(square)
    # The mean of few points with heavy tails errs more than the noise of all says (as with Welch's degrees).
    return _step(float(coefficients[-1]), error, min(freedom, 2 * (fewest - 1)))


def simulated_step(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> float:
    """The ratio that a curve without noise has at a place by the same definition; NaN where it cannot tell."""
    measured = _prepared(ranks, time_s, place, others, candidates)
    if measured is None:
        return math.nan
    design, target, _ = measured
    return math.exp(float((_projected(design)[0] @ target)[-1]))


def _prepared(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> tuple[Array, Array, int] | None:
    """Columns of the smooth curve, of the other places and last of this one, ln T, and the points of the side
    that has fewest, near a place; None where these are too few."""
    near = (ranks >= place.before / SPAN) & (ranks <= place.after * SPAN)
    at, time = ranks[near], time_s[near]
    is_left, is_right = _sides(at, place)
    powers = {2 ** ((one.after - 1).bit_length() - 1) for one in (place, *candidates) if POWER in one.why}
    special = np.isin(at, list(powers))
    fewest = int(min((is_left & ~special).sum(), (is_right & ~special).sum()))
    if fewest < LEAST_SIDE:
        return None
    # The tangent space of curves a + bP + cP² + d log P at the best of them: a step multiplies, so that ln T is
    # fitted.
    table = np.column_stack([np.ones_like(at), at / at.max(), (at / at.max()) ** 2, np.log(at)])
    shape = _smooth(table, time)
    columns = [table / shape[:, None]]
    for other in others:
        left, right = _sides(at, other)
        if left.any() and right.any():
            columns.append(right[:, None].astype(np.float64))
    columns += [(at == power)[:, None].astype(np.float64) for power in at[special]]
    # Where a package or a node begins, each further rank costs more: the curve bends there, step or no step.
    for one in {place, *candidates}:
        left, right = _sides(at, one)
        if set(one.why) & set(EACH) and min(left.sum(), right.sum()) >= LEAST_BEND:
            columns.append((np.maximum(at - (one.before + one.after) / 2, 0.0) / at.max() / shape)[:, None])
    return np.hstack([*columns, is_right[:, None].astype(np.float64)]), np.log(time / shape), fewest


def _sides(at: Array, place: Candidate) -> tuple[Mask, Mask]:
    return at <= place.before, at >= place.after


def _smooth(table: Array, time: Array) -> Array:
    """The curve of these columns nearest to ln `time`, kept positive."""
    relative = table / time[:, None]
    solution, *_ = np.linalg.lstsq(relative, np.ones_like(time), rcond=None)
    made = table @ solution
    return np.asarray(np.where(made > 0.2 * time, made, 0.2 * time))


def _projected(design: Array) -> tuple[Array, int, float]:
    """The pseudo-inverse, degrees of freedom, and the squared length of what others leave of the last."""
    length = np.linalg.norm(design, axis=0)
    left, singular, right = np.linalg.svd(design / length, full_matrices=False)
    known = singular > 1e-7 * singular[0]
    inverse = (right[known].T / singular[known]) @ left[:, known].T / length[:, None]
    row = float(inverse[-1] @ inverse[-1])
    return inverse, design.shape[0] - int(known.sum()), 1 / row if row > 0 else 0.0


def _spread(column: Array) -> float:
    centred = column - column.mean()
    return float(centred @ centred)


def _step(level: float, error: float, freedom: int) -> Step:
    reach = float(t_reach(error, freedom))
    p_value = float(2 * stats.t.sf(abs(level) / error, freedom))
    return Step(math.exp(level), math.exp(level - reach), math.exp(level + reach), p_value, freedom)
