"""Whether measured times grow no faster than is claimed: `bcast: S + log P`, and from which P and S on they do.

Θ leaves constants open, so they are fitted, and only growth is judged. Of the times on at most P/2 ranks,

    T(P, S) = f(S)·(1 − κ/P) + h(S)·p(P) + Σ d·q(P)

is fitted, no coefficient negative and κ ≤ 1: f and h are free at each size, so that any protocol may be
followed, and κ follows a factor that stays bounded, as 2(P − 1)/P does; p are what the claim multiplies S by,
and q, with one d for all sizes, what it adds without S. The noise is what residuals differ by from those of the
next smaller and larger size: what grows too fast does so at neighbouring sizes alike. To it comes what all sizes
on one number of ranks share, by how unevenly their median grows from one number to the next. A time on P
ranks above what the fit gives there is a violation where that is more than chance (Student's t), in Holm's
correction of all times that are judged, and where so are the times of that size on all larger numbers of
ranks. A step, as where a node is full, is followed a doubling later.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy import optimize, stats

from hockney.check.cells import DEFAULT, LaunchTimes, TimedCall
from hockney.check.judge import holm
from hockney.check.study import FAMILY_ERROR, LEAST_FACTOR
from hockney.errors import RequestError
from hockney.models.collectives.expression import Order, Powers, grows
from hockney.records.keys import COLLECTIVES
from hockney.registry import did_you_mean
from hockney.statistics import MOST_REACH, Array, LeastSquares, least_squares, steady_median, t_reach

LEAST_NOISE = 0.005
"""Relative residuals below this are no less noise: medians of launches move by more from day to day."""
LEAST_RANKS = 2
"""Numbers of ranks from which constants are fitted."""
LEAST_SIZES = 4
LEAST_DIFFERENCES = 3
"""Second differences without which noise is not known."""
SATURATIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""κ, 1 for (P − 1)/P."""
ROUNDS = 3
"""Of weights by the model of the round before."""
LEAST_SHARE = 1e-3
"""The least share of a time that a model is taken to give while its weights are sought."""
_FACTOR = re.compile(r"log₂?2?\s*\(?P\)?|[SnP1]", re.IGNORECASE)
_EXAMPLE = "write for example 'bcast: S + log P' or 'allgather ring: S P + P'"

Verdict = Literal["violated", "kept", "undecided"]


@dataclass(frozen=True)
class Claim:
    """An operation by an algorithm is said to take Θ(`order`); in `order`, n are the bytes S."""

    operation: str
    algorithm: str
    order: Order

    @property
    def text(self) -> str:
        """`bcast: Θ(S + log P)`."""
        name = self.operation if self.algorithm == DEFAULT else f"{self.operation} {self.algorithm}"
        # The bytes come first, as people say it.
        products = sorted(self.order, key=lambda powers: (-powers.n, powers))
        return f"{name}: Θ({' + '.join(str(powers).replace('n', 'S') for powers in products)})"


def parse_claim(text: str) -> Claim:
    """`bcast: S + log P`; RequestError for anything else."""
    names, colon, formula = text.partition(":")
    words = names.split()
    if not colon or not 1 <= len(words) <= 2:
        raise RequestError(f"{text!r} is no claim", _EXAMPLE)
    if words[0] not in COLLECTIVES:
        hint = did_you_mean(words[0], list(COLLECTIVES))
        raise RequestError(f"unknown collective {words[0]!r}", f"{hint}known: {', '.join(COLLECTIVES)}")
    return Claim(words[0], words[1] if len(words) > 1 else DEFAULT, frozenset(map(_product, formula.split("+"))))


def _product(text: str) -> Powers:
    factors = [word.lower() for word in _FACTOR.findall(text)]
    rest = _FACTOR.sub("", text).strip(" ·*")
    counts = {name: factors.count(name.lower()) for name in ("S", "n", "P")}
    logs = sum(factor.startswith("log") for factor in factors)
    bytes_ = counts["S"] + counts["n"]
    if rest or not factors or bytes_ > 1 or logs > 1 or counts["P"] > 2:
        raise RequestError(f"{text.strip()!r} is no product of S, P and log P", _EXAMPLE)
    return next(iter(grows(n=bytes_, P=counts["P"], log=logs)))


