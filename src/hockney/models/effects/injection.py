"""Max-rate: what one process injects and what k of them share (Gropp, Olson, Samfass, EuroMPI 2016)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from hockney.errors import RequestError
from hockney.models._lines import nonnegative_line
from hockney.models.base import Parameter
from hockney.models.effects._launches import over_launches
from hockney.models.effects._streams import (
    REPLICATES,
    bootstrapped,
    latex,
    levels_of,
    verified,
    windows,
)
from hockney.models.effects._wording import above, below, times, times_latex
from hockney.models.effects.base import Effect, Plot, effect_models
from hockney.models.views import Statement, Views
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import TAILS
from hockney.units import format_bytes, format_rate, format_time

SOURCE = "Gropp, Olson, Samfass, EuroMPI 2016, max-rate model"
REACHED = 0.9
"""A limit counts as reached where the most pairs together get less than this share of as many pairs alone. A
smaller loss may come from the lower clock of busy cores, and the limit would lie far beyond the data."""
SHORT_B, RATE_B = 2**15, 64
"""Longest short message where the library states no eager limit, and longest that shows a message rate."""

Cells = Mapping[tuple[int, int], float]
"""Seconds for each message of a window, its share of the answer included, by (pairs, bytes)."""


@dataclass(frozen=True)
class MaxRate:
    """T(n, k) = max(α + k·n / min(R_N, k·R_C), k / min(r_N, k·r_C)); NaN is what the data do not tell."""

    alpha_short_s: float
    alpha_long_s: float
    each_B_per_s: float
    shared_B_per_s: float
    rate_each_per_s: float
    rate_shared_per_s: float
    longest_short_B: int

    def at(self, pairs: int, size_B: int) -> float:
        """Seconds for each message."""
        alpha = self.alpha_short_s if size_B <= self.longest_short_B else self.alpha_long_s
        if np.isnan(alpha):
            alpha = np.nanmax([self.alpha_short_s, self.alpha_long_s])
        bandwidth = np.nanmin([self.shared_B_per_s, pairs * self.each_B_per_s])
        bytes_s = float(alpha + pairs * size_B / bandwidth)
        rates = [self.rate_shared_per_s, pairs * self.rate_each_per_s]
        return bytes_s if np.isnan(rates).all() else max(bytes_s, pairs / float(np.nanmin(rates)))


@effect_models.register(
    "injection", "What several pairs of ranks that send at the same time get: the max-rate model."
)
@over_launches
def fit(records: Sequence[EffectRecord]) -> Effect:
    """Limits of bandwidth and of message rate, of one process and of those together; α of short and long ones.

    Intervals: 95 %, by bootstrap of stretches of each point's samples; None where each question has one sample
    (simulations). RequestError where not one point of a pair alone is there.
    """
    good, notes = verified(records)
    visits: dict[tuple[int, int], list[EffectRecord]] = {}
    for record in good:
        visits.setdefault((len(record.members) // 2, int(record.parameters["bytes"])), []).append(record)
    levels = levels_of(good)
    pooled = {key: windows(of_cell, levels, per_message=True) for key, of_cell in sorted(visits.items())}
    if not any(pairs == 1 for pairs, _ in pooled):
        raise RequestError("no pair alone was measured", "measure again, with --resume")
    if not max(size_B for _, size_B in pooled):
        raise RequestError("messages without bytes have no bandwidth", "measure again with longer --bytes")
    cells = {key: float(np.median(messages.time_s)) for key, messages in pooled.items()}
    limit_B = _longest_short_B(good[0])
    model = max_rate(cells, limit_B)
    replicates: list[MaxRate] | None = None
    if max(messages.time_s.size for messages in pooled.values()) > 1:
        lot = np.random.default_rng(0)
        drawn = {key: messages.medians(lot) for key, messages in pooled.items()}
        replicates = [
            max_rate({key: float(medians[each]) for key, medians in drawn.items()}, limit_B)
            for each in range(REPLICATES)
        ]
    summary = _Effect(model, replicates, cells, shares_cores=any(record.oversubscribed for record in good))
    return Effect(
        effect="injection",
        parameters=summary.parameters,
        not_identified=summary.not_identified,
        views=summary.views(),
        plots=[
            Plot(x="bytes", y="bandwidth_B_per_s", by="pairs", title="Bandwidth of all pairs together"),
        ],
        points=[
            {
                "pairs": pairs,
                "bytes": size_B,
                "time_s": time_s,
                "low_s": _end(visits[pairs, size_B], lambda answer: answer.low_s, min),
                "high_s": _end(visits[pairs, size_B], lambda answer: answer.high_s, max),
                "bandwidth_B_per_s": pairs * size_B / time_s,
                "message_rate_per_s": pairs / time_s,
                "model_s": model.at(pairs, size_B),
            }
            for (pairs, size_B), time_s in cells.items()
        ],
        notes=[*notes, *summary.notes(good)],
    )


def _end(
    records: Sequence[EffectRecord],
    end_s: Callable[[StreamsAnswer], float | None],
    outer: Callable[[list[float]], float],
) -> float | None:
    """The outer end of the records' intervals, for each message; None where one has none."""
    ends_s = []
    for record in records:
        window_s = end_s(answered(record, StreamsAnswer))
        if window_s is None:
            return None
        ends_s.append(window_s / record.parameters["window"])
    return outer(ends_s)


