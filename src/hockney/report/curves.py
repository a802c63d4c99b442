"""A curve: one entry of the machine file as the report draws and names it, and the numbers that stand for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from hockney.machine import formula
from hockney.machine.file import Entry, Machine, series_of
from hockney.machine.formula import formulas
from hockney.machine.measured import Throughput, pairs_of, surest, throughputs
from hockney.models.base import Fit, Parameter, preferred_model
from hockney.records.columns import SAME_RANKS, SCALE
from hockney.records.keys import DIRECTIONS, ENTRIES
from hockney.records.record import LOCALITIES
from hockney.records.series import Series
from hockney.report.marks import Peak, percent
from hockney.units import format_bytes, format_rate, format_time, grouped

LOCALITY_WORDS = {
    "core": "one core, as SMT siblings or by turns",
    "cache": "cores that share a cache",
    "numa": "one NUMA domain",
    "package": "one package",
    "node": "one node, two packages",
    "network": "two nodes",
}
"""Localities in the order of the page; others follow by name."""


@dataclass(frozen=True)
class MessageCurve:
    """Time per message against size of one entry, with its fits. `name` is unique and fit for a file name."""

    name: str
    label: str
    entry: Entry
    peers: Sequence[Entry] = ()
    """Entries of other operations on the same ranks, fewest pairs at once first."""

    @property
    def operation(self) -> str:
        return self.entry.operation

    @property
    def system(self) -> str:
        """The name of its system, empty where nobody named one."""
        return self.entry.other.get("system", "")

    @property
    def words(self) -> dict[str, str]:
        """What was held fixed, in words, by the name of its column."""
        return _describe(self.entry)

    @property
    def place(self) -> str:
        """Where the ranks were: locality and mapping."""
        return " · ".join(text for key, text in self.words.items() if key in ("locality", "mapping"))

    @property
    def kind(self) -> str:
        """What was measured, without where: alike for one transport in each placement."""
        where = ("locality", "mapping", *SCALE)
        return ", ".join(text for key, text in self.words.items() if key not in where) or "default"

    @property
    def fits(self) -> dict[str, Fit]:
        return self.entry.fits

    @property
    def directions(self) -> int:
        """2 if a time covers one message each way, otherwise 1."""
        return DIRECTIONS.get(self.operation, 1)

    @property
    def pairs(self) -> int:
        """Pairs of ranks that communicate at the same time."""
        return pairs_of(self.entry)

    @property
    def streams(self) -> int:
        """Messages under way at the same time, over all pairs and directions."""
        return self.directions * self.pairs

    @property
    def size_B(self) -> NDArray[np.float64]:
        return self.series.size_B

    @property
    def time_s(self) -> NDArray[np.float64]:
        return self.series.time_s

    @property
    def low_s(self) -> NDArray[np.float64]:
        """Lower ends of the intervals; the value itself where there is none."""
        return self.series.low_s

    @property
    def high_s(self) -> NDArray[np.float64]:
        """Upper ends of the intervals; the value itself where there is none."""
        return self.series.high_s

    @property
    def peak(self) -> Throughput | None:
        """The measured peak; None where only empty messages were measured."""
        return surest(throughputs(self.entry))

    @cached_property
    def points(self) -> pd.DataFrame:
        """The numbers of each figure of this curve, as in `explorer.chart.Explored`: NaN for no interval."""
        has_interval = self.low_s < self.high_s
        return pd.DataFrame(
            {
                "operation": self.operation,
                "bytes": self.size_B.astype(np.int64),
                "time_s": self.time_s,
                "low_s": np.where(has_interval, self.low_s, np.nan),
                "high_s": np.where(has_interval, self.high_s, np.nan),
                "streams": self.streams,
            }
        )

    @cached_property
    def regimes(self) -> pd.DataFrame:
        """The fits as in `explorer.chart.model_lines`."""
        rows = [
            (
                model,
                regime.min_B,
                np.inf if regime.max_B is None else regime.max_B,
                regime.alpha_s.value,
                regime.beta_s_per_B.value,
            )
            for model, fit in self.fits.items()
            for regime in fit.regimes
        ]
        names = ["model", "min_B", "max_B", "alpha_s", "beta_s_per_B"]
        return pd.DataFrame(rows, columns=names).astype(dict.fromkeys(names[1:], np.float64))

    @cached_property
    def series(self) -> Series:
        """The series that the models are fitted to, with related series of the same ranks."""
        measured = self.entry.measurements
        beside = {name: series_of(points) for name, points in measured.overheads.items()}
        for peer in self.peers:
            overheads = {name: series_of(points) for name, points in peer.measurements.overheads.items()}
            beside = {**overheads, peer.operation: peer.measurements.series, **beside}
        key = {"operation": self.operation, "locality": self.entry.locality or "", "variant": self.entry.variant}
        related = {name: replace(series, key={"operation": name}, related={}) for name, series in beside.items()}
        return replace(
            measured.series,
            key=key,
            eager_limit_B=self.entry.eager_limit_B,
            breaks_B=tuple(self.entry.breaks_B),
            related=related,
        )

    def throughput(self, size_B: NDArray[np.float64], time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bytes per second of messages that take this long, all pairs and both directions together."""
        return self.streams * size_B / time_s

    def bandwidth(self, fit: Fit) -> Parameter | None:
        """The asymptotic bandwidth in B/s, all pairs and both directions; None if the time does not grow."""
        rate = formula.bandwidth(self.entry, fit)
        return None if rate is None else rate.scaled(self.pairs, rate.unit)