@dataclass(frozen=True)
class ClaimFinding:
    """One size of one call: what the times on `judged_at_ranks` ranks say, None where nothing could be judged.

    Where the claim is violated, times on `fails_from_ranks` ranks and on all larger numbers are above it.
    `factor`: measured over what the claim allows there, with its 95 % interval.
    """

    call: Annotated[TimedCall, Field(exclude=True)]
    claim: str
    operation: str
    algorithm: str
    setting: dict[str, str]
    bytes: int
    most_ranks: int
    verdict: Verdict
    judged_at_ranks: int | None = None
    fails_from_ranks: int | None = None
    factor: float | None = None
    factor_low: float | None = None
    factor_high: float | None = None
    p_corrected: float | None = None
    why: str = ""


@dataclass(frozen=True)
class _Judged:
    """A time on P ranks beside what the times on at most P/2 give."""

    size_B: int
    ranks: int
    factor: float
    low: float
    high: float
    p: float


def judge_claims(
    times: LaunchTimes,
    claims: Sequence[Claim],
    *,
    family_error: float = FAMILY_ERROR,
    least_factor: float = LEAST_FACTOR,
) -> list[ClaimFinding]:
    """Every size of every call that a claim is about; RequestError where nothing of one was measured."""
    tried: list[tuple[Claim, TimedCall, dict[tuple[int, int], float], list[_Judged]]] = []
    for claim in claims:
        curves = _curves(times, claim)
        if not curves:
            known = sorted({f"{call.operation} {call.algorithm}" for call in times.curves if call.ranks})
            raise RequestError(
                f"no {claim.operation} by {claim.algorithm} was measured",
                f"known: {', '.join(known) or 'nothing'}",
            )
        tried += [(claim, call, curve, _judged(claim, curve)) for call, curve in curves.items()]
    corrected = holm(np.array([judged.p for *_, several in tried for judged in several]))
    findings, first = [], 0
    for claim, call, curve, several in tried:
        p_of = dict(zip(map(id, several), corrected[first : first + len(several)].tolist(), strict=True))
        first += len(several)
        most = max(ranks for ranks, _ in curve)
        for size_B in sorted({size_B for _, size_B in curve}):
            verdict: Verdict = "undecided"
            finding = ClaimFinding(
                *(call, claim.text, claim.operation, claim.algorithm, call.known_setting, size_B, most, verdict),
                why="fewer numbers of ranks than the claim has terms: measure more, each double the last",
            )
            if of_size := sorted((each for each in several if each.size_B == size_B), key=attrgetter("ranks")):
                above = [p_of[id(each)] <= family_error and each.factor > least_factor for each in of_size]
                # From the first on behind which all are above.
                begins = next((k for k in range(len(above)) if all(above[k:])), len(above))
                at = of_size[min(begins, len(of_size) - 1)]
                if begins < len(above):
                    verdict = "violated"
                elif at.high <= least_factor:
                    verdict = "kept"
                finding = replace(
                    finding,
                    verdict=verdict,
                    judged_at_ranks=at.ranks,
                    fails_from_ranks=at.ranks if verdict == "violated" else None,
                    factor=at.factor,
                    factor_low=at.low,
                    factor_high=at.high,
                    p_corrected=p_of[id(at)],
                    why="",
                )
            findings.append(finding)
    return findings


def _curves(times: LaunchTimes, claim: Claim) -> dict[TimedCall, dict[tuple[int, int], float]]:
    """Seconds by ranks and size of each call of the claim, whatever its ranks; apart where places differ."""
    middle_s = steady_median(times.time_s)
    calls = [
        call for call in times.curves if (call.operation, call.algorithm) == (claim.operation, claim.algorithm)
    ]
    calls = [call for call in calls if call.ranks]
    curves: dict[TimedCall, dict[tuple[int, int], float]] = {}
    for call in calls:
        bare = replace(call, ranks=None, nodes=None, ppn=None)
        twins = [
            other
            for other in calls
            if replace(other, nodes=None, ppn=None) == replace(call, nodes=None, ppn=None)
        ]
        key = replace(bare, ppn=call.ppn) if len(twins) > 1 else bare
        curve = curves.setdefault(key, {})
        for size_B, row in times.curves[call].items():
            curve[call.ranks or 0, size_B] = float(middle_s[row])
    return curves