def max_rate(cells: Cells, longest_short_B: int) -> MaxRate:
    """The model of these times: bandwidths by lines through the long messages of each number of pairs."""
    counts = sorted({pairs for pairs, _ in cells})
    bandwidth = [_bandwidth(cells, pairs, longest_short_B) for pairs in counts]
    each, shared = saturation(counts, bandwidth)
    alpha_short_s = _alpha_s(cells, each, lambda size_B: size_B <= longest_short_B)
    smallest_B = min(size_B for _, size_B in cells)
    rate_each = rate_shared = float("nan")
    if smallest_B <= RATE_B:
        seen = [pairs for pairs in counts if (pairs, smallest_B) in cells]
        times_s = [cells[pairs, smallest_B] for pairs in seen]
        start_s = float(np.nan_to_num(alpha_short_s))
        bytes_s = [start_s + pairs * smallest_B / np.nanmin([shared, pairs * each]) for pairs in seen]
        rate_each, rate_shared = message_rates(seen, times_s, bytes_s)
    return MaxRate(
        alpha_short_s=alpha_short_s,
        alpha_long_s=_alpha_s(cells, each, lambda size_B: size_B > longest_short_B),
        each_B_per_s=each,
        shared_B_per_s=shared,
        rate_each_per_s=rate_each,
        rate_shared_per_s=rate_shared,
        longest_short_B=longest_short_B,
    )


def saturation(counts: Sequence[int], rates: Sequence[float]) -> tuple[float, float]:
    """Rates of k together as min(shared, k · each): (each, shared), shared NaN where it is not reached.

    The break is where the squares of the logarithms' residuals are least; the pairs before it give `each`, the
    rest, which must lie beyond `shared`, give `shared`, as geometric means. `counts` ascend.
    """
    k, rate = np.asarray(counts, dtype=np.float64), np.log(np.asarray(rates, dtype=np.float64))
    alone = rate - np.log(k)
    best, least = (float(np.mean(alone)), float("nan")), float(np.sum((alone - np.mean(alone)) ** 2))
    for first in range(1, k.size):
        each, shared = float(np.mean(alone[:first])), float(np.mean(rate[first:]))
        cost = float(np.sum((alone[:first] - each) ** 2) + np.sum((rate[first:] - shared) ** 2))
        beyond = shared - each < min(np.log(k[first]), np.log(REACHED * k[-1]))
        if beyond and cost < least:
            best, least = (each, shared), cost
    return float(np.exp(best[0])), float(np.exp(best[1]))


def message_rates(
    counts: Sequence[int], times_s: Sequence[float], bytes_s: Sequence[float]
) -> tuple[float, float]:
    """(r_C, r_N) in messages/s of times max(bytes_s, k / min(r_N, k · r_C)); r_N is NaN where it is not reached.

    r_C is that of the fewest pairs. r_N is where the squares of the logarithms' residuals are least, among those
    that are consistent: the geometric mean over pairs that wait longer for messages than for bytes. On a slow
    link even the bytes of small messages wait for each other (`bytes_s`); that is no limit of messages.
    """
    k, time_s, least_s = (np.asarray(values, dtype=np.float64) for values in (counts, times_s, bytes_s))
    each = float(1 / time_s[0])
    free_s = np.maximum(least_s, 1 / each)
    best, least = float("nan"), float(np.sum(np.log(time_s / free_s) ** 2))
    for first in range(1, k.size):
        shared = float(np.exp(np.mean(np.log(k[first:] / time_s[first:]))))
        waits_s = k / shared
        # As with bandwidths, what is lost must be more than a lower clock of busy cores takes.
        reached = waits_s[first] >= free_s[first] and waits_s[-1] * REACHED > free_s[-1]
        cost = float(np.sum(np.log(time_s / np.maximum(free_s, waits_s)) ** 2))
        if reached and cost < least:
            best, least = shared, cost
    return each, best


