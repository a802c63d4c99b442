"""The part of a report that speaks of collectives: who is fastest where, how times grow with ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from hockney.analyse.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.analyse.choice import DEFAULT, choices, penalty
from hockney.analyse.jumps import Jump, jumps
from hockney.analyse.points import points
from hockney.analyse.regression import Regression, regressions
from hockney.report.collective_figures import against_ranks, against_size
from hockney.report.page import Part, Section
from hockney.report.tables import NONE, Table
from hockney.samples.series import default_statistic
from hockney.units import format_bytes, format_rate, format_time

STATISTIC_WORDS = {
    "completion": "Times are completion times: last exit minus first entry on a common clock, the median.",
    "max_over_ranks": "Times are those of the slowest rank.",
    "mean_over_ranks": "Times are means over the ranks, as OSU prints them: not completion times, since ranks "
    "may leave early.",
    "min_over_ranks": "Times are those of the fastest rank.",
}
MOST_ROWS = 400
"""Rows of the table of points on the page; the CSV files hold all."""
MOST_CHOICES = 60
MOST_JUMPS = 3
"""The clearest ones of each curve."""
FEWEST_RANK_COUNTS = 4
DRAWN_ALGORITHMS = 6
"""Curves against ranks in one picture, besides the default."""


def section(frame: pd.DataFrame, operation: str) -> Section:
    """Figures and tables of one collective of a tidy table."""
    statistic = default_statistic(frame, operation)
    measured = points(frame, operation, statistic)
    made = Section(operation, operation.capitalize(), STATISTIC_WORDS.get(statistic, ""), folded=True)
    largest = _largest_group(measured)
    if len(set(measured["bytes"])) > 1:
        made.figures.append(against_size(operation, measured, largest))
    grown = measured[measured["ranks"].notna()]
    counts = grown.groupby(["mapping", "label", "bytes"])["ranks"].nunique()
    if len(counts) and counts.max() >= FEWEST_RANK_COUNTS:
        sizes = representative_sizes(grown)
        broken = {size: _jumps(grown, size) for size in sizes}
        chosen = _drawn(grown, sizes)
        made.figures += [
            against_ranks(operation, grown[grown["label"].isin(chosen)], size, broken[size]) for size in sizes
        ]
        made.tables.append(_jump_table(grown, broken))
        made.tables.append(_regression_table(grown, sizes))
    made.tables = [
        *_choice_tables(measured, operation),
        *[table for table in made.tables if table.rows],
        *_segment_table(measured),
        *_statistics_table(frame, operation),
        *_rate_table(measured, operation),
    ]
    shown = measured.head(MOST_ROWS)
    title = f"Measured points ({len(shown)} of {len(measured)})"
    made.parts = [Part(f"{operation}-points", title, _points_table(shown))]
    return made


def _largest_group(measured: pd.DataFrame) -> int:
    """The largest number of ranks on which nearly all algorithms were measured; 0 where none is known."""
    known = measured[measured["ranks"].notna()]
    if known.empty:
        return 0
    width = known.groupby("ranks")["label"].nunique()
    return max(int(str(ranks)) for ranks in width.index[width >= 0.8 * width.max()])


def representative_sizes(measured: pd.DataFrame) -> list[int]:
    """A small, a middle and a large size, of those measured at most rank counts."""
    width = measured.groupby("bytes")["ranks"].nunique()
    common = sorted(int(size) for size in width.index[width >= 0.8 * width.max()])
    small = next((size for size in common if size >= 8), common[0])
    return sorted({small, common[len(common) // 2], common[-1]})


def _drawn(measured: pd.DataFrame, sizes: Sequence[int]) -> list[str]:
    """The default, and the algorithms fastest on average over what is drawn."""
    rows = measured[measured["bytes"].isin(sizes)]
    best = rows.groupby(["mapping", "ranks", "bytes"])["time_s"].transform("min")
    behind = (rows["time_s"] / best).groupby(rows["label"]).median().sort_values()
    names = [str(name) for name in behind.index if name != DEFAULT][:DRAWN_ALGORITHMS]
    return [*([DEFAULT] if DEFAULT in behind.index else []), *names]


def _curves(measured: pd.DataFrame, size_B: int) -> Mapping[tuple[str, str], pd.DataFrame]:
    """By mapping and algorithm: one time for each rank count."""
    rows = measured[measured["bytes"] == size_B]
    found = {}
    for (mapping, label), group in rows.groupby(["mapping", "label"], sort=True):
        pooled = group.groupby("ranks", as_index=False).agg(time_s=("time_s", "median"), nodes=("nodes", "max"))
        found[str(mapping), str(label)] = pooled.sort_values("ranks")
    return found


def _jumps(measured: pd.DataFrame, size_B: int) -> dict[tuple[str, str], list[Jump]]:
    return {
        name: jumps(curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))
        for name, curve in _curves(measured, size_B).items()
    }


def _jump_table(measured: pd.DataFrame, broken: Mapping[int, Mapping[tuple[str, str], list[Jump]]]) -> Table:
    rows = []
    for size, by_curve in broken.items():
        curves = _curves(measured, size)
        for (mapping, label), found in by_curve.items():
            nodes = curves[mapping, label].set_index("ranks")["nodes"]
            for jump in sorted(found, key=lambda jump: jump.p_value)[:MOST_JUMPS]:
                before, after = nodes.get(jump.before), nodes.get(jump.after)
                crosses = before is not None and after is not None and not pd.isna(before) and before < after
                rows.append(
                    [
                        label,
                        mapping or NONE,
                        format_bytes(size),
                        f"{jump.before} → {jump.after}",
                        f"× {jump.level_ratio:.2f}",
                        NONE if jump.slope_ratio is None else f"× {jump.slope_ratio:.2g}",
                        "another node begins" if crosses else NONE,
                    ]
                )
    columns = ["algorithm", "allocation", "size", "between ranks", "level", "cost of a further rank", "boundary"]
    return Table("Jumps against ranks (F-test, p < 0.0001)", columns, rows, frozenset({0, 1, 6}))


def _regression_table(measured: pd.DataFrame, sizes: Sequence[int]) -> Table:
    rows = []
    for size in sizes:
        for (mapping, label), curve in _curves(measured, size).items():
            fits = regressions(curve["ranks"].to_numpy(np.float64), curve["time_s"].to_numpy(np.float64))
            rows += [
                [
                    label,
                    mapping or NONE,
                    format_bytes(size),
                    f"{'linear' if fit.degree == 1 else 'quadratic'}, {fit.weights}",
                    _formula(fit),
                    f"{fit.adjusted_r2:.4f}",
                    f"{fit.first} … {fit.last} ({fit.points})",
                    "; ".join(fit.notes),
                ]
                for fit in fits
            ]
    columns = ["algorithm", "allocation", "size", "fit", "T in µs, P = number of ranks (± standard error)"]
    return Table(
        "Regressions in the number of ranks",
        [*columns, "adjusted R²", "P (points)", "remarks"],
        rows,
        frozenset({0, 1, 3, 4, 7}),
    )


def _formula(fit: Regression) -> str:
    powers = ("", "·P", "·P²")
    return " + ".join(
        f"({value * 1e6:.4g} ± {error * 1e6:.2g}){power}"
        for value, error, power in zip(fit.coefficients, fit.standard_errors, powers, strict=False)
    )


def _choice_tables(measured: pd.DataFrame, operation: str) -> list[Table]:
    found = choices(measured)
    if not found:
        return []
    largest = max(choice.ranks for choice in found)
    shown = [choice for choice in found if choice.ranks == largest][:MOST_CHOICES]
    rows = [
        [
            choice.mapping or NONE,
            format_bytes(choice.bytes),
            choice.best,
            format_time(choice.best_s),
            ", ".join(choice.ties) if len(choice.ties) <= 4 else f"{len(choice.ties)} others",
            str(choice.candidates),
            NONE if choice.default_s is None else format_time(choice.default_s),
            NONE if choice.penalty is None else f"× {choice.penalty:.2f}",
        ]
        for choice in shown
    ]
    columns = [
        "allocation",
        "size",
        "fastest",
        "time",
        "cannot be told from it",
        "candidates",
        "default",
        "penalty",
    ]
    tables = [Table(f"Fastest {operation} on {largest} ranks", columns, rows, frozenset({0, 2, 4}))]
    if (total := penalty(found)) is not None:
        tables.append(
            Table(
                "What the library's own choice costs: its time over that of the fastest",
                ["points", "median", "P90", "worst", "within 10 % of the fastest"],
                [
                    [
                        str(total.points),
                        *(f"× {value:.2f}" for value in (total.median, total.p90, total.worst)),
                        f"{100 * total.within_10_percent:.0f} %",
                    ]
                ],
                frozenset(),
            )
        )
    return tables


def _segment_table(measured: pd.DataFrame) -> list[Table]:
    """For algorithms measured with several segment sizes: the best one for each message size."""
    rows = []
    for (algorithm, ranks, size), group in measured.groupby(["algorithm", "ranks", "bytes"], sort=True):
        if group["segment_bytes"].nunique(dropna=False) < 2:
            continue
        ordered = group.sort_values("time_s")
        best, worst = ordered.iloc[0], ordered.iloc[-1]
        rows.append(
            [
                str(algorithm),
                str(ranks),
                format_bytes(float(str(size))),
                _segment(best["segment_bytes"]),
                format_time(float(best["time_s"])),
                _segment(worst["segment_bytes"]),
                f"× {worst['time_s'] / best['time_s']:.2f}",
            ]
        )
    columns = ["algorithm", "ranks", "size", "best segment", "time", "worst segment", "its time over the best"]
    return [Table("Choice of the segment size", columns, rows)] if rows else []


def _segment(value: Any) -> str:
    return "none" if pd.isna(value) else format_bytes(float(value))


def _statistics_table(frame: pd.DataFrame, operation: str) -> list[Table]:
    """Completion beside OSU's mean, least and largest over ranks, where the same samples gave all."""
    rows = frame[frame["operation"] == operation]
    if not {"completion", "mean_over_ranks"} <= set(rows["statistic"]):
        return []
    keys = ["algorithm", "ranks", "bytes", "segment_bytes", "radix", "cache", "variant", "repetition"]
    keys = [name for name in keys if name in rows.columns]
    wide = rows.pivot_table(index=keys, columns="statistic", values="time_us", aggfunc="median", dropna=True)
    wide = wide.dropna(how="any")
    if wide.empty:
        return []
    told = []
    for name in ("mean_over_ranks", "min_over_ranks", "max_over_ranks"):
        if name in wide.columns:
            ratio = wide[name] / wide["completion"]
            told.append([name, str(len(ratio)), *(f"{ratio.quantile(level):.3f}" for level in (0.05, 0.5, 0.95))])
    columns = ["statistic", "points", "5 %", "median", "95 %"]
    return [Table("Statistics over ranks, as OSU takes them, over the completion time", columns, told)]