def _judged(claim: Claim, curve: dict[tuple[int, int], float]) -> list[_Judged]:
    at = np.array(list(curve), dtype=np.float64)
    ranks, size_B, time_s = at[:, 0], at[:, 1], np.array(list(curve.values()))
    sizes = np.unique(size_B)
    whole = _fitted(claim, ranks, size_B, time_s, sizes)
    residual = np.log(time_s / whole.at(ranks, size_B))
    noise, freedom = _noise(ranks, size_B, residual)
    alike, of_alike = _alike(ranks, residual, time_s, noise)
    found = []
    for count in np.unique(ranks) if freedom > 0 else ():
        below, here = ranks <= count / 2, ranks == count
        # A size that was not measured there has no constants.
        here &= np.isin(size_B, size_B[below])
        if np.unique(ranks[below]).size < LEAST_RANKS or not here.any():
            continue
        fit = _fitted(claim, ranks[below], size_B[below], time_s[below], sizes)
        model_s = fit.at(ranks[here], size_B[here])
        own = noise * np.hypot(1.0, np.sqrt(fit.leverage(ranks[here], size_B[here])) / model_s)
        moved_s = fit.moved_s(at[below], time_s[below], at[here])
        shared = alike * np.hypot(1.0, moved_s / model_s)
        error = np.asarray(np.hypot(own, shared))
        # The freedom of two variances that add up is Satterthwaite's (1946).
        free = error**4 / (own**4 / freedom + shared**4 / of_alike)
        off = np.log(time_s[here] / model_s)
        p = np.asarray(stats.t.sf(off / error, free))
        for row in range(off.size):
            wide = min(t_reach(float(error[row]), float(free[row])), MOST_REACH)
            factor, low, high = (math.exp(off[row] + ends * wide) for ends in (0, -1, 1))
            found.append(_Judged(int(size_B[here][row]), int(count), factor, low, high, float(p[row])))
    return found


@dataclass(frozen=True, eq=False)
class _Constants:
    """What is fitted to times: the terms of the docstring above, their coefficients, and what that rests on."""

    claim: Claim
    sizes: Array
    saturation: float
    value: Array
    support: LeastSquares
    used: NDArray[np.bool_]

    def at(self, ranks: Array, size_B: Array) -> Array:
        """Seconds, shape (n,)."""
        return _design(self.claim, ranks, size_B, self.sizes, self.saturation) @ self.value

    def leverage(self, ranks: Array, size_B: Array) -> Array:
        """The variance of `at`, in units of a relative residual's, shape (n,)."""
        return self.support.leverage(_with_slope(self, ranks, size_B)[:, self.used])

    def moved_s(self, fitted: Array, time_s: Array, asked: Array) -> Array:
        """The deviation of `at`, per relative noise that all times on one number of ranks share; shape (m,).

        `fitted` (n, 2) and `asked` (m, 2) are ranks and bytes, `time_s` (n,) what was fitted (Liang and Zeger,
        Biometrika 73, 1986).
        """
        ranks = fitted[:, 0]
        # Weights are 1 / (time · model), and a relative error is so much of the model.
        score = _with_slope(self, *fitted.T)[:, self.used] / time_s[:, None]
        sums = np.array([score[ranks == count].sum(axis=0) for count in np.unique(ranks)])
        design = _with_slope(self, *asked.T)[:, self.used]
        return np.asarray(np.linalg.norm(design @ self.support.covariance @ sums.T, axis=1))


def _with_slope(fit: _Constants, ranks: Array, size_B: Array) -> Array:
    """The design with the derivative by κ, which was fitted as well."""
    design = _design(fit.claim, ranks, size_B, fit.sizes, fit.saturation)
    slope = -(fit.value[: fit.sizes.size] * (size_B[:, None] == fit.sizes)).sum(axis=1) / ranks
    return np.column_stack([design, slope])


