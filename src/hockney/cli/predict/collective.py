"""`hockney predict` of a collective: a verb for each, and its table for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table

from hockney.predict.collective_options import CollectiveCase
from hockney.predict.verb import predict
from hockney.records.keys import COLLECTIVES
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_bytes, format_time

with later():
    from hockney.predict.every_algorithm import predictions
    from hockney.predict.from_model import FITTED, MEASURED


LEAST_MARGIN = 0.005
"""By less than this, which rounds to 0 %, nothing is called fastest."""


def _enter(operation: str) -> Callable[..., None]:
    @verb(
        operation,
        examples=f"""
hockney predict {operation} --ranks 1048576 --algorithm all --machine orfeo_thin
hockney predict {operation} --ranks 128 --bytes 8 --bytes 1MiB --system orfeo-epyc --mapping core
hockney predict {operation} --ranks 200 --bytes 64KiB --table table.csv.gz --system orfeo-epyc --mapping core
hockney predict {operation} --ranks 512 --bytes 64KiB --machine bluegene_p --topology torus:8x8x8
hockney predict {operation} --ranks 64 --bytes 64MiB --machine orfeo_thin --segment best
""",
        of=predict,
    )
    def command(case: CollectiveCase, as_json: JsonOption = False) -> None:
        """The time of a collective by every algorithm.

        Each algorithm is simulated with the machine's point-to-point costs (or those of a description of the
        system, as a rough bound), or, with --table, calibrated on measured collectives, with intervals. Where
        ranks are symmetric, one stands for all (`by_class`); where each further rank adds the same round, a line
        through two small numbers of ranks gives the time (`closed_form`). The answer names the best algorithm
        with its margin, or says that it cannot be told apart.
        """
        case = case.model_copy(update={"operation": operation})
        with say.progress(quiet=as_json or case.table is None) as progress:
            answers = predictions(case, progress)
        if as_json:
            say.json({"operation": operation, "ranks": case.ranks, "predictions": answers})
            return
        for answer in answers:
            _show(case, answer)

    return command


for _operation in COLLECTIVES:
    _enter(_operation)


def _show(case: CollectiveCase, answer: dict[str, Any]) -> None:
    size = f" of {format_bytes(answer['bytes'])}" if COLLECTIVES[case.operation].has_size else ""
    on = counted(case.ranks or 0, "rank")
    table = Table(title=f"{case.operation}{size} on {on}, from {answer['origin']}", box=None)
    for heading in ("algorithm", "time", "95 % interval", "method", "exact", "asymptotic", "dominant"):
        table.add_column(
            heading, justify="right" if heading == "time" else "left", no_wrap=heading == "algorithm"
        )
    for row in answer["algorithms"]:
        known = row["time_s"] is not None
        interval = "–"
        if row["low_s"]:
            low, high = format_time(row["low_s"]), row["high_s"]
            interval = f"{low} to {format_time(high)}" if high else f"≥ {low}"
        table.add_row(
            row["algorithm"] + _segment(row),
            format_time(row["time_s"]) if known else "–",
            interval,
            row["method"],
            row["formula"] or row["note"],
            row["asymptotic"],
            row["dominant"],
        )
    say.table(table)
    say.line(_verdict(answer))
    if corrected := _corrections(answer["algorithms"]):
        say.line(corrected)
    if answer["bounds"]:
        latency, volume = (format_time(answer["bounds"][name]) for name in ("latency_s", "volume_s"))
        say.line(f"no algorithm is faster than {latency} (latency) or {volume} (bytes)")
    for name, why in answer["refused"].items():
        say.line(f"{name}: {why}")
    if any(row["flat_B"] for row in answer["algorithms"]):
        say.line("segments: the best of those simulated; in brackets, those that are slower by 5 % at most")
    for warning in answer["warnings"]:
        say.warn(warning)


def _segment(row: dict[str, Any]) -> str:
    """The best segment that was searched for, and the sizes that do as well within 5 %."""
    if row["segment_B"] is None:
        return ""
    best = f"segments of {format_bytes(row['segment_B'])}" if row["segment_B"] else "whole"
    low_B, high_B = row["flat_B"]
    return f", {best}" + (f" ({format_bytes(low_B)} to {format_bytes(high_B)})" if low_B < high_B else "")


def _corrections(rows: Sequence[dict[str, Any]]) -> str:
    """What was simulated and what the correction adds to it, and how far it is a schedule-blind surface's."""
    corrected = [row for row in rows if row["readable_s"] is not None]
    if not corrected:
        return ""
    return "; ".join(
        f"{row['algorithm']}: {format_time(row['readable_s'])} "
        + ("by its formula" if row["method"] in (FITTED, MEASURED) else "simulated")
        + f", {row['correction']:+.1%} by what was measured around"
        + (f" (weight of the surface: {row['weight']:.2g})" if row["weight"] else "")
        for row in corrected
    )


def _verdict(answer: dict[str, Any]) -> str:
    if answer["best"] is None:
        return "no time is known, only what it takes at least"
    if sum(row["time_s"] is not None for row in answer["algorithms"]) > 1 and answer["margin"] is None:
        return "nothing is sent"
    rivals = ", ".join(answer["not_told_apart_from"])
    if answer["margin"] is None:
        return f"only {answer['best']} was predicted" + (f"; {rivals} may be as quick" if rivals else "")
    if answer["told_apart"]:
        return f"{answer['best']} wins by {_by(answer['margin'])} over the next"
    if answer["margin"] < LEAST_MARGIN:
        return f"{answer['best']} cannot be told from {rivals}"
    return f"{answer['best']} is predicted fastest, by {_by(answer['margin'])}, but cannot be told from {rivals}"


def _by(margin: float) -> str:
    return f"{margin:.0%}" if round(margin, 2) < 1 else f"a factor of {1 + margin:.3g}"
