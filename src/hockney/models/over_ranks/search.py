"""Where the times of an algorithm step or bend over ranks: every place is tried, all its curves together.

No reason is asked for: the places come from the times alone. The smooth curve below is another one with a step
than without, so that what a bent curve explains is no step. How rough a curve is its neighbouring residuals say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hockney.models.over_ranks.broken_curve import LEAST_SIDE, Break, BrokenFit, Curve
from hockney.models.over_ranks.steps import UNTOLD, FoundStep, LevelStep, StepPlace
from hockney.statistics import Array, t_reach

FALSE_ALARMS = 0.01
"""Chance that a curve shows a step by noise."""
OWN_SHARE = 0.25
"""Of that chance, what the tests of a curve alone share where there are tests of several together."""
LEAST = math.log(1.05)
"""Smaller steps are no news to a reader."""
FEWEST = 7
"""Points of a curve that tell of a step."""
DISAGREE = 0.01
"""Level at which steps of curves are called different."""
MOST_BREAKS = 8
PAIR_GAIN = 20.0
"""How much more of 2 ln likelihood two steps at once must add than the best one: then the one would hide them."""
ROUNDS = 4
"""Most rounds in which each break is placed anew beside the others."""
HELD = 0.99
"""Posterior chance that the range of a place holds it, all places being as likely before."""
SPAN = 4.0
"""Points of a simulated curve count up to this factor in ranks on either side of a step."""
NEARBY = 3
"""Neighbouring places among which a simulated curve must step inside the range of the measured one."""
LEAST_RANGE, MOST_RANGE = 3, 0.25
"""Places of a range, and share of all: a step that may be anywhere is growth, and no step."""
ROUGHEST = 0.9
OUTLYING = 3.0
"""Scales from the curve beyond which a point says nothing of its neighbours."""


def search(
    curves: Mapping[str, tuple[Array, Array]],
    alike: Mapping[str, Sequence[tuple[Array, Array]]] | None = None,
) -> list[FoundStep]:
    """Breaks of one algorithm in the order of ranks; `curves`: allocation → ranks and times, shape (n,).

    `alike`: allocation → further curves whose steps are the same, as those of hardly larger messages are. The
    clearest break is taken first, or two where one would hide the other; others are looked for beside it, all are
    placed anew, and what is then no longer told is dropped. Curves of fewer than `FEWEST` points say nothing.
    """
    every = [
        (name, Curve(*curve))
        for name, own in curves.items()
        for curve in (own, *(alike or {}).get(name, ()))
        if curve[0].size >= FEWEST
    ]
    return _Search(list(curves), [name for name, _ in every], [curve for _, curve in every]).whole()


class _Search:
    def __init__(self, allocations: Sequence[str], names: Sequence[str], curves: Sequence[Curve]) -> None:
        self._names, self._curves = names, curves
        self._groups = {name: [i for i, one in enumerate(names) if one == name] for name in allocations}
        self._ranks = np.unique(np.concatenate([curve.ranks for curve in curves])) if curves else np.zeros(0)
        self._known: dict[tuple[Break, ...], list[BrokenFit]] = {}
        self._places = [
            Break(int(before), int(after), is_bend)
            for before, after in pairwise(self._ranks)
            if any(min((c.ranks <= before).sum(), (c.ranks >= after).sum()) >= LEAST_SIDE for c in curves)
            for is_bend in (False, True)
        ]
        places = max(1, len(self._places) // 2)
        share = OWN_SHARE if len(set(names)) > 1 else 1.0
        self._of_own, self._of_joint = FALSE_ALARMS * share / places, FALSE_ALARMS * (1 - share) / places

    def whole(self) -> list[FoundStep]:
        """All breaks, each with its range."""
        if not self._places:
            return []
        breaks: list[Break] = []
        fits: Sequence[BrokenFit] = [curve.fit([]) for curve in self._curves]
        while len(breaks) < MOST_BREAKS:
            for further in self._further(breaks, fits):
                kept, kept_fits = self._lasting(*self._placed([*breaks, *further], fits))
                if len(kept) > len(breaks):
                    break
            else:
                break
            breaks, fits = kept, kept_fits
        tested = self._tested(breaks, fits)
        found = [self._found(tested[place], breaks, fits) for place in sorted(breaks)]
        widest = max(LEAST_RANGE, MOST_RANGE * self._ranks.size)
        at = self._ranks.searchsorted
        return [step for step in found if at(step.place.after) - at(step.place.before) <= widest]

    def _free(self, beside: Sequence[Break]) -> list[Break]:
        """Places with enough points between them and the breaks beside."""
        at = {place.before: np.searchsorted(self._ranks, place.before) for place in (*self._places, *beside)}
        return [
            place
            for place in self._places
            if all(abs(at[place.before] - at[other.before]) >= LEAST_SIDE for other in beside)
        ]

    def _further(self, breaks: Sequence[Break], fits: Sequence[BrokenFit]) -> list[list[Break]]:
        """Breaks to try beside others: the best one, and two before it that one would hide.

        Between two steps may lie so few points that they weigh nothing: these are found with all weights alike.
        """
        if not (places := self._free(breaks)):
            return []
        gain, pairs = self._gains(breaks, fits, places, in_pairs=True)
        best = [places[int(gain.argmax())]]
        if (hidden := self._pair(places, pairs, gain.max() + PAIR_GAIN)) is not None:
            return [hidden, best]
        alike = [replace(fit, weight=np.ones_like(fit.weight)) for fit in fits]
        gain, pairs = self._gains(breaks, alike, places, in_pairs=True)
        between = self._pair(places, pairs, gain.max() + PAIR_GAIN)
        return [best] if between is None else [best, between]

    def _pair(self, places: Sequence[Break], pairs: Array, least: float) -> list[Break] | None:
        """The two steps that add most together, if they add more than this."""
        steps = [place for place in places if not place.is_bend]
        at = self._ranks.searchsorted([place.before for place in steps])
        pairs = np.where(np.abs(np.subtract.outer(at, at)) >= LEAST_SIDE, pairs, 0.0)
        first, second = divmod(int(pairs.argmax()), len(steps))
        return [steps[first], steps[second]] if pairs[first, second] > least else None

    def _gains(
        self,
        breaks: Sequence[Break],
        fits: Sequence[BrokenFit],
        places: Sequence[Break],
        *,
        in_pairs: bool = False,
    ) -> tuple[Array, Array]:
        """What each place adds to all curves, and each two steps."""
        every = [
            curve.gains(fit, breaks, places, in_pairs=in_pairs)
            for curve, fit in zip(self._curves, fits, strict=True)
        ]
        alone, pairs = (np.sum(gains, axis=0) for gains in zip(*every, strict=True))
        return alone, pairs

    def _placed(
        self, breaks: Sequence[Break], fits: Sequence[BrokenFit]
    ) -> tuple[list[Break], Sequence[BrokenFit]]:
        """The breaks, each where it adds most beside the others."""
        placed = list(breaks)
        fits = self._fits(placed, fits)
        for _ in range(ROUNDS):
            before = list(placed)
            for n in reversed(range(len(placed))):
                beside = [*placed[:n], *placed[n + 1 :]]
                places = self._free(beside)
                best = places[int(self._gains(beside, fits, places)[0].argmax())]
                if best != placed[n]:
                    placed[n] = best
                    fits = self._fits(placed, fits)
            if placed == before:
                break
        return placed, fits

    def _lasting(self, breaks: list[Break], fits: Sequence[BrokenFit]) -> tuple[list[Break], Sequence[BrokenFit]]:
        """Those that are told beside each other, without the least clear one time after time."""
        while breaks:
            tested = self._tested(breaks, fits)
            untold = [place for place in breaks if not (tested[place].is_common or tested[place].shown_by)]
            if not untold:
                break
            breaks = [one for one in breaks if one != max(untold, key=lambda one: _least_p(tested[one]))]
            fits = self._fits(breaks, fits)
        return breaks, fits

    def _fits(self, breaks: Sequence[Break], like: Sequence[BrokenFit]) -> Sequence[BrokenFit]:
        known = self._known.setdefault(tuple(breaks), [])
        if not known:
            known += [curve.fit(breaks, one.weight) for curve, one in zip(self._curves, like, strict=True)]
        return known

    def _tested(self, breaks: Sequence[Break], fits: Sequence[BrokenFit]) -> dict[Break, FoundStep]:
        excess = roughness([fit.scaled for fit in fits])
        tested = {}
        for n, one in enumerate(breaks):
            without = self._fits([*breaks[:n], *breaks[n + 1 :]], fits)
            pulls = np.zeros(len(fits))
            for i, (curve, fit, less) in enumerate(zip(self._curves, fits, without, strict=True)):
                # Many coefficients on few points make the ratio of likelihoods too large (Bartlett 1937).
                free = max(curve.size - fit.coefficients - 1, 1) / curve.size
                gain = max(less.criterion - fit.criterion, 0.0) if fit.information[n] else 0.0
                pulls[i] = math.copysign(math.sqrt(gain * free / excess), fit.heights[n])
            freedom = np.array(
                [curve.size - fit.coefficients for curve, fit in zip(self._curves, fits, strict=True)]
            )
            heights, known = (
                np.array([getattr(fit, name)[n] for fit in fits]) for name in ("heights", "information")
            )
            tested[one] = self._judged(one, pulls, heights, known / excess, freedom)
        return tested

    def _judged(self, one: Break, pulls: Array, heights: Array, known: Array, freedom: Array) -> FoundStep:
        def is_told(step: LevelStep, chance: float) -> bool:
            is_large = one.is_bend or abs(math.log(step.ratio)) >= LEAST
            return step.p_value is not None and step.p_value < chance and is_large

        each = {
            name: _together(pulls[own], heights[own], known[own], freedom[own])
            for name, own in self._groups.items()
        }
        together = _together(pulls, heights, known, freedom)
        shown = tuple(name for name, step in each.items() if is_told(step, self._of_own))
        place = StepPlace(one.before, one.after)
        return FoundStep(place, one, together, each, is_told(together, self._of_joint), shown)

    def _found(self, step: FoundStep, breaks: Sequence[Break], fits: Sequence[BrokenFit]) -> FoundStep:
        """The same with its range; a bend has a ratio of slopes, of those curves that show it."""
        shows = [i for i, name in enumerate(self._names) if step.is_common or name in step.shown_by]
        step = replace(step, place=self._range(step.at, breaks, fits, shows))
        if not step.at.is_bend:
            return step
        bent = [_slope_ratio(self._curves[i].ranks, fits[i].curve, step.at) for i in shows]
        ratio = None if np.isnan(bent).any() else float(np.median(bent))
        together = replace(step.together, ratio=math.nan, low=math.nan, high=math.nan, slope_ratio=ratio)
        return replace(step, together=together, each=dict.fromkeys(step.each, together))

    def _range(
        self, one: Break, breaks: Sequence[Break], fits: Sequence[BrokenFit], shows: Sequence[int]
    ) -> StepPlace:
        """The shortest range of neighbouring places that hold the break."""
        beside = [other for other in breaks if other != one]
        places = [place for place in self._free(beside) if place.is_bend == one.is_bend]
        likelihood = np.sum([self._curves[i].likelihoods(fits[i], beside, places) for i in shows], axis=0)
        chance = np.exp((likelihood - likelihood.max()) / roughness([fits[i].scaled for i in shows]))
        chance = np.concatenate([[-1.0], chance / chance.sum(), [-1.0]])
        first = last = int(chance.argmax())
        while chance[first : last + 1].sum() < HELD:
            first, last = (first - 1, last) if chance[first - 1] >= chance[last + 1] else (first, last + 1)
        return StepPlace(places[first - 1].before, places[last - 1].after, first == last)


def simulated_step(ranks: Array, time_s: Array, step: FoundStep, beside: Sequence[FoundStep]) -> float:
    """The ratio that a curve without noise has at a step; 1 where its own lies outside the step's range.

    `beside`: other steps of the measured curve. NaN where it has too few points to tell, or a time is not known.
    """
    near = counts_at(ranks, step.place)
    if near.sum() < FEWEST or not np.isfinite(time_s[near]).all():
        return math.nan
    curve, others = Curve(ranks[near], time_s[near]), [step.at for step in beside if not step.at.is_bend]
    gaps = [Break(int(before), int(after)) for before, after in pairwise(curve.ranks)]
    at = [i for i, gap in enumerate(gaps) if gap.after > step.place.before and gap.before < step.place.after]
    gaps = [gap for gap in gaps[max(0, at[0] - NEARBY) : at[-1] + NEARBY + 1] if gap not in others]
    fit = curve.fit([step.at, *others])
    best = gaps[int(curve.gains(fit, others, gaps)[0].argmax())]
    is_there = best.after > step.place.before and best.before < step.place.after
    return math.exp(float(curve.fit([best, *others]).heights[0])) if is_there else 1.0


def counts_at(ranks: Array, place: StepPlace) -> NDArray[np.bool_]:
    """Which points of a simulated curve count at a place."""
    return np.asarray((ranks >= place.before / SPAN) & (ranks <= place.after * SPAN))


def roughness(scaled: Sequence[Array]) -> float:
    """By how much neighbouring residuals, in scales, that are alike make a ratio of likelihoods too large.

    Of a process that remembers ρ of its last value, (1 + ρ) / (1 − ρ) (Bayley and Hammersley, 1946).
    """
    near = [np.clip(each, -OUTLYING, OUTLYING) for each in scaled]
    together, alone = (sum(float(each[lag:] @ each[: each.size - lag]) for each in near) for lag in (1, 0))
    alike = min(max(together / alone, 0.0), ROUGHEST) if alone else 0.0
    return (1 + alike) / (1 - alike)


def _least_p(step: FoundStep) -> float:
    return min(test.p_value for test in (step.together, *step.each.values()) if test.p_value is not None)


def _together(pulls: Array, heights: Array, known: Array, free: Array) -> LevelStep:
    """The step that curves share, each with its pull (a normal deviate), its height, its information
    and degrees of freedom.

    Where they differ by more than noise does, it is known less well (Birge 1932).
    """
    if not (total := float(known.sum())):
        return UNTOLD
    height = float(known @ heights) / total
    pull = float(np.sqrt(known) @ pulls) / math.sqrt(total)
    freedom = int((known > 0).sum()) - 1
    differing = float(known @ (heights - height) ** 2)
    apart = differing / freedom if freedom and special.chdtrc(freedom, differing) < DISAGREE else 1.0
    pull /= math.sqrt(apart)
    reach = t_reach(math.sqrt(apart / total), max(float(free.sum()), 1.0))
    middle, low, high = (math.exp(height + side * reach) for side in (0, -1, 1))
    return LevelStep(middle, low, high, float(2 * special.ndtr(-abs(pull))))


def _slope_ratio(ranks: Array, ln_time: Array, one: Break) -> float:
    """How much more a further rank costs beyond a break than before it; NaN where it costs none."""
    time, at = np.exp(ln_time), int(np.searchsorted(ranks, one.after))
    before, after = (
        float(np.diff(time[s])[0] / np.diff(ranks[s])[0]) for s in (slice(at - 2, at), slice(at, at + 2))
    )
    return after / before if before > 0 and after > 0 else math.nan
