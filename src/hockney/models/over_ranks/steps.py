"""Steps of time against ranks at places where there is a reason for one, from all allocations together.

A smooth curve of few coefficients is fitted around each place. Whether the curves of one algorithm jump there on
top of it is told by the ratio of two likelihoods, each curve alone and all together. A benchmark's repeats have
heavy tails: residuals are taken to follow Student's t with few degrees of freedom (Lange, Little and Taylor, J.
Am. Stat. Assoc. 84, 1989), so that a disturbed run counts for little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hockney.models.over_ranks.boundaries import EACH, Boundary
from hockney.records.record import Locality
from hockney.statistics import NORMAL, Array

FALSE_ALARMS = 0.01
"""Chance that a curve shows a step by noise: its own tests share a half, those of all together the other."""
LEAST = math.log(1.05)
"""Smaller steps are no news to a reader."""
SPAN = 4.0
"""Points count up to this factor in ranks on either side."""
LEAST_SIDE = 3
"""Points of a curve on each side of a place without which it says nothing about it."""
TAIL = 2.0
"""Degrees of freedom of Student's t that residuals follow. Repeats of a cluster have 1.5; with that, a curve
passes by too many points of a measured broadcast to see its steps."""
ROUNDS = 30
"""Of the fit: each weighs points anew by how far they lie from the curve."""
DRAWS, SUSPECTED = 400, 0.01
"""So many curves without a step are drawn for a place where one is suspected, at this chance."""
DISAGREE = 0.05
"""Chance of so different steps in curves that all have the same."""
LEAST_BEND = 6
"""Points on each side of the beginning of a package or a node with which a bend there is told from a step."""
LEAST_SCALE = 0.004
"""No residual is told apart below this: times are printed with three digits or so."""
_SINGULAR = 1e-7
"""The least singular value of columns that the points tell apart, beside the largest."""
LEAST_KNOWN = 0.1
"""Share of a step's column that the other columns must leave free, or the points cannot tell it from them."""

