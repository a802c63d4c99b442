"""Congestion among random bisections: effective bisection bandwidth, and the bounds of equation (2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hockney.errors import RequestError
from hockney.models.base import Parameter
from hockney.models.effects._sampling import REPLICATES, Windows, bootstrapped, levels_of, windows
from hockney.models.effects._scaffold import below, per_byte, verified
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.records.record import Value
from hockney.statistics import Array
from hockney.units import counted, format_bytes, format_rate, format_time, grouped

SOURCE = "Hoefler et al. 2010, equation (2)"
EFFECTIVE = "Hoefler, Schneider, Lumsdaine, Cluster 2008"
TOGETHER = ("random", "halves", "neighbours", "topology")
"""Patterns of all ranks; the others are of one pair."""
QUANTILES = (0.05, 0.5, 0.95)
MOST_PAIRS = 0.95
"""The quantile of the pairs' congestion that stands beside the worst: one disturbed pair does not move it."""
LEAST_DRAWS = 6
SHARES = (
    *("effective_bisection_bandwidth_B_per_s", "effective_fraction"),
    *("mean_congestion", "congestion_p95", "worst_congestion"),
)
"""What random bisections tell."""
NO_CONGESTION = 1.0
"""The least congestion of the slowest pair: a pair is quicker than a pair alone only by chance."""
LEAST_VISITS = 6
"""Visits that an interval needs, besides as many that choose the pair."""


@dataclass(frozen=True)
class _Alone:
    """A pair that nothing disturbs: start-up and seconds for each byte, with their replicates."""

    alpha_s: float
    beta_s_per_B: float
    alphas_s: Array | None
    betas_s_per_B: Array | None


@dataclass(frozen=True)
class _Pairing:
    """One pairing of one launch: congestion on its first visit, (pairs,), and on later ones, (visits, pairs).

    The first visits of all pairings, by lot, make the averages. A pairing is visited again because it was the
    slowest, so that its first visit says too much of it: later visits tell how slow it is, of which one half
    tells which pair is the slowest and the other half how slow that one is.
    """

    record: EffectRecord
    first: Array
    later: Array

    @property
    def parameters(self) -> Mapping[str, Value]:
        return self.record.parameters

    @property
    def half(self) -> int:
        """How many of the later visits choose the pair; none where there are too few to divide."""
        return len(self.later) // 2 if len(self.later) >= 2 * LEAST_VISITS else 0

    @property
    def chosen(self) -> Array:
        """What each pair is chosen by, shape (pairs,)."""
        visits = (self.later[: self.half] if self.half else self.later) if self.later.size else self.first[None]
        return np.asarray(np.median(visits, axis=0))

    @property
    def slowest(self) -> Array:
        """Congestion of the slowest pair on the visits that did not choose it; on all where they are too few."""
        pair = int(np.argmax(self.chosen))
        return np.asarray(self.later[self.half :, pair] if self.later.size else self.first[[pair]])


