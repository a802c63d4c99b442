"""Whether campaigns of one machine agree: measured in turns, quiet and beside busy processes, in one run.

    .venv/bin/python bench/repeatability --mpi .venv/bin/mpicc
    .venv/bin/python bench/repeatability --mpi .venv/bin/mpicc --quick
    .venv/bin/python bench/repeatability --mpi .venv/bin/mpicc --collectives
    .venv/bin/python bench/repeatability --from FOLDER

Five campaigns of ping-pongs as `hockney measure` takes them (--quick: as `hockney measure --quick` does, in about
three minutes), every second one beside one busy process. For every ordered pair A, B at a level
that both have, the model of A predicts the points of B, brought to the reference of B as `hockney diff` does
it; beside it stands what it predicts as it was measured. `hockney diff` compares them: as
measured, and with 15 % multiplied into all times of B, which it is to find; references are left as they are. A
pair without a common level disagrees.

With --collectives: bcast and allreduce by all algorithms, quickly, twice quiet, between them once beside one busy
process on each core. Winners of each operation and size are to agree or to be called equal (the interval of their
ratio lies within ±5 % in both campaigns, or they make the same schedule of two ranks); loaded times that are more
than 15 % from the quiet ones must be marked, as the report marks them (`hockney.machine.measured`).

The levels are those that the references of the campaigns tell. An older Hockney (--hockney) records none: its
campaigns are judged as they are, and the output says so. Exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.repeatability import messages, winners
from bench.repeatability.bars import Bar
from bench.repeatability.campaigns import (
    BUSY,
    PINGPONG,
    Hockney,
    at_levels,
    collectives_at_levels,
    conditions,
    folders,
    level_words,
    measure_in_turns,
    slowed,
)

from hockney.errors import RequestError
from hockney.units import format_bytes, format_time

RANKS = 2
CAMPAIGNS, LAUNCHES = 5, 3
MOST_LISTED = 20


def main() -> int:
    """Measure, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collectives", action="store_true", help="judge bcast and allreduce, not ping-pongs")
    parser.add_argument("--quick", action="store_true", help="ping-pongs as `hockney measure --quick` takes them")
    parser.add_argument("--mpi", default="auto", help="as in `hockney measure --mpi`")
    parser.add_argument("--campaigns", type=int, help=f"default {CAMPAIGNS}; of collectives 3")
    parser.add_argument("--launches", type=int, help=f"of each campaign; default {LAUNCHES}; of collectives 1")
    parser.add_argument("--sizes", help="as in `hockney measure --bytes`, for a trial of the bench")
    parser.add_argument("--algorithms", default="all", help="of collectives, for a trial of the bench")
    parser.add_argument("--hockney", type=Path, help="executable of the Hockney to judge; default this one")
    parser.add_argument("--keep", type=Path, help="new folder in which the campaigns are kept")
    parser.add_argument("--from", type=Path, dest="measured", help="judge the campaigns that --keep kept here")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    hockney = Hockney([str(arguments.hockney)]) if arguments.hockney else Hockney()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            kept = arguments.measured or arguments.keep or Path(temporary)
            if not arguments.measured:
                measure(hockney, kept, arguments)
            if arguments.collectives:
                result, bars = judge_collectives(folders(kept))
            else:
                result, bars = judge_messages(hockney, folders(kept), Path(temporary))
    except RequestError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return 2
    print("\n".join(map(str, bars)))
    if arguments.json:
        result["bars"] = [asdict(bar) for bar in bars]
        # An infinite error is one that could not be had.
        text = json.dumps(finite(result), indent=2, allow_nan=False)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 0 if all(bar.holds for bar in bars) else 1


def measure(hockney: Hockney, into: Path, arguments: argparse.Namespace) -> None:
    """The campaigns that are asked for."""
    operations = ["--operation", PINGPONG]
    if not arguments.hockney:
        # Which level is common differs from campaign to campaign: all that hold long are to be complete.
        operations += ["--level", "all"]
    campaigns, launches = CAMPAIGNS, LAUNCHES
    processors: list[int | None] = [None]
    if arguments.collectives:
        operations[1:2] = ["bcast,allreduce", "--algorithm", arguments.algorithms]
        campaigns, launches = 3, 1
        processors = [*sorted(os.sched_getaffinity(0))]
    options = [*operations, "--ranks", str(RANKS), "--mpi", arguments.mpi]
    options += ["--quick"] if arguments.quick or arguments.collectives else []
    options += ["--launches", str(arguments.launches or launches)]
    options += ["--bytes", arguments.sizes] if arguments.sizes else []
    measure_in_turns(hockney, into, conditions(arguments.campaigns or campaigns), options, processors)