def _longest_short_B(record: EffectRecord) -> int:
    channel = "network" if record.locality == "network" else "shared_memory"
    return int(record.about.get("eager_limit_B", {}).get(channel, SHORT_B))


def _bandwidth(cells: Cells, pairs: int, longest_short_B: int) -> float:
    """B/s of all pairs together, from the long messages, or the two longest where fewer are long."""
    sizes = sorted(size_B for count, size_B in cells if count == pairs)
    used = [size_B for size_B in sizes if size_B > longest_short_B]
    if len(used) < 2:
        used = sizes[-2:]
    time_s = np.array([cells[pairs, size_B] for size_B in used])
    _, beta = nonnegative_line(np.array(used, dtype=np.float64), time_s)
    return pairs / beta if beta > 0 else pairs * used[-1] / float(time_s[-1])


def _alpha_s(cells: Cells, each_B_per_s: float, holds: Callable[[int], bool]) -> float:
    """Median of what the bytes of a pair alone do not explain, not negative; NaN without such a message."""
    rest = [
        time_s - size_B / each_B_per_s
        for (pairs, size_B), time_s in cells.items()
        if pairs == 1 and holds(size_B)
    ]
    return max(0.0, float(np.median(rest))) if rest else float("nan")


class _Effect:
    """The model's parameters with their intervals, and what is said about them."""

    def __init__(
        self, model: MaxRate, replicates: list[MaxRate] | None, cells: Cells, *, shares_cores: bool
    ) -> None:
        self.model = model
        self.replicates = replicates
        self.cells = cells
        self.most = max(pairs for pairs, _ in cells)
        self.shares_cores = shares_cores
        self.parameters: dict[str, Parameter] = {}
        self.not_identified: dict[str, str] = {}
        self._fill()

    def _add(self, name: str, of: Callable[[MaxRate], float], unit: str) -> None:
        replicates = None if self.replicates is None else np.array([of(model) for model in self.replicates])
        self.parameters[name] = bootstrapped(of(self.model), replicates, unit)

    def _always(self, of: Callable[[MaxRate], float]) -> bool:
        """Whether a limit is told by the data, and by hardly less of its replicates than an interval's 97.5 %."""
        is_told = np.isfinite(of(self.model))
        if not is_told or self.replicates is None:
            return bool(is_told)
        return bool(np.mean(np.isfinite([of(replicate) for replicate in self.replicates])) >= TAILS[1])

    def _fill(self) -> None:
        self._add("R_C_B_per_s", lambda model: model.each_B_per_s, "B/s")
        if self._always(lambda model: model.shared_B_per_s):
            self._add("R_N_B_per_s", lambda model: model.shared_B_per_s, "B/s")
            self._add("k_bandwidth", lambda model: model.shared_B_per_s / model.each_B_per_s, "1")
        else:
            self.not_identified["R_N_B_per_s"] = self._more("bytes")
        for regime in ("short", "long"):
            name = f"alpha_{regime}_s"
            if np.isfinite(getattr(self.model, name)):
                self._add(name, attrgetter(name), "s")
            else:
                self.not_identified[name] = f"no {regime} message was measured: --bytes"
        self._rates()

    def _rates(self) -> None:
        names = ("message_rate_C_per_s", "message_rate_N_per_s")
        if self.shares_cores:
            why = "ranks share cores, and a message costs time of a core: measure with a core for each rank"
            self.not_identified |= dict.fromkeys(names, why)
        elif np.isnan(self.model.rate_each_per_s):
            self.not_identified |= dict.fromkeys(names, f"no message of {RATE_B} B or less was measured: --bytes")
        else:
            self._add(names[0], lambda model: model.rate_each_per_s, "1/s")
            if self._always(lambda model: model.rate_shared_per_s):
                self._add(names[1], lambda model: model.rate_shared_per_s, "1/s")
                self._add("k_message_rate", lambda model: model.rate_shared_per_s / model.rate_each_per_s, "1")
            else:
                self.not_identified[names[1]] = self._more("messages")

    def _more(self, of: str) -> str:
        if self.most == 1:
            return "one pair alone was measured: two and more at once, which need 4 ranks on cores of their own"
        return f"{self.most} pairs at once do not reach a limit of {of}: more pairs (ranks on more cores)"

    def views(self) -> Views:
        p = self.parameters
        each = format_rate(p["R_C_B_per_s"].value)
        shared = p.get("R_N_B_per_s")
        bytes_, bytes_tex = f"n / {each}", f"n / {latex(each)}"
        if shared:
            bytes_ = f"k·n / min({format_rate(shared.value)}, k · {each})"
            bytes_tex = rf"\frac{{k\,n}}{{\min({latex(format_rate(shared.value))},\; k \cdot {latex(each)})}}"
        reach = "" if shared else f"k ≤ {self.most}"
        limit = format_bytes(self.model.longest_short_B)
        exact = [
            Statement(
                text=f"T(n, k) = {format_time(p[name].value)} + {bytes_}",
                latex=f"T(n, k) = {latex(format_time(p[name].value))} + {bytes_tex}",
                where=", ".join(part for part in (f"n {sign} {limit}", reach) if part),
                source=SOURCE,
            )
            for name, sign in (("alpha_short_s", "≤"), ("alpha_long_s", ">"))
            if name in p
        ]
        if "message_rate_N_per_s" in p:
            rate = p["message_rate_N_per_s"].value
            exact.append(
                Statement(
                    text=f"T(n, k) ≥ k / ({rate:.3g}/s)",
                    latex=rf"T(n, k) \ge k \,/\, ({rate:.3g}\,\mathrm{{s^{{-1}}}})",
                    where="short messages: the message rate that they share",
                )
            )
        alphas_s = [p[name].value for name in ("alpha_short_s", "alpha_long_s") if name in p]
        bounded = self._bounded(alphas_s)
        dominant = [
            Statement(
                text=f"T(n, k) = n / {each} + Θ(1)",
                latex=rf"T(n, k) = n / {latex(each)} + \Theta(1)",
                where=f"k ≤ {p['k_bandwidth'].value:.3g}" if shared else f"k ≤ {self.most}",
            )
        ]
        asymptotic = [Statement(text="T(n, k) = Θ(n)", latex=r"T(n, k) = \Theta(n)", where=dominant[0].where)]
        if shared:
            together, beyond = format_rate(shared.value), f"k > {p['k_bandwidth'].value:.3g}"
            dominant.append(
                Statement(
                    text=f"T(n, k) = k·n / {together} + Θ(1)",
                    latex=rf"T(n, k) = k\,n / {latex(together)} + \Theta(1)",
                    where=beyond,
                )
            )
            asymptotic.append(Statement(text="T(n, k) = Θ(k·n)", latex=r"T(n, k) = \Theta(k\,n)", where=beyond))
        return Views(asymptotic=asymptotic, dominant=dominant, bounded=[bounded], exact=exact)

    def _bounded(self, alphas_s: Sequence[float]) -> Statement:
        """Bounds on all points: the quickest start-up with a process alone, the slowest with all at once."""
        p, shared = self.parameters, self.parameters.get("R_N_B_per_s")

        def side(
            start_s: float, rate_B_per_s: float, factor: Callable[[Iterable[float]], float]
        ) -> tuple[str, str]:
            scale = factor(time_s / (start_s + size / rate_B_per_s) for (_, size), time_s in self.cells.items())
            start, rate = format_time(start_s), format_rate(rate_B_per_s)
            return times(scale, f"{start} + n / {rate}"), times_latex(
                scale, f"{latex(start)} + n / {latex(rate)}"
            )

        low, low_tex = side(min(alphas_s), p["R_C_B_per_s"].value, below)
        held = f"k ≤ {self.most}, every point measured"
        if not shared:
            return Statement(
                text=f"{low} ≤ T(n, k)", latex=rf"{low_tex} \le T(n, k)", where=held, source="a process alone"
            )
        limits_s = [self.most / p[name].value for name in ("message_rate_N_per_s",) if name in p]
        high, high_tex = side(max([*alphas_s, *limits_s]), shared.value / self.most, above)
        return Statement(
            text=f"{low} ≤ T(n, k) ≤ {high}",
            latex=rf"{low_tex} \le T(n, k) \le {high_tex}",
            where=held,
            source="a process alone, and all that were measured at once",
        )

    def notes(self, records: Sequence[EffectRecord]) -> list[str]:
        miss = [abs(self.model.at(*key) / time_s - 1) for key, time_s in self.cells.items()]
        layouts = {str(record.parameters.get("layout", "")) for record in records}
        notes = [
            "T is the time for each message of a window; intervals: 95 %, bootstrap of stretches of samples"
            if self.replicates is not None
            else "T is the time for each message of a window; each point is one sample: no intervals",
            f"the model misses the points by {np.median(miss):.1%} (median), {max(miss):.1%} at most",
        ]
        if "facing" in layouts:
            notes.append("all senders are in one domain, all receivers in another: R_N is of what joins them")
        if "disjoint" in layouts and records[0].locality == "network":
            notes.append("one rank a node: R_N is of the network between nodes, not of a node's own link")
        if self.shares_cores:
            notes.append(
                "ranks share cores: R_C and R_N are the link's only where it is far slower than they are"
            )
        return notes
