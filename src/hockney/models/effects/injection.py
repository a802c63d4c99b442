"""Max-rate: what one process injects and what k of them share (Gropp, Olson, Samfass, EuroMPI 2016)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from hockney.errors import RequestError
from hockney.models._lines import nonnegative_line
from hockney.models.effects._sampling import REPLICATES, bootstrapped, levels_of, windows
from hockney.models.effects._scaffold import above, below, channel_of, times, verified
from hockney.models.effects.base import Effect, Plot, effect_models
from hockney.records.answers import StreamsAnswer
from hockney.records.effect_record import EffectRecord, answered
from hockney.statistics import TAILS
from hockney.units import format_bytes, format_rate, format_time, grouped, percent

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
    "injection",
    "What several pairs of ranks that send at the same time get: the max-rate model.",
    Plot(x="bytes", y="bandwidth_B_per_s", by="pairs", title="Bandwidth of all pairs together"),
    widens=True,
)
def fit(effect: Effect, records: Sequence[EffectRecord]) -> None:
    """Limits of bandwidth and of message rate, of one process and of those together; α of short and long ones.

    Intervals: 95 %, by bootstrap of stretches of each point's samples; None where each question has one sample
    (simulations). RequestError where not one point of a pair alone is there.
    """
    good = verified(effect, records)
    visits = grouped(good, lambda record: (len(record.members) // 2, int(record.parameters["bytes"])))
    levels = levels_of(good)
    pooled = {key: windows(visits[key], levels, per_message=True) for key in sorted(visits)}
    if not any(pairs == 1 for pairs, _ in pooled):
        raise RequestError("no pair alone was measured", "measure again, with --resume")
    if not max(size_B for _, size_B in pooled):
        raise RequestError("messages without bytes have no bandwidth", "measure again with longer --bytes")
    cells = {key: float(np.median(messages.time_s)) for key, messages in pooled.items()}
    stated_B = good[0].about.get("eager_limit_B", {}).get(channel_of(good[0]), SHORT_B)
    model = max_rate(cells, int(stated_B))
    replicates: list[MaxRate] = []
    if max(messages.time_s.size for messages in pooled.values()) > 1:
        lot = np.random.default_rng(0)
        drawn = {key: messages.medians(lot) for key, messages in pooled.items()}
        replicates = [
            max_rate({key: float(medians[each]) for key, medians in drawn.items()}, model.longest_short_B)
            for each in range(REPLICATES)
        ]
    fitted = _Fitted(effect, model, replicates, cells, any(record.oversubscribed for record in good))
    fitted.enter_parameters()
    fitted.state()
    fitted.note(good)
    effect.points = [
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
    ]


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


@dataclass(frozen=True)
class _Fitted:
    """The model and its replicates (none: no intervals), and what they say of the effect."""

    effect: Effect
    model: MaxRate
    replicates: Sequence[MaxRate]
    cells: Cells
    shares_cores: bool

    @property
    def most(self) -> int:
        """The most pairs that were measured at once."""
        return max(pairs for pairs, _ in self.cells)

    def _add(self, name: str, quantity: Callable[[MaxRate], float], unit: str) -> None:
        replicates = np.array([quantity(model) for model in self.replicates]) if self.replicates else None
        self.effect.parameters[name] = bootstrapped(quantity(self.model), replicates, unit)

    def _add_limit(self, name: str, limit: str, each: str, unit: str, of_what: str) -> None:
        """The shared limit and how many processes reach it, if hardly less replicates than 97.5 % tell it."""
        values = [getattr(model, limit) for model in (self.model, *self.replicates)]
        if np.isfinite(values[0]) and np.mean(np.isfinite(values[1:] or values)) >= TAILS[1]:
            self._add(name, attrgetter(limit), unit)
            ratio = "k_bandwidth" if of_what == "bytes" else "k_message_rate"
            self._add(ratio, lambda model: getattr(model, limit) / getattr(model, each), "1")
        elif self.most == 1:
            alone = "one pair alone was measured: two and more at once, which need 4 ranks on cores of their own"
            self.effect.cannot_tell(alone, name)
        else:
            few = f"{self.most} pairs at once do not reach a limit of {of_what}: more pairs (ranks on more cores)"
            self.effect.cannot_tell(few, name)

    def enter_parameters(self) -> None:
        self._add("R_C_B_per_s", attrgetter("each_B_per_s"), "B/s")
        self._add_limit("R_N_B_per_s", "shared_B_per_s", "each_B_per_s", "B/s", "bytes")
        for regime in ("short", "long"):
            name = f"alpha_{regime}_s"
            if np.isfinite(getattr(self.model, name)):
                self._add(name, attrgetter(name), "s")
            else:
                self.effect.cannot_tell(f"no {regime} message was measured: --bytes", name)
        names = ("message_rate_C_per_s", "message_rate_N_per_s")
        if self.shares_cores:
            why = "ranks share cores, and a message costs time of a core: measure with a core for each rank"
            self.effect.cannot_tell(why, *names)
        elif np.isnan(self.model.rate_each_per_s):
            self.effect.cannot_tell(f"no message of {RATE_B} B or less was measured: --bytes", *names)
        else:
            self._add(names[0], attrgetter("rate_each_per_s"), "1/s")
            self._add_limit(names[1], "rate_shared_per_s", "rate_each_per_s", "1/s", "messages")

    def state(self) -> None:
        """The four views."""
        effect, known = self.effect, self.effect.parameters
        each, shared = format_rate(known["R_C_B_per_s"].value), known.get("R_N_B_per_s")
        total = format_rate(shared.value) if shared else ""
        bytes_ = f"k·n / min({total}, k · {each})" if shared else f"n / {each}"
        reach = "" if shared else f"k ≤ {self.most}"
        limit = format_bytes(self.model.longest_short_B)
        for name, sign in (("alpha_short_s", "≤"), ("alpha_long_s", ">")):
            if name in known:
                where = ", ".join(filter(None, (f"n {sign} {limit}", reach)))
                effect.state("exact", f"T(n, k) = {format_time(known[name].value)} + {bytes_}", where, SOURCE)
        if "message_rate_N_per_s" in known:
            rate = known["message_rate_N_per_s"].value
            where = "short messages: the message rate that they share"
            effect.state("exact", f"T(n, k) ≥ k / ({rate:.3g}/s)", where)
        self._state_bounds()
        near = f"k ≤ {known['k_bandwidth'].value:.3g}" if shared else reach
        effect.state("dominant", f"T(n, k) = n / {each} + Θ(1)", near)
        effect.state("asymptotic", "T(n, k) = Θ(n)", near)
        if shared:
            far = f"k > {known['k_bandwidth'].value:.3g}"
            effect.state("dominant", f"T(n, k) = k·n / {total} + Θ(1)", far)
            effect.state("asymptotic", "T(n, k) = Θ(k·n)", far)

    def _state_bounds(self) -> None:
        """Bounds on all points: the quickest start-up with a process alone, the slowest with all at once."""
        known, shared = self.effect.parameters, self.effect.parameters.get("R_N_B_per_s")
        alphas_s = [known[name].value for name in ("alpha_short_s", "alpha_long_s") if name in known]

        def side(start_s: float, rate_B_per_s: float, factor: Callable[[Iterable[float]], float]) -> str:
            scale = factor(time_s / (start_s + size / rate_B_per_s) for (_, size), time_s in self.cells.items())
            return times(scale, f"{format_time(start_s)} + n / {format_rate(rate_B_per_s)}")

        text = f"{side(min(alphas_s), known['R_C_B_per_s'].value, below)} ≤ T(n, k)"
        source = "a process alone"
        if shared:
            limits_s = [self.most / known[name].value for name in ("message_rate_N_per_s",) if name in known]
            text += f" ≤ {side(max([*alphas_s, *limits_s]), shared.value / self.most, above)}"
            source = "a process alone, and all that were measured at once"
        self.effect.state("bounded", text, f"k ≤ {self.most}, every point measured", source)

    def note(self, records: Sequence[EffectRecord]) -> None:
        """What limits the model."""
        notes = self.effect.notes
        miss = [abs(self.model.at(*key) / time_s - 1) for key, time_s in self.cells.items()]
        layouts = {str(record.parameters.get("layout", "")) for record in records}
        notes.append(
            "T is the time for each message of a window; intervals: 95 %, bootstrap of stretches of samples"
            if self.replicates
            else "T is the time for each message of a window; each point is one sample: no intervals"
        )
        notes.append(
            f"the model misses the points by {percent(np.median(miss))} (median), {percent(max(miss))} at most"
        )
        if "facing" in layouts:
            notes.append("all senders are in one domain, all receivers in another: R_N is of what joins them")
        if "disjoint" in layouts and records[0].locality == "network":
            notes.append("one rank a node: R_N is of the network between nodes, not of a node's own link")
        if self.shares_cores:
            notes.append(
                "ranks share cores: R_C and R_N are the link's only where it is far slower than they are"
            )
