"""`hockney predict collective`: the time of a bcast, reduce, allreduce, alltoall, … by every algorithm."""

from __future__ import annotations

import typer

from hockney import api
from hockney.cli.predict import predict
from hockney.options.predict import COLLECTIVES, CollectiveCase
from hockney.terminal import JsonOption, chosen, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, first_of, format_bytes, format_interval, format_time, percent


@verb(
    "collective",
    examples="""
hockney predict bcast --ranks 1048576 --machine orfeo_thin
hockney predict allreduce --ranks 128 --bytes 8,1MiB --system orfeo-epyc --mapping core
hockney predict bcast --ranks 200 --bytes 64KiB --table table.csv.gz --system orfeo-epyc --mapping core
hockney predict alltoall --ranks 512 --bytes 64KiB --machine bluegene_p --topology torus:8x8x8
""",
    of=predict,
)
def collective(context: typer.Context, case: CollectiveCase, as_json: JsonOption = False) -> None:
    """The time of a collective by every algorithm.

    Each algorithm is simulated with the machine's point-to-point costs. A description of the system gives a rough
    bound instead. With --table predictions are calibrated on measured collectives, and have intervals. Symmetric
    ranks are simulated once (`by_class`). Where each further rank adds the same round, a line through two small
    numbers of ranks gives the time (`closed_form`). The answer names the best algorithm with its margin.
    """
    case = case.model_copy(update={"operation": chosen(context)})
    with say.progress(quiet=as_json or case.table is None) as progress:
        answer = api.predict_collective(case, progress)
    if as_json:
        say.json(answer)
        return
    for size in answer.predictions:
        _show(answer, size, formulas=case.formulas)
    if any(size.margin is not None and _doubt(size) == UNCHECKED for size in answer.predictions):
        _show_judged(answer.operation)
    say.warnings(text for size in answer.predictions for text in size.warnings)


def _show(answer: api.PredictedCollective, size: api.PredictedSize, *, formulas: bool) -> None:
    of_size = f" of {format_bytes(size.bytes)}" if COLLECTIVES[answer.operation].has_size else ""
    title = f"{answer.operation}{of_size} on {counted(answer.ranks, 'rank')}, from {size.origin}"
    say.line((_verdict(size), "bold"))
    say.rows(title, size.algorithms, (*COLUMNS, *FORMULAS) if formulas else COLUMNS)
    if corrected := "; ".join(_correction(row) for row in size.algorithms if row.readable_s is not None):
        say.line(corrected)
    shortest_s = min((row.time_s for row in size.algorithms if row.time_s), default=0.0)
    bounds = {of: size.bounds[name] for name, of in BOUNDS.items() if name in size.bounds}
    if least := [
        f"{format_time(least_s)} ({of})" for of, least_s in bounds.items() if least_s > FAR * shortest_s
    ]:
        say.line(f"no algorithm is faster than {' or '.join(least)}")
    for name, why in size.refused.items():
        say.line(f"{name}: {why}")
    if any(row.flat_B for row in size.algorithms):
        say.line("segments: the best of those simulated; in brackets, those that are slower by 5 % at most")


def _named(row: api.AlgorithmTime) -> str:
    """The name with the best segment that was searched for, and the sizes that do as well within 5 %."""
    if row.segment_B is None or row.flat_B is None:
        return row.algorithm
    best = f"segments of {format_bytes(row.segment_B)}" if row.segment_B else "whole"
    low_B, high_B = row.flat_B
    flat = f" ({format_bytes(low_B)} to {format_bytes(high_B)})" if low_B < high_B else ""
    return f"{row.algorithm}, {best}{flat}"


def _interval(row: api.AlgorithmTime) -> str | None:
    if not row.low_s:
        return None
    return format_interval(row.low_s, row.high_s) if row.high_s else f"≥ {format_time(row.low_s)}"


COLUMNS = (
    Column("algorithm", _named),
    Column("time", "time_s", format_time, is_number=True),
    Column("95 % interval", _interval),
    Column("method", "method"),
    Column("", "note"),
)
FORMULAS = (
    Column("formula", "formula"),
    Column("asymptotic", "asymptotic"),
    Column("dominant", "dominant"),
)