def curves(machine: Machine) -> list[MessageCurve]:
    """All entries of a machine: by operation, nearest locality first, then variant and the rest."""
    entries = sorted(machine.point_to_point, key=_order)
    names: dict[str, int] = {}
    result = []
    for entry, label in zip(entries, _labels(entries), strict=True):
        name = file_name(f"{entry.operation}-{label}")
        names[name] = names.get(name, 0) + 1
        peers = [
            peer for peer in entries if peer.operation != entry.operation and _ranks_of(peer) == _ranks_of(entry)
        ]
        result.append(MessageCurve(name if names[name] == 1 else f"{name}-{names[name]}", label, entry, peers))
    return result


def file_name(words: str) -> str:
    """The words as the beginning of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-.").lower()[:100]


def _ranks_of(entry: Entry) -> tuple[object, ...]:
    """A key that entries of different operations share if they were measured on the same ranks."""
    other = {key: word for key, word in entry.other.items() if key in SAME_RANKS}
    return (entry.locality, entry.variant, entry.cache, entry.mapping, entry.pairs, other)


def labels(selection: Sequence[MessageCurve]) -> list[str]:
    """Labels that distinguish these curves, shorter than their own labels where they have more in common."""
    return _labels([curve.entry for curve in selection])


def by_operation(all_curves: Sequence[MessageCurve]) -> dict[str, list[MessageCurve]]:
    """Curves of each operation, in the order of the page."""
    return grouped(all_curves, lambda curve: curve.operation)


def by_crowd(selection: Sequence[MessageCurve], crowd: int) -> dict[str, list[MessageCurve]]:
    """Curves by numbers of ranks and pairs, one figure each; the key names the numbers that differ.

    More than `crowd` curves are taken apart by their place first, so that what is compared shares a figure.
    """
    varied = [
        key for key in ("ranks", "pairs") if len({curve.entry.other.get(key, "") for curve in selection}) > 1
    ]
    groups: dict[str, list[MessageCurve]] = {}
    for curve in selection:
        words = [f"{key} {curve.entry.other[key]}" for key in varied if curve.entry.other.get(key)]
        groups.setdefault(" · ".join(words), []).append(curve)
    placed: dict[str, list[MessageCurve]] = {}
    for words_of, members in groups.items():
        by_place = grouped(members, lambda curve: curve.place)
        if len(members) <= crowd or len(by_place) == len(members):
            by_place = {"": members}
        placed |= {" · ".join(filter(None, [words_of, place])): held for place, held in by_place.items()}
    return placed


def _order(entry: Entry) -> tuple[object, ...]:
    operation = ENTRIES.index(entry.operation) if entry.operation in ENTRIES else len(ENTRIES)
    locality = LOCALITIES.index(entry.locality) if entry.locality else len(LOCALITIES)
    natural = [(key, _natural(entry.other[key])) for key in sorted(entry.other)]
    variant = (entry.variant not in ("default", ""), entry.variant)
    return (operation, entry.operation, locality, entry.mapping, variant, entry.cache == "off", natural)


def _natural(text: str) -> list[tuple[int, str]]:
    """Numbers inside texts sort as numbers: 2 ranks before 16."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


def _labels(entries: Sequence[Entry]) -> list[str]:
    """As few words as distinguish an entry from the others of its operation, of system or locality first."""
    texts = []
    for entry in entries:
        names = telling([_describe(peer) for peer in entries if peer.operation == entry.operation])
        names = names if "system" in names else list(dict.fromkeys(["locality", *names]))
        words = _describe(entry)
        texts.append(
            ", ".join(words[name] for name in names if name in words) or next(iter(words.values()), "all")
        )
    return texts