def _rate_table(measured: pd.DataFrame, operation: str) -> list[Table]:
    """Rates of the fastest algorithm at the largest size of each rank count."""
    if operation == "barrier":
        return []
    rows = []
    for (mapping, ranks), group in measured[measured["ranks"].notna()].groupby(["mapping", "ranks"], sort=True):
        at_largest = group[group["bytes"] == group["bytes"].max()]
        best = at_largest.sort_values("time_s").iloc[0]
        about = (operation, int(str(ranks)), int(best["bytes"]), float(best["time_s"]))
        if about[1] < 2 or about[2] == 0:
            continue
        rows.append(
            [
                str(ranks),
                str(mapping) or NONE,
                format_bytes(about[2]),
                str(best["label"]),
                format_rate(algorithm_bandwidth_B_per_s(*about)),
                format_rate(bus_bandwidth_B_per_s(*about)),
                format_rate(network_bandwidth_B_per_s(*about)),
            ]
        )
    columns = [
        "ranks",
        "allocation",
        "size",
        "fastest",
        "size / time",
        "bus bandwidth",
        "collective network bandwidth",
    ]
    return [Table("Collective bandwidth", columns, rows[:MOST_CHOICES], frozenset({1, 3}))] if rows else []


def _points_table(shown: pd.DataFrame) -> Table:
    rows = [
        [
            str(row.label),
            str(row.mapping) or NONE,
            NONE if str(row.ranks) == "<NA>" else str(row.ranks),
            format_bytes(float(str(row.bytes))),
            format_time(float(str(row.time_s))),
            f"{format_time(float(str(row.low_s)))} … {format_time(float(str(row.high_s)))}",
        ]
        for row in shown.itertuples()
    ]
    columns = ["algorithm", "allocation", "ranks", "size", "time", "95 % interval"]
    return Table("Points", columns, rows, frozenset({0, 1}))