def _design(claim: Claim, ranks: Array, size_B: Array, sizes: Array, saturation: float) -> Array:
    """The columns: one of each size, those of each size that the claim multiplies S by, and the common ones."""
    products = sorted(claim.order)
    of_size = [1 - saturation / ranks]
    of_size += [_grown(powers, ranks) for powers in products if powers.n and (powers.P or powers.log)]
    columns = [column * (size_B == size) for column in of_size for size in sizes]
    columns += [_grown(powers, ranks) for powers in products if not powers.n]
    return np.column_stack(columns)


def _grown(powers: Powers, ranks: Array) -> Array:
    return np.asarray(ranks ** float(powers.P) * np.log2(ranks) ** powers.log)


def _fitted(claim: Claim, ranks: Array, size_B: Array, time_s: Array, sizes: Array) -> _Constants:
    """Coefficients, none negative, by residuals relative to the mean of time and model; κ from a grid."""
    found: list[tuple[float, float, Array, Array]] = []
    for saturation in SATURATIONS:
        design, weight = _design(claim, ranks, size_B, sizes, saturation), 1 / time_s
        for _ in range(ROUNDS):
            scaled = design * weight[:, None]
            length = np.linalg.norm(scaled, axis=0)
            length = np.where(length > 0, length, 1.0)
            value = optimize.nnls(scaled / length, time_s * weight, maxiter=50 * design.shape[1])[0] / length
            model_s = np.maximum(design @ value, LEAST_SHARE * time_s)
            weight = 1 / np.sqrt(time_s * model_s)
        found.append((float((np.log(time_s / model_s) ** 2).sum()), saturation, value, weight))
    _, saturation, value, weight = min(found, key=lambda each: each[0])
    bare = _Constants(claim, sizes, saturation, value, None, np.array([]))  # type: ignore[arg-type]
    used = np.append(value > 0, True)
    support = least_squares(_with_slope(bare, ranks, size_B)[:, used], time_s, weight)
    return replace(bare, support=support, used=used)


def _noise(ranks: Array, size_B: Array, residual: Array) -> tuple[float, float]:
    """The relative noise of a time and its degrees of freedom, from second differences of residuals over sizes.

    Over ranks, where there are fewer than four sizes. The median of their absolute values is worth 37 % of them.
    """
    several = np.unique(size_B).size >= LEAST_SIZES
    by, along = (ranks, size_B) if several else (size_B, ranks)
    differences = []
    for value in np.unique(by):
        here = np.flatnonzero(by == value)
        differences.append(np.diff(residual[here[np.argsort(along[here])]], 2))
    every = np.concatenate(differences)
    if every.size < LEAST_DIFFERENCES:
        return math.inf, 0.0
    # The second difference of independent values has six times their variance.
    deviation = float(np.median(np.abs(every))) / stats.norm.ppf(0.75) / math.sqrt(6)
    return max(deviation, LEAST_NOISE), 0.37 * every.size


def _alike(ranks: Array, residual: Array, time_s: Array, noise: float) -> tuple[float, float]:
    """The relative noise that times on one number of ranks share, and its degrees of freedom.

    From second differences over ranks of the median over sizes, as `_noise`, less what `noise` explains: those of
    residuals, or of times where these are smoother, as beyond a bend that no claim follows.
    """
    counts = np.unique(ranks)
    squares = []
    for value in (residual, np.log(time_s)):
        middle = np.array([np.median(value[ranks == count]) for count in counts])
        every = np.abs(np.diff(middle, 2))
        if every.size == 0:
            return 0.0, 1.0
        squares.append((float(np.median(every)) / stats.norm.ppf(0.75)) ** 2 / 6)
    # The variance of a median is π/2 times that of a mean.
    explained = noise**2 * math.pi / 2 * counts.size / ranks.size
    return math.sqrt(max(min(squares) - explained, 0.0)), 0.37 * (counts.size - 2)
