"""`hockney predict bcast|scatter|gather|reduce|allreduce`: the time of a collective by every algorithm.
`hockney predict allgather|reduce_scatter|alltoall|barrier`: the time of a collective by every algorithm.
"""

from __future__ import annotations

from collections.abc import Callable

from hockney import api
from hockney.cli.predict import predict
from hockney.options.predict import COLLECTIVES, CollectiveCase
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import counted, format_bytes, format_interval, format_time

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
            answer = api.predict_collective(case, progress)
        if as_json:
            say.json(answer)
            return
        for size in answer.predictions:
            _show(answer, size)

    return command


for _operation in COLLECTIVES:
    _enter(_operation)


def _show(answer: api.PredictedCollective, size: api.PredictedSize) -> None:
    of_size = f" of {format_bytes(size.bytes)}" if COLLECTIVES[answer.operation].has_size else ""
    title = f"{answer.operation}{of_size} on {counted(answer.ranks, 'rank')}, from {size.origin}"
    say.rows(title, size.algorithms, COLUMNS)
    say.line(_verdict(size))
    if corrected := "; ".join(_correction(row) for row in size.algorithms if row.readable_s is not None):
        say.line(corrected)
    if size.bounds:
        latency, volume = (format_time(size.bounds[name]) for name in ("latency_s", "volume_s"))
        say.line(f"no algorithm is faster than {latency} (latency) or {volume} (bytes)")
    for name, why in size.refused.items():
        say.line(f"{name}: {why}")
    if any(row.flat_B for row in size.algorithms):
        say.line("segments: the best of those simulated; in brackets, those that are slower by 5 % at most")
    for warning in size.warnings:
        say.warn(warning)


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
    Column("exact", lambda row: row.formula or row.note),
    Column("asymptotic", "asymptotic"),
    Column("dominant", "dominant"),
)


def _correction(row: api.AlgorithmTime) -> str:
    """What was simulated and what the correction adds to it, and how far it is a schedule-blind surface's."""
    by = "by its formula" if row.method in ("fitted", "measured") else "simulated"
    weight = f" (weight of the surface: {row.weight:.2g})" if row.weight else ""
    share = f"{row.correction:+.1%} by what was measured around{weight}"
    return f"{row.algorithm}: {format_time(row.readable_s or 0.0)} {by}, {share}"


def _verdict(size: api.PredictedSize) -> str:
    if size.best is None:
        return "no time is known, only what it takes at least"
    if sum(row.time_s is not None for row in size.algorithms) > 1 and size.margin is None:
        return "nothing is sent"
    rivals = ", ".join(size.not_told_apart_from)
    if size.margin is None:
        return f"only {size.best} was predicted" + (f"; {rivals} may be as quick" if rivals else "")
    by = f"{size.margin:.0%}" if round(size.margin, 2) < 1 else f"a factor of {1 + size.margin:.3g}"
    if size.told_apart:
        return f"{size.best} wins by {by} over the next"
    if size.margin < LEAST_MARGIN:
        return f"{size.best} cannot be told from {rivals}"
    return f"{size.best} is predicted fastest, by {by}, but cannot be told from {rivals}"