def judge_messages(
    hockney: Hockney, campaigns: Sequence[Path], scratch: Path
) -> tuple[dict[str, Any], list[Bar]]:
    """Fit, compare and print every ordered pair of campaigns of ping-pongs."""
    machines, slow_machines, levels = {}, {}, {}
    for folder in campaigns:
        name = folder.name
        machines[name] = hockney.fit(folder, scratch / f"{name}.json")
        copy = slowed(folder, scratch / f"{name}-slower", messages.CHANGE)
        slow_machines[name] = hockney.fit(copy, scratch / f"{name}-slower.json")
        levels[name] = at_levels(folder, machines[name])
    known = print_levels(campaigns)
    agreements, diffs = [], []
    print(f"\n{'A':>8} {'B':>8} {'level':>9} {'points':>6} {'of B':>5} {'median':>7} {'P95':>7} {'held':>5} "
          f"{'±':>6} {'as measured':>13} {'differ':>9} {'unjudged':>8} {'found':>7}")  # fmt: skip
    for names in permutations(machines, 2):
        a, b = names
        pair = messages.agreement(names, levels[a], levels[b])
        same = hockney.diff(machines[a], machines[b])
        diff = messages.differences(names, same, hockney.diff(machines[a], slow_machines[b]))
        agreements.append(pair)
        diffs += [diff] if pair.has_common_level else []
        print_pair(pair, diff)
    agreeing = sum(pair.agrees for pair in agreements)
    print(f"\n{agreeing} of {len(agreements)} pairs keep all bars of a pair")
    print(f"{sum(diff.references for diff in diffs)} references differ, which the counts of diff leave out")
    result = {
        "levels": known,
        "pairs": [{**asdict(pair), "agrees": pair.agrees} for pair in agreements],
        "diffs": [asdict(diff) for diff in diffs],
        "agreeing": agreeing,
    }
    return result, messages.verdict(agreements, diffs)


def print_levels(campaigns: Sequence[Path]) -> dict[str, Any]:
    """Print the levels of each campaign, and return them as plain data."""
    known = {folder.name: level_words(folder) for folder in campaigns}
    for name, levels in known.items():
        words = (f"{format_time(level['reference_s'])} ({level['share']:.0%})" for level in levels)
        print(f"{name}: {', '.join(words) or 'no references: levels are skipped, all of it counts as one'}")
    return known


def print_pair(pair: messages.Agreement, diff: messages.Differences) -> None:
    """A row of the table."""
    start = f"{pair.a:>8} {pair.b:>8} "
    if not pair.has_common_level:
        print(f"{start}no common level")
        return
    level = "–" if pair.reference_s is None else format_time(pair.reference_s)
    as_measured = f"{pair.median_as_measured:.1%} {pair.p95_as_measured:6.1%}"
    print(
        f"{start}{level:>9} {pair.points:6d} {pair.compared:5.0%} {pair.median:7.1%} {pair.p95:7.1%} "
        f"{pair.held:5.0%} {pair.half_width:6.1%} {as_measured:>13} {f'{diff.differ}/{diff.compared}':>9} "
        f"{diff.not_judged:8d} {f'{diff.found}/{diff.changes}':>7}"
    )


def judge_collectives(campaigns: Sequence[Path]) -> tuple[dict[str, Any], list[Bar]]:
    """Compare and print the winners of every pair of campaigns, and the loaded points that are far off."""
    quiet = [folder for folder in campaigns if not folder.name.endswith(BUSY)]
    loaded = [folder for folder in campaigns if folder not in quiet]
    levels = {folder.name: collectives_at_levels(folder) for folder in campaigns}
    known = print_levels(campaigns)
    pairs = winners.compared(levels)
    print(
        f"\n{'A':>8} {'B':>8} {'cells':>5} {'same':>5} {'equal':>5} {'differs':>7} {'untold':>6} {'one only':>8}"
    )
    for pair in pairs:
        counts = [pair.outcomes.get(name, 0) for name in ("same winner", "equal", "differs", "cannot be told")]
        same, equal, differs, untold = counts
        print(f"{pair.a:>8} {pair.b:>8} {pair.cells:5d} {same:5d} {equal:5d} {differs:7d} {untold:6d} "
              f"{pair.only_in_one:8d}")  # fmt: skip
    beside = [levels[folder.name] for folder in quiet]
    judged = [winners.far_at_common_level(levels[folder.name], beside) for folder in loaded]
    far = [point for points, _ in judged for point in points]
    far_compared = min((share for _, share in judged), default=0.0)
    times = {name: of_campaign[0].times for name, of_campaign in levels.items()}
    marks = {name: Counter(mark for marks in all_marks(times[name]) for mark in marks) for name in times}
    for name, counts_of_marks in marks.items():
        points = all_marks(times[name])
        words = ", ".join(f"{count} {mark}" for mark, count in sorted(counts_of_marks.items())) or "none"
        print(f"{name}: {sum(map(bool, points))} of {len(points)} points are marked ({words})")
    unmarked = [point for point in far if not point.marks]
    print(f"{len(far)} loaded points are more than {winners.FAR:.0%} off, {len(unmarked)} of them without a mark")
    for point in unmarked[:MOST_LISTED]:
        operation, size_B = point.cell
        print(f"  {operation} {point.algorithm}, {format_bytes(size_B)}: {point.ratio:.3g} times the quiet time")
    result = {
        "levels": known,
        "pairs": [asdict(pair) for pair in pairs],
        "marks": marks,
        "far": [{**asdict(point), "marks": sorted(point.marks)} for point in far],
    }
    return result, winners.verdict(pairs, far, far_compared)


def all_marks(times: winners.Times) -> list[frozenset[str]]:
    """The marks of each point of a campaign."""
    return [point.marks for algorithms in times.values() for point in algorithms.values()]


def finite(value: Any) -> Any:
    """Plain data in which None stands for what is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and value - value != 0 else value


if __name__ == "__main__":
    sys.exit(main())