@effect_models.register(
    "congestion",
    "What random halves of the ranks get when all communicate: effective bisection bandwidth.",
    Plot(
        x="draw", y="mean_congestion", by="pattern", title="Congestion of each pairing", log_x=False, log_y=False
    ),
    widens=True,
    least={"worst_congestion": NO_CONGESTION},
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """α and β of a pair alone, the mean and the worst congestion, effective bisection bandwidth.

    A pair's congestion is the time its bytes take beside what they take alone (start-up 2α of a window and its
    answer excepted). Intervals: 95 %, by bootstrap, of draws as wholes: pairs of one draw depend on each other.
    RequestError where no pair was measured alone.
    """
    good = verified(effect, records)
    lot = np.random.default_rng(0)
    alone = _alone(good, lot)
    visits = [record for record in good if record.parameters["pattern"] in TOGETHER]
    together = _pairings(visits, alone)
    drawn = [pairing for pairing in together if "draw" in pairing.parameters]
    ranks = max(2 * len(answered(record, StreamsAnswer).pair_s) for record in good)
    effect.parameters["alpha_s"] = bootstrapped(alone.alpha_s, alone.alphas_s, "s")
    effect.parameters["beta_s_per_B"] = bootstrapped(alone.beta_s_per_B, alone.betas_s_per_B, "s/B")
    if ranks < 4:
        why = "two ranks have one bisection, a pair alone: 4 or more ranks (one a node where there are nodes)"
        effect.cannot_tell(why, *SHARES)
    elif not drawn:
        effect.cannot_tell("no random bisection was measured: measure again, with --resume", *SHARES)
    else:
        effect.parameters |= _shares(drawn, together, alone, ranks, lot)
        effect.notes += _notes(drawn, together, effect.parameters)
    of_topology = [pairing for pairing in together if pairing.parameters["pattern"] == "topology"]
    if of_topology:
        bound = float(of_topology[0].parameters["topology_bound"])
        worst = float(np.median([np.median(pairing.slowest) for pairing in of_topology]))
        effect.know("topology_congestion", worst, "1")
        effect.know("topology_bound", bound, "1")
        effect.notes.append(
            f"worst pairing of {of_topology[0].parameters['topology']}: the slowest pair has a congestion of "
            f"{worst:.3g}, and {bound:.3g} by its links alone, shortest paths shared evenly"
        )
    size = format_bytes(int(max(record.parameters["bytes"] for record in good)))
    effect.notes.append(f"messages of {size}; streams that end early leave their share to the others")
    effect.points = [_point(record, alone) for record in visits]
    _state(effect, ranks, together, size)


def _volume_B(record: EffectRecord) -> float:
    return float(record.parameters["bytes"]) * float(record.parameters["window"])


def _alone(records: Sequence[EffectRecord], lot: np.random.Generator) -> _Alone:
    """Half a window of one empty message and its answer is α; what a window takes beyond both is its bytes'."""
    empty = [record for record in records if record.parameters["pattern"] == "empty"]
    full = [record for record in records if record.parameters["pattern"] == "alone"]
    if not empty or not full:
        raise RequestError("no pair alone was measured", "measure again, with --resume")
    window = max(_volume_B(record) for record in full)
    full = [record for record in full if _volume_B(record) == window]
    starts, volumes = _by_pair(empty), _by_pair(full)
    alpha_s = float(np.median([np.median(start.time_s) for start in starts])) / 2
    full_s = float(np.median([np.median(volume.time_s) for volume in volumes]))
    beta = _bytes_s(np.array(full_s), alpha_s) / window
    if all(of_pair.time_s.size == 1 for of_pair in (*starts, *volumes)):
        return _Alone(alpha_s, float(beta), None, None)
    # Pairs of other places differ by more than their samples do: both are drawn again.
    alphas_s = _pooled(starts, lot) / 2
    return _Alone(alpha_s, float(beta), alphas_s, _bytes_s(_pooled(volumes, lot), alpha_s) / window)


def _by_pair(records: Sequence[EffectRecord]) -> list[Windows]:
    """Each pair's visits."""
    levels = levels_of(records)
    pairs = grouped(records, lambda record: tuple(record.members))
    return [windows(of_pair, levels) for of_pair in pairs.values()]


def _pooled(pairs: Sequence[Windows], lot: np.random.Generator) -> Array:
    """Replicates of the median over pairs of each pair's median, shape (REPLICATES,)."""
    medians = np.array([of_pair.medians(lot) for of_pair in pairs])
    chosen = lot.integers(len(pairs), size=(len(pairs), REPLICATES))
    return np.asarray(np.median(np.take_along_axis(medians, chosen, axis=0), axis=0))


def _bytes_s(time_s: Array, alpha_s: float) -> Array:
    """Time of a window's bytes; a start-up as long as the window leaves half of it, so that none is negative."""
    return np.asarray(np.maximum(time_s - 2 * alpha_s, time_s / 2))


def _congestion(record: EffectRecord, alone: _Alone) -> Array:
    """The congestion of each pair, shape (pairs,)."""
    pair_s = np.asarray(answered(record, StreamsAnswer).pair_s, dtype=np.float64)
    return np.asarray(_bytes_s(pair_s, alone.alpha_s) / (alone.beta_s_per_B * _volume_B(record)))


def _pairings(visits: Sequence[EffectRecord], alone: _Alone) -> list[_Pairing]:
    """The visits of each pairing of each launch, in one; in the order of the first ones."""

    def pairing_of(record: EffectRecord) -> str:
        question = {key: value for key, value in record.parameters.items() if key != "again"}
        return json.dumps([record.repetition, record.members, question], sort_keys=True)

    return [
        _Pairing(
            of_pairing[0],
            _congestion(of_pairing[0], alone),
            np.array([_congestion(record, alone) for record in of_pairing if "again" in record.parameters]),
        )
        for of_pairing in grouped(visits, pairing_of).values()
    ]


def _shares(
    drawn: Sequence[_Pairing],
    together: Sequence[_Pairing],
    alone: _Alone,
    ranks: int,
    lot: np.random.Generator,
) -> dict[str, Parameter]:
    each = np.array([pairing.first for pairing in drawn])
    mean_share, mean_congestion = np.mean(1 / each, axis=1), np.mean(each, axis=1)
    full_B_per_s = ranks / 2 / alone.beta_s_per_B
    shares = congestions = bandwidths = high = None
    if len(drawn) >= LEAST_DRAWS:
        chosen = lot.integers(len(drawn), size=(REPLICATES, len(drawn)))
        # What a share is a share of is uncertain as well; the bandwidth in B/s does not depend on it.
        scale = 1.0 if alone.betas_s_per_B is None else alone.betas_s_per_B / alone.beta_s_per_B
        bandwidths = np.mean(mean_share[chosen], axis=1) * full_B_per_s
        shares = np.mean(mean_share[chosen], axis=1) * scale
        congestions = np.mean(mean_congestion[chosen], axis=1) / scale
        high = np.array([np.quantile(each[draw], MOST_PAIRS) for draw in chosen]) / scale
    fraction = float(np.mean(mean_share))
    parameters = {
        "effective_bisection_bandwidth_B_per_s": bootstrapped(fraction * full_B_per_s, bandwidths, "B/s"),
        "effective_fraction": bootstrapped(fraction, shares, "1"),
        "mean_congestion": bootstrapped(float(np.mean(mean_congestion)), congestions, "1"),
        "congestion_p95": bootstrapped(float(np.quantile(each, MOST_PAIRS)), high, "1"),
    }
    least = max(NO_CONGESTION, parameters["mean_congestion"].value, parameters["congestion_p95"].value)
    parameters["worst_congestion"] = _worst(together, least)
    for level in QUANTILES:
        parameters[f"pair_fraction_p{round(100 * level):02d}"] = Parameter(
            value=float(np.quantile(1 / each, level)), unit="1"
        )
    return parameters


def _worst(together: Sequence[_Pairing], least: float) -> Parameter:
    """Congestion of the slowest pair, the median over launches; its interval where visits were kept for it.

    The least and the greatest of LEAST_VISITS visits hold their median with 97 % (order statistics). At least
    `least`: a bound below what it bounds is none.
    """
    of_launches = _slowest(together)
    value = max(least, float(np.median([np.median(pairing.slowest) for pairing in of_launches])))
    seen = [pairing.slowest for pairing in of_launches if pairing.half]
    if not seen:
        return Parameter(value=value, unit="1")
    low, high = (float(np.median([end(slowest) for slowest in seen])) for end in (np.min, np.max))
    return Parameter(value=value, low=max(least, min(low, value)), high=max(high, value), unit="1")


def _slowest(together: Sequence[_Pairing]) -> list[_Pairing]:
    """The pairing of the slowest pair of each launch."""
    launches = grouped(together, lambda pairing: pairing.record.repetition).values()
    return [max(of_launch, key=lambda pairing: float(np.max(pairing.chosen))) for of_launch in launches]


def _notes(
    drawn: Sequence[_Pairing], together: Sequence[_Pairing], parameters: dict[str, Parameter]
) -> list[str]:
    seeds = sorted({int(pairing.parameters["seed"]) for pairing in drawn})
    pairs = sum(pairing.first.size for pairing in together)
    slowest = _slowest(together)
    visits = min(len(pairing.later) for pairing in slowest)
    if parameters["worst_congestion"].low is not None:
        worst = (
            "its pairing was measured again: half of these visits chose the pair, the others give its congestion"
        )
    elif visits:
        worst = f"its pairing was measured again on {counted(visits, 'visit')}, too few for an interval"
    else:
        worst = "it is one observation and holds what disturbed it, inside a node most of all"
    notes = [
        f"{len(drawn)} random bisections, seed {', '.join(map(str, seeds))}; {EFFECTIVE}; half sends, one way",
        f"the worst congestion is that of the slowest of {pairs} pairs measured; a topology's may be greater",
        f"{worst}; of 95 % of the pairs of random bisections the congestion is "
        f"{parameters['congestion_p95'].value:.3g} at most",
    ]
    stated = parameters["worst_congestion"].value
    if float(np.median([np.median(pairing.slowest) for pairing in slowest])) < stated > NO_CONGESTION:
        notes.append(
            "the slowest pair's later visits were quicker than the averages, which hold disturbed pairs: the "
            "worst is given as no less than these"
        )
    if parameters["effective_fraction"].low is None:
        notes.append(f"fewer than {LEAST_DRAWS} bisections: no interval")
    return notes


def _point(record: EffectRecord, alone: _Alone) -> dict[str, Cell]:
    congestion = _congestion(record, alone)
    return {
        "pattern": str(record.parameters["pattern"]) + (" again" if "again" in record.parameters else ""),
        "draw": record.parameters.get("draw"),
        "pairs": int(congestion.size),
        "bytes": int(record.parameters["bytes"]),
        "window": int(record.parameters["window"]),
        "time_s": answered(record, StreamsAnswer).time_s,
        "mean_congestion": float(np.mean(congestion)),
        "worst_congestion": float(np.max(congestion)),
        "bandwidth_B_per_s": float(np.sum(1 / congestion)) / alone.beta_s_per_B,
    }


def _state(effect: Effect, ranks: int, together: Sequence[_Pairing], size: str) -> None:
    """The four views; `size` is that of the messages, in words: α comes from empty ones, β from these."""
    known = effect.parameters
    beta = per_byte(known["beta_s_per_B"].value)
    line, alone = f"{format_time(known['alpha_s'].value)} + {beta} · n", "a pair alone"
    effect.state("exact", f"T(n) = {line}", alone)
    effect.state("asymptotic", "T(n) = Θ(n)", alone)
    effect.state("dominant", f"T(n) = {beta} · n + Θ(1)", alone)
    # A pair of a pairing may be quicker than those that were measured alone.
    factor = below(float(np.min(pairing.first)) for pairing in together)
    low = line if factor == 1 else f"{line} · {factor:.2g}"
    if "mean_congestion" not in known:
        effect.state("bounded", f"{low} ≤ T(n)", f"n = {size}")
        return
    where = f"P = {ranks}, pairs across random bisections"
    mean, worst = (f"{known[f'{name}_congestion'].value:.3g}" for name in ("mean", "worst"))
    total = format_rate(known["effective_bisection_bandwidth_B_per_s"].value)
    effect.state("asymptotic", "T(n, P) = Ω(n), O(n·C(P))", "C(P): congestion of the worst pairing")
    effect.state("dominant", f"mean T(n) = {mean} · {beta} · n + Θ(1)", where)
    held = f"P = {ranks}, the pairings measured, n = {size}; from above of medians over visits"
    effect.state("bounded", f"{low} ≤ T(n, P) ≤ {line} · {worst}", held, SOURCE)
    effect.state("exact", f"mean T(n) = {line} · {mean}", where)
    effect.state("exact", f"effective bisection bandwidth = {total}", f"P = {ranks}", EFFECTIVE)