Why = Literal["power_of_two", "protocol", "segments"] | Locality
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

    `p_value` None: the curve has too few points there to tell. `root`: of the likelihood ratio, with the sign of
    the step; a standard normal value where there is none. `error`: of ln `ratio`, the weight of a curve.
    """

    ratio: float
    low: float
    high: float
    p_value: float | None
    root: float
    error: float


UNTOLD = Step(math.nan, math.nan, math.nan, None, math.nan, math.nan)


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


def block_changes(size_B: int, segment_B: int, limits_B: Iterable[float]) -> list[tuple[int, Why]]:
    """The last ranks P before a block of S/P bytes is cut into fewer segments, or falls below a protocol's limit.

    Of segments the last two changes, from three to two and from two to one: others are small.
    """
    below: list[tuple[float, Why]] = [(limit_B, "protocol") for limit_B in limits_B]
    below += [(count * segment_B, "segments") for count in (2, 1) if segment_B]
    return [(last, why) for least_B, why in below if (last := math.ceil(size_B / least_B) - 1) > 0]


def candidates(
    rank_counts: Iterable[float], boundaries: Sequence[Boundary] = (), changes: Iterable[tuple[int, Why]] = ()
) -> list[Candidate]:
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

    def steps_at(place: int, besides: Sequence[int]) -> dict[str, Step]:
        """What the curves that can tell say of a place."""
        told = {}
        for allocation, candidate in by_place[place].items():
            others = [by_place[other][allocation] for other in besides if allocation in by_place[other]]
            steps = [
                step(*curve, candidate, others, places[allocation])
                for curve in (curves[allocation], *(alike or {}).get(allocation, ()))
            ]
            if any(one.p_value is not None for one in steps):
                told[allocation] = together([one for one in steps if one.p_value is not None])
        return told

    alone = {place: told for place in sorted(by_place) if (told := steps_at(place, []))}
    own_tests = Counter(allocation for told in alone.values() for allocation in told)
    joint_tests = sum(len(told) > 1 for told in alone.values())

    def found_at(place: int, told: Mapping[str, Step]) -> Found | None:
        joint = together(list(told.values()))
        shown = tuple(name for name, one in told.items() if _is_told(one, FALSE_ALARMS / 2 / own_tests[name]))
        is_common = len(told) > 1 and _is_told(joint, FALSE_ALARMS / 2 / joint_tests)
        if not shown and not is_common:
            return None
        own = by_place[place].values()
        whole = Candidate(
            max(one.before for one in own),
            min(one.after for one in own),
            tuple(dict.fromkeys(word for one in own for word in one.why)),
        )
        return Found(whole, joint, {name: told.get(name, UNTOLD) for name in by_place[place]}, is_common, shown)

    taken: list[int] = []
    while left := [place for place in alone if place not in taken]:
        made = {place: found_at(place, steps_at(place, taken) if taken else alone[place]) for place in left}
        clear = {place: one for place, one in made.items() if one is not None}
        if not clear:
            break
        taken.append(min(clear, key=lambda place: clear[place].least_p))
    found = [found_at(place, steps_at(place, [other for other in taken if other != place])) for place in taken]
    first = {place: next(iter(own.values())) for place, own in by_place.items()}
    return Searched(
        sorted((one for one in found if one is not None), key=lambda one: one.candidate.before),
        [first[place] for place in alone],
        [first[place] for place in sorted(by_place) if place not in alone],
    )


def _is_told(one: Step, significance: float) -> bool:
    return one.p_value is not None and one.p_value < significance and abs(math.log(one.ratio)) >= LEAST


def _key(candidate: Candidate) -> int:
    """Candidates at one power of two are one place on all grids; a boundary is where it is."""
    if POWER in candidate.why:
        return int(2 ** ((candidate.after - 1).bit_length() - 1))
    return candidate.before


def together(known: Sequence[Step]) -> Step:
    """The common step of several curves, from those that can tell.

    Their roots are joined, each by how well its curve knows the step (Liptak 1958). Where curves differ by more
    than noise does, the common step is known less well (Birge 1932).
    """
    if len(known) < 2:
        return known[0] if known else UNTOLD
    level, error, root = np.array([(math.log(one.ratio), one.error, one.root) for one in known]).T
    weight = 1 / error**2
    common = float((weight * level).sum() / weight.sum())
    joint = float((root / error).sum() / math.sqrt(weight.sum()))
    excess, freedom = float((weight * (level - common) ** 2).sum()), len(known) - 1
    birge = math.sqrt(excess / freedom) if special.chdtrc(freedom, excess) < DISAGREE else 1.0
    return _step(common, birge / math.sqrt(weight.sum()), joint / birge)


def step(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Step:
    """The step of one curve T(P), ranks and times of shape (n,), at a place; `UNTOLD` where it cannot tell.

    `others`: places where the curve steps, too. A power of two among the `candidates` is on no side of any.
    """
    measured = _prepared(ranks, time_s, place, others, candidates)
    if measured is None:
        return UNTOLD
    at, design, target = measured
    inverse, freedom, square = _projected(design)
    coefficients = target.size - freedom
    if target.size <= 2 * coefficients or square < LEAST_KNOWN**2 * _spread(design[:, -1]):
        return UNTOLD
    fitted, scale, likelihood = _fitted(_basis(design), target[None, :])
    ratio = max(2 * float((likelihood - _fitted(_basis(design[:, :-1]), target[None, :])[2])[0]), 0.0)
    # Many coefficients on few points make the ratio too large (Bartlett 1937): by about this, or as drawn.
    excess = target.size / (target.size - 2 * coefficients)
    if special.chdtrc(1, ratio) < SUSPECTED:
        excess = _excess(tuple(at.tolist()), place, tuple(others), tuple(candidates))
    level = float((inverse @ fitted[0])[-1])
    error = math.sqrt((TAIL + 3) / (TAIL + 1) * excess / square) * float(scale[0])
    return _step(level, error, math.copysign(math.sqrt(ratio / excess), level))


@lru_cache(maxsize=4096)
def _excess(
    at: tuple[float, ...], place: Candidate, others: tuple[Candidate, ...], candidates: tuple[Candidate, ...]
) -> float:
    """The mean ratio of likelihoods of curves without a step at these ranks; of many points it is 1.

    It depends on the ranks and hardly on the curve; that of √P is taken.
    """
    ranks = np.array(at)
    design = _columns(ranks, np.sqrt(ranks), place, others, candidates)
    drawn = np.random.default_rng(1).standard_t(TAIL, (DRAWS, ranks.size))
    ratios = 2 * (_fitted(_basis(design), drawn)[2] - _fitted(_basis(design[:, :-1]), drawn)[2])
    return max(1.0, float(ratios.mean()))


def _basis(design: Array) -> Array:
    """Orthonormal columns that span those of a design, (n, p)."""
    left, singular, _ = np.linalg.svd(design / np.linalg.norm(design, axis=0), full_matrices=False)
    return np.asarray(left[:, singular > _SINGULAR * singular[0]])


def _fitted(basis: Array, targets: Array) -> tuple[Array, Array, Array]:
    """The most likely curves (m, n) for targets (m, n), scales of their residuals and ln likelihoods, (m,)."""
    missed = targets - targets @ basis @ basis.T
    scale = np.maximum(1.4826 * np.median(np.abs(missed), axis=1), LEAST_SCALE)
    for _ in range(ROUNDS):
        weight = (TAIL + 1) / (TAIL + (missed / scale[:, None]) ** 2)
        normal = np.matmul(basis.T[None] * weight[:, None, :], basis)
        curve = np.linalg.solve(normal, (weight * targets @ basis)[..., None])[..., 0] @ basis.T
        missed = targets - curve
        weight = (TAIL + 1) / (TAIL + (missed / scale[:, None]) ** 2)
        scale = np.maximum(np.sqrt((weight * missed**2).mean(axis=1)), LEAST_SCALE)
    likelihood = -(TAIL + 1) / 2 * np.log1p((missed / scale[:, None]) ** 2 / TAIL).sum(axis=1)
    return curve, scale, likelihood - targets.shape[1] * np.log(scale)


def simulated_step(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> float:
    """The ratio that a curve without noise has at a place by the same definition; NaN where it cannot tell."""
    measured = _prepared(ranks, time_s, place, others, candidates)
    if measured is None:
        return math.nan
    _, design, target = measured
    return math.exp(float((_projected(design)[0] @ target)[-1]))


def _prepared(
    ranks: Array, time_s: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> tuple[Array, Array, Array] | None:
    """The ranks near a place, `_columns` and ln T there; None where points on a side are too few."""
    near = (ranks >= place.before / SPAN) & (ranks <= place.after * SPAN)
    at, time = ranks[near], time_s[near]
    ordinary = ~np.isin(at, _powers(place, candidates))
    if min((side & ordinary).sum() for side in _sides(at, place)) < LEAST_SIDE:
        return None
    shape = _smooth(_curve(at), time)
    return at, _columns(at, shape, place, others, candidates), np.log(time / shape)


def _powers(place: Candidate, candidates: Sequence[Candidate]) -> list[int]:
    return [2 ** ((one.after - 1).bit_length() - 1) for one in {place, *candidates} if POWER in one.why]


def _curve(at: Array) -> Array:
    return np.column_stack([np.ones_like(at), at / at.max(), (at / at.max()) ** 2, np.log(at)])


def _columns(
    at: Array, shape: Array, place: Candidate, others: Sequence[Candidate], candidates: Sequence[Candidate]
) -> Array:
    """Columns of the smooth curve, of the other places and last of this one."""
    # The tangent space of curves a + bP + cP² + d log P at the best of them: a step multiplies, so that ln T is
    # fitted.
    columns = [_curve(at) / shape[:, None]]
    for other in others:
        left, right = _sides(at, other)
        if left.any() and right.any():
            columns.append(right[:, None].astype(np.float64))
    powers = _powers(place, candidates)
    columns += [(at == power)[:, None].astype(np.float64) for power in at[np.isin(at, powers)]]
    # Where a package or a node begins, each further rank costs more: the curve bends there, step or no step.
    for one in dict.fromkeys((place, *candidates)):
        left, right = _sides(at, one)
        if set(one.why) & set(EACH) and min(left.sum(), right.sum()) >= LEAST_BEND:
            columns.append((np.maximum(at - (one.before + one.after) / 2, 0.0) / at.max() / shape)[:, None])
    return np.hstack([*columns, _sides(at, place)[1][:, None].astype(np.float64)])


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
    known = singular > _SINGULAR * singular[0]
    inverse = (right[known].T / singular[known]) @ left[:, known].T / length[:, None]
    row = float(inverse[-1] @ inverse[-1])
    return inverse, design.shape[0] - int(known.sum()), 1 / row if row > 0 else 0.0


def _spread(column: Array) -> float:
    centred = column - column.mean()
    return float(centred @ centred)


def _step(level: float, error: float, root: float) -> Step:
    # The interval is that of the ratio of likelihoods, as far as that tells a step from none.
    reach = NORMAL * (abs(level / root) if abs(root) > 1 else error)
    p_value = float(2 * special.ndtr(-abs(root)))
    return Step(math.exp(level), math.exp(level - reach), math.exp(level + reach), p_value, root, error)
