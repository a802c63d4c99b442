"""`hockney predict fft`: slabs or pencils, and from how many ranks on."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from hockney.predict.fft_options import FftCase
from hockney.predict.verb import predict
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import counted, format_bytes, format_bytes_rounded, format_time

with later():
    from hockney.api.predictions import fft_decisions, fft_row, fft_together
    from hockney.predict.fft import (
        PENCILS,
        SLABS,
        Division,
        FftDecision,
        Together,
        Transposition,
        crossover,
        nearest_together,
    )


@verb(
    "fft",
    examples="hockney predict fft --size 1024 --ranks 256-65536 --machine bluegene_p\n"
    "hockney predict fft --size 512 --ranks 64-4096 --machine bluegene_p --topology torus:16x16x16 --json\n"
    "hockney predict fft --size 1024 --ranks 96,960 --machine orfeo_thin --algorithm pairwise",
    of=predict,
)
def fft(case: FftCase, as_json: JsonOption = False) -> None:
    """Slabs (1-D) or pencils (2-D) for a three-dimensional FFT: what the transpositions of each take.

    One all-to-all of all ranks against two of groups at once, simulated from the costs of messages. Arithmetic,
    which is the same in both, and copies are left out. All pairs of ranks are as far apart as the farthest
    measured.
    """
    decisions, origin, warnings = fft_decisions(case)
    together = fft_together(case)
    begins = crossover(decisions)
    if as_json:
        say.json(
            {
                "size": case.size,
                "origin": origin,
                "decisions": [_data(decision) for decision in decisions],
                "pencils_from_ranks": begins,
                "why": _why(decisions, begins),
                "measured_together": [vars(each) for each in together],
                "warnings": warnings,
            }
        )
        return
    _show(case.size, decisions, origin)
    say.line(_why(decisions, begins))
    if near := nearest_together(together, decisions):
        say.line(_together(near, case.topology))
    for warning in dict.fromkeys(warnings):
        say.warn(warning)


def _data(decision: FftDecision) -> dict[str, Any]:
    return {
        "ranks": decision.ranks,
        "divisions": [
            {
                **fft_row(way),
                "grid": list(way.grid),
                "transpositions": [vars(part) for part in way.transpositions],
            }
            for way in decision.divisions
        ],
        "refused": decision.refused,
        **(decision.verdict if decision.divisions else {"best": None}),
    }


def _show(size: int, decisions: list[FftDecision], origin: str) -> None:
    table = Table(title=f"transpositions of an FFT of {size}³, from {origin}", box=None)
    for heading in (
        "ranks",
        "division",
        "time",
        "95 % interval",
        "messages",
        "bytes sent",
        "all-to-all",
        "dominant",
    ):
        table.add_column(
            heading, justify="right" if heading in ("ranks", "time", "messages") else "left", no_wrap=True
        )
    table.add_column("")
    for decision in decisions:
        judged = decision.verdict if decision.divisions else {"best": None, "told_apart": None}
        for number, way in enumerate(decision.divisions):
            row, parts = way.row, way.transpositions
            best = judged["best"] == way.name and len(decision.divisions) > 1
            said = ("faster" if judged["told_apart"] else "faster, not told apart") if best else ""
            table.add_row(
                f"{decision.ranks:,}" if number == 0 else "",
                way.name + ("" if len(way.grid) == 1 else f", {way.grid[0]} × {way.grid[1]}"),
                format_time(row.time_s or 0.0),
                "–"
                if row.low_s is None or row.high_s is None
                else f"{format_time(row.low_s)} to {format_time(row.high_s)}",
                f"{way.messages:,}",
                format_bytes_rounded(way.sent_B),
                ", ".join(f"{part.algorithm} of {format_bytes(part.block_B)}" for part in parts),
                row.dominant,
                said,
            )
        for name, why in decision.refused.items():
            table.add_row("" if decision.divisions else f"{decision.ranks:,}", name, "–", "", "", "", why, "", "")
    say.table(table)


def _together(near: list[tuple[Together, Transposition]], topology: str) -> str:
    """The slow-down by other groups as measured nearest to what is asked, and what times above hold of it."""
    told = [
        "".join(f"{word}, " for word in (each.mpi, each.mapping and f"mapped by {each.mapping}") if word)
        + f"{each.groups} × {counted(each.ranks, 'rank')}, {each.arrangement}, {each.algorithm} of "
        + f"{format_bytes(each.block_B)}, × {each.factor:.3g}"
        + ("" if each.low is None or each.high is None else f" ({each.low:.3g} to {each.high:.3g})")
        + (", on shared cores" if each.shares_cores else "")
        + f", nearest to {part.groups:,} × {counted(part.ranks, 'rank', ',')}, {format_bytes(part.block_B)}"
        for each, part in near
    ]
    left_out = (
        f"of it the times above hold what the links of {topology} take at least"
        if topology
        else "the times above leave it out"
    )
    return "measured, all-to-alls of groups at once beside one alone: " + "; ".join(told) + f"; {left_out}"


def _why(decisions: list[FftDecision], begins: int | None) -> str:
    """Which division from where on, with the counts that decide it."""
    if begins is None:
        last = decisions[-1]
        many = counted(last.ranks, "rank", ",")
        judged = last.verdict if last.divisions else {"best": None}
        if judged["best"] is None:
            return f"on {many} neither division is possible"
        if judged["best"] == PENCILS:
            return f"on up to {many} nothing tells 2-D from 1-D apart"
        if PENCILS in last.refused:
            return f"on {many} 1-D alone is possible: {last.refused[PENCILS]}"
        return f"1-D is predicted fastest on up to {many}" + (
            "" if judged["told_apart"] else ", not told apart from 2-D"
        )
    decision = next(each for each in decisions if each.ranks == begins)
    ways = {way.name: way for way in decision.divisions}
    if SLABS not in ways:
        return f"2-D from {begins:,} ranks on: {decision.refused[SLABS]}"
    slabs, pencils = ways[SLABS], ways[PENCILS]
    return f"2-D from {begins:,} ranks on: there {_counts(pencils)}, and 1-D {_counts(slabs)}"


def _counts(way: Division) -> str:
    return (
        f"a rank sends {way.messages:,} blocks, {format_bytes_rounded(way.sent_B)}, in "
        f"{format_time(way.row.time_s or 0.0)} ({way.row.dominant or 'nothing is sent'})"
    )