def telling(descriptions: Sequence[Mapping[str, str]]) -> list[str]:
    """Columns by which descriptions differ, without those that set no more of them apart."""
    names: list[str] = []
    apart = 1
    for name in dict.fromkeys(["system", *(name for words in descriptions for name in words)]):
        several = len({tuple(words.get(key, "") for key in (*names, name)) for words in descriptions})
        if several > apart:
            names, apart = [*names, name], several
    return names


def _describe(entry: Entry) -> dict[str, str]:
    parts = {
        "locality": entry.locality or "",
        "mapping": f"mapping {entry.mapping}" if entry.mapping else "",
        "variant": entry.variant,
        "cache": {"warm": "warm cache", "off": "off cache", "": ""}[entry.cache],
    }
    for key, value in entry.other.items():
        parts[key] = value if key in ("source", "system", "mpi") else f"{key} {value}"
    return {key: text for key, text in parts.items() if text}


@dataclass(frozen=True)
class WithInterval:
    """A number; the interval is [low, high]."""

    value: float
    interval: tuple[float, float] | None
    parameter: Annotated[Parameter, Field(exclude=True)]


def _with_interval(parameter: Parameter) -> WithInterval:
    low, high = parameter.low, parameter.high
    return WithInterval(parameter.value, None if low is None or high is None else (low, high), parameter)


@dataclass(frozen=True)
class Headline:
    """The numbers of one curve, what was measured first. Throughputs are of all pairs and directions.

    `bandwidth_B_per_s`: by the model for n → ∞, a parameter and no measurement.
    `peaks`: the share of each that was reached, `shares` the same as text, by name and rate of the peak.
    """

    curve: Annotated[MessageCurve, Field(exclude=True)]
    operation: str
    locality: str | None
    variant: str
    label: str
    model: str
    latency_s: WithInterval
    bandwidth_B_per_s: WithInterval | None
    n_half_B: WithInterval | None
    eager_limit_B: float | None
    formulas: list[str]
    highest_throughput_B_per_s: float
    fastest_at_B: Annotated[float, Field(exclude=True)]
    largest_throughput_B_per_s: float
    largest_B: float
    peaks: dict[str, float]
    shares: Annotated[list[tuple[str, str]], Field(exclude=True)]
    text: str


def headline(curve: MessageCurve, peaks: Sequence[Peak]) -> Headline | None:
    """The headline of a curve; None if no model could be fitted, or only empty messages were measured."""
    model, measured_peak = preferred_model(curve.fits), curve.peak
    if model is None or measured_peak is None:
        return None
    fit, entry = curve.fits[model], curve.entry
    rates = curve.throughput(curve.size_B, curve.time_s)
    reached = [
        (peak, peak.share(most, curve.directions))
        for peak in peaks
        if peak.limits(entry.locality)
        and (most := float(np.max(rates, where=peak.carries(curve.size_B), initial=0.0))) > 0
        and peak.may_carry(most, curve.directions)
    ]
    latency, rate, n_half = formula.latency(fit), curve.bandwidth(fit), formula.half_bandwidth_size(entry, fit)
    shares = [(peak.label(curve.directions), percent(share)) for peak, share in reached]
    numbers = [
        f"latency {format_time(latency.value)}",
        f"measured peak {format_rate(measured_peak.rate.value)} at {format_bytes(measured_peak.size_B)}",
        f"{format_rate(rates[-1])} at {format_bytes(curve.size_B[-1])}",
        *(f"{share} of {name}" for name, share in shares),
    ]
    return Headline(
        curve=curve,
        operation=entry.operation,
        locality=entry.locality,
        variant=entry.variant,
        label=curve.label,
        model=model,
        latency_s=_with_interval(latency),
        bandwidth_B_per_s=None if rate is None else _with_interval(rate),
        n_half_B=None if n_half is None else _with_interval(n_half),
        eager_limit_B=entry.eager_limit_B,
        formulas=formulas(fit),
        highest_throughput_B_per_s=measured_peak.rate.value,
        fastest_at_B=measured_peak.size_B,
        largest_throughput_B_per_s=float(rates[-1]),
        largest_B=float(curve.size_B[-1]),
        peaks={peak.title: share for peak, share in reached},
        shares=shares,
        text=f"{curve.operation}, {curve.label}: {', '.join(numbers)}",
    )