def _correction(row: api.AlgorithmTime) -> str:
    """What was simulated and what the correction adds to it, and how far it is a schedule-blind surface's."""
    by = "fit" if row.method in OF_MODELS else "simulated"
    weight = f" (weight of the surface: {row.weight:.2g})" if row.weight else ""
    share = f"corrected {percent(row.correction or 0.0, sign=True)} by neighbouring measurements{weight}"
    return f"{row.algorithm}: {by} {format_time(row.readable_s or 0.0)}, {share}"


OF_MODELS = ("fitted", "measured", "extrapolated")
"""Methods of rows that measured collectives gave."""
MOST_RIVALS = 4
BOUNDS = {"latency_s": "latency", "volume_s": "bytes"}
FAR = 0.1
"""A bound below this share of the shortest time says nothing."""


def _verdict(size: api.PredictedSize) -> str:
    if size.best is None:
        return "No time is known, only what it takes at least."
    if sum(row.time_s is not None for row in size.algorithms) > 1 and size.margin is None:
        return "Nothing is sent."
    best = next(row for row in size.algorithms if row.algorithm == size.best)
    rivals = first_of(size.not_told_apart_from, MOST_RIVALS, "others")
    takes = f"{size.best}, {format_time(best.time_s or 0.0)}"
    if size.margin is None:
        return f"Only {takes}, was predicted{f'; as fast may be {rivals}' if rivals else ''}."
    by = percent(size.margin) if round(size.margin, 2) < 1 else f"a factor of {1 + size.margin:.3g}"
    if best.high_s and size.told_apart:
        return f"{takes} ({format_interval(best.low_s, best.high_s)}), is the fastest, by {by} over the next."
    ahead = f"{by} ahead of the next" if size.told_apart else f"as fast may be {rivals}"
    return f"Candidate: {takes}; {ahead}. {_doubt(size)}"


UNCHECKED = "No collective was measured here to check the simulation."
JUDGED_TO_B = (1024, 65536)
JUDGED = {
    "bcast": (((0.34, 0.64), (0.32, 1.56), (0.49, 0.83)), ((0.14, 0.35), (0.08, 0.33), (0.07, 0.31))),
    "reduce": (((0.42, 0.89), (0.31, 0.91), (0.55, 0.99)), ((0.14, 0.51), (0.08, 0.53), (0.11, 1.08))),
}
"""Errors on `orfeo-epyc`, median and P95, up to these sizes and above: from ping-pongs alone, and calibrated.

`bench/from_ping_pong` measures them. Ten minutes may bring as many points: 3 to 5 s each,
an estimate.
"""


def _show_judged(operation: str) -> None:
    """How far off ping-pongs alone were on the system that was judged, and what collectives measured bring."""
    name = operation if operation in JUDGED else "bcast"
    bands = [*(f"to {format_bytes(size_B)}" for size_B in JUDGED_TO_B), "above"]
    points = {"bcast": 176, "reduce": 132}[name]
    labels = ("from ping-pongs alone", f"with {points} points of {name}")
    lines = [
        (label, *(f"{percent(median)}, {percent(p95)}" for median, p95 in errors))
        for label, errors in zip(labels, JUDGED[name], strict=True)
    ]
    title = f"How far off {name} was on orfeo-epyc, where constants were chosen: median, P95"
    say.texts(title, ("", *bands), lines, {0})
    say.line(
        f"`hockney measure --operation {operation} --time 10min -o c` may bring as many; --table c uses them"
    )


def _doubt(size: api.PredictedSize) -> str:
    """How far off the simulation was where it could be seen."""
    if size.model_off is not None:
        least, most = size.model_off
        by = f"{least:.3g}" if f"{least:.3g}" == f"{most:.3g}" else f"{least:.3g} to {most:.3g}"
        return f"The simulation is off by a factor of {by} on measured rows."
    if (size.margin or 0.0) < 0:
        return "A line through the measured ranks chose it."
    if any(row.high_s for row in size.algorithms):
        return "Their intervals overlap."
    return UNCHECKED
