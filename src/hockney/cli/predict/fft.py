"""`hockney predict fft`: slabs or pencils, and from how many ranks on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hockney import api
from hockney.cli.predict import predict
from hockney.options.predict import FftCase
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.say import Column
from hockney.units import format_bytes, format_interval, format_size, format_time


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
    answer = api.predict_fft(case)
    if as_json:
        say.json(answer)
        return
    lines = [line for decision in answer.decisions for line in _lines(decision)]
    say.rows(f"transpositions of an FFT of {answer.size}³, from {answer.origin}", lines, COLUMNS)
    say.line(answer.why)
    say.warnings(answer.warnings)


class _DivisionLine(NamedTuple):
    """A division as it is printed, or why there is none of this name."""

    ranks: str
    division: str
    time: str = "–"
    interval: str = ""
    messages: str = ""
    sent: str = ""
    transpositions: str = ""
    dominant: str = ""
    is_faster: str = ""


COLUMNS = (
    Column("ranks", "ranks", is_number=True),
    Column("division", "division"),
    Column("time", "time", is_number=True),
    Column("95 % interval", "interval"),
    Column("messages", "messages", is_number=True),
    Column("bytes sent", "sent"),
    Column("all-to-all", "transpositions"),
    Column("dominant", "dominant"),
    Column("", "is_faster"),
)


def _lines(decision: api.FftDecision) -> Iterator[_DivisionLine]:
    ranks = f"{decision.ranks:,}"
    for number, division in enumerate(decision.divisions):
        is_faster = decision.best == division.division and len(decision.divisions) > 1
        yield _DivisionLine(
            "" if number else ranks,
            division.division + ("" if len(division.grid) == 1 else f", {division.grid[0]} × {division.grid[1]}"),
            format_time(division.time_s),
            format_interval(division.low_s, division.high_s),
            f"{division.messages:,}",
            format_size(division.sent_B),
            ", ".join(f"{part.algorithm} of {format_bytes(part.block_B)}" for part in division.transpositions),
            division.row.dominant,
            ("faster" if decision.told_apart else "faster, within the error") if is_faster else "",
        )
    for name, why in decision.refused.items():
        yield _DivisionLine("" if decision.divisions else ranks, name, transpositions=why)
