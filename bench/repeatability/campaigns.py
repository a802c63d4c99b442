"""Campaigns measured through the command line, quiet or beside busy processes, and read at their levels."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.repeatability.messages import CampaignAtLevel, slower
from bench.repeatability.winners import Cell, CollectiveTime, Times, TimesAtLevel

from hockney.errors import Incomplete, RequestError
from hockney.machine.build import fitted
from hockney.machine.file import Entry, load
from hockney.machine.measured import of_collectives
from hockney.records import table
from hockney.records.contents import Contents, read
from hockney.records.folder import RECORDS, TABLE
from hockney.records.levels import Level
from hockney.records.record import Record
from hockney.records.visits import at, settle, visits_by_launch
from hockney.schedule.catalogue import signature

LIMIT_S = 3600
QUIET, BUSY = "quiet", "busy"
PINGPONG = "pingpong"


@dataclass(frozen=True)
class Hockney:
    """A Hockney to judge: how it is called."""

    command: Sequence[str] = (sys.executable, "-m", "hockney")

    def measure(self, folder: Path, options: Sequence[str]) -> None:
        """Measure a campaign; RequestError where it ends other than done or incomplete."""
        self._run("measure", "-o", str(folder), *options, complete=False)

    def fit(self, folder: Path, machine: Path) -> Path:
        """The machine file of a campaign, written to `machine`."""
        self._run("fit", str(folder), "-o", str(machine))
        return machine

    def diff(self, a: Path, b: Path) -> dict[str, Any]:
        """What `diff --points --json` says of two machine files."""
        answer: dict[str, Any] = json.loads(self._run("diff", str(a), str(b), "--points", "--json"))
        return answer

    def _run(self, *words: str, complete: bool = True) -> str:
        done = subprocess.run(
            [*self.command, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
        if done.returncode not in ((0,) if complete else (0, Incomplete.exit_code)):
            raise RequestError(
                f"hockney {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}",
                "mend what it names, and run the bench again",
            )
        if done.returncode:
            print(done.stderr.strip(), file=sys.stderr)
        return done.stdout


@contextmanager
def busy(processors: Sequence[int | None]) -> Iterator[None]:
    """One process that computes without end on each of these processors; None: where the kernel puts it."""
    processes = [multiprocessing.Process(target=_spin, args=(cpu,), daemon=True) for cpu in processors]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _spin(processor: int | None) -> None:
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    parent = os.getppid()
    # A bench that was killed must not leave it behind.
    while os.getppid() == parent:
        for _ in range(1_000_000):
            pass


def conditions(campaigns: int) -> list[str]:
    """Which campaigns are quiet and which are loaded: in turns, the first quiet."""
    return [BUSY if number % 2 else QUIET for number in range(campaigns)]


def measure_in_turns(
    hockney: Hockney, into: Path, turns: Sequence[str], options: Sequence[str], processors: Sequence[int | None]
) -> None:
    """Measure one campaign after the other into `into/1-quiet`, `into/2-busy`, …."""
    for number, condition in enumerate(turns, 1):
        print(f"campaign {number} of {len(turns)}, {condition} …", file=sys.stderr)
        with busy(processors if condition == BUSY else []):
            hockney.measure(into / f"{number}-{condition}", options)


def folders(path: Path) -> list[Path]:
    """The campaigns of `measure_in_turns`, in their order; RequestError where there are fewer than two."""
    named = [folder for condition in (QUIET, BUSY) for folder in path.glob(f"*-{condition}")]
    campaigns = sorted(named, key=lambda folder: (len(folder.name.split("-")[0]), folder.name))
    if len(campaigns) < 2:
        raise RequestError(
            f"{path} holds {len(campaigns)} campaign(s) of this bench",
            "measure them with --keep FOLDER, and judge them again with --from FOLDER",
        )
    return campaigns


def slowed(folder: Path, into: Path, factor: float) -> Path:
    """A copy of a campaign, all of whose times are `factor` times as long."""
    shutil.copytree(folder, into, ignore=shutil.ignore_patterns(RECORDS, TABLE, ".lock"))
    lines = (folder / RECORDS).read_text(encoding="utf-8").splitlines()
    changed = [json.dumps(slower(json.loads(line), factor)) + "\n" for line in lines if line.strip()]
    (into / RECORDS).write_text("".join(changed), encoding="utf-8")
    return into


def at_levels(folder: Path, machine: Path) -> list[CampaignAtLevel]:
    """A campaign of ping-pongs between two ranks at each of its levels.

    At the level asked for, its models are those of the machine file, at the others they are fitted here.
    """
    contents = read(folder)
    measured_B = {record.bytes for record in contents.records if record.operation == PINGPONG}
    levels = _levels(contents)
    own = contents.choice(levels) if levels else None
    campaign = [_at(own, _entry(load(machine).point_to_point), contents, measured_B)]
    for place, level in enumerate(levels):
        if level is own:
            continue
        settled = settle(contents.records, contents.levels, at(place))
        elsewhere = {id(record) for record in settled.elsewhere}
        met = [record for record in settled.records if id(record) not in elsewhere]
        if not met:
            continue
        frame = table.rows_of(met, contents.launches)
        there = replace(contents, frame=frame, settled=settled, choice=at(place))
        campaign.append(_at(level, _entry(fitted(there).point_to_point), there, measured_B))
    return campaign


def _at(level: Level | None, entry: Entry, contents: Contents, measured_B: set[int]) -> CampaignAtLevel:
    missed_B = {record.bytes for record in contents.settled.elsewhere if record.operation == PINGPONG}
    reference_s, share = (level.reference_s, level.share) if level else (None, 1.0)
    return CampaignAtLevel(reference_s, share, entry, frozenset(measured_B - missed_B), len(measured_B))


def _levels(contents: Contents) -> Sequence[Level]:
    """The levels of the only ranks that a campaign of this bench measures; none without references."""
    return next(iter(contents.levels.values()), ())


def _entry(entries: Sequence[Entry]) -> Entry:
    return next(entry for entry in entries if entry.operation == PINGPONG)


def collectives_at_levels(folder: Path) -> list[TimesAtLevel]:
    """A campaign of collectives on the same ranks at each of its levels, the one asked for first.

    At that one, points that were met at others alone are marked, as a report does; at the others they are absent.
    """
    contents = read(folder)
    levels = _levels(contents)
    if not levels:
        return [TimesAtLevel(None, 1.0, _collective_times(contents))]
    own = contents.choice(levels)
    times = []
    for place, level in enumerate(levels):
        settled = contents.settled if level is own else settle(contents.records, contents.levels, at(place))
        missed = [] if level is own else settled.elsewhere
        there = replace(contents, settled=settled, choice=contents.choice if level is own else at(place))
        times.append(TimesAtLevel(level.reference_s, level.share, _collective_times(there, missed)))
    return sorted(times, key=lambda one: own is None or one.reference_s != own.reference_s)


def _collective_times(contents: Contents, missed: Sequence[Record] = ()) -> Times:
    """The completion times, with the marks that a report has, without those that `missed` the level."""
    skipped = set(map(id, missed))
    visits = _visits(contents)
    launches: dict[tuple[Cell, str], list[tuple[Record, set[str]]]] = {}
    for record, time in of_collectives(contents):
        if id(record) in skipped:
            continue
        launches.setdefault(_point(record), []).append((record, time.marks))
    times: dict[Cell, dict[str, CollectiveTime]] = {}
    for (cell, algorithm), of_point in launches.items():
        records = [record for record, _ in of_point]
        marks = frozenset().union(*(marks for _, marks in of_point))
        of_visits = visits_by_launch(visits[cell, algorithm], contents.levels, contents.choice)
        at_level = CollectiveTime(*pooled(records), marks, _schedule(records[0]), of_visits)
        times.setdefault(cell, {})[algorithm] = at_level
    return times


def _point(record: Record) -> tuple[Cell, str]:
    """Cell and algorithm."""
    words = (record.algorithm, record.segment_bytes, record.radix)
    return (record.operation, record.bytes), " ".join(str(word) for word in words if word is not None)


def _visits(contents: Contents) -> dict[tuple[Cell, str], list[Record]]:
    """The visits of each algorithm in each cell, in their order."""
    visits: dict[tuple[Cell, str], list[Record]] = {}
    for record in contents.records:
        if record.statistic == "completion":
            visits.setdefault(_point(record), []).append(record)
    return visits


def _schedule(record: Record) -> int | None:
    """What algorithms that make the same schedule there have in common; None: not known."""
    segment_B, radix = record.segment_bytes or 0, record.radix or 0
    size = {"ranks": record.ranks or 0, "size_B": record.bytes}
    return signature(record.operation, record.algorithm, **size, segment_B=segment_B, radix=radix)


def pooled(launches: Sequence[Record]) -> tuple[float, float | None, float | None]:
    """The median over launches, and the hull of their intervals; no interval where a launch has none."""
    lows = [record.low for record in launches if record.low is not None]
    highs = [record.high for record in launches if record.high is not None]
    is_known = len(lows) == len(highs) == len(launches)
    time_s = statistics.median(record.value for record in launches)
    return time_s, min(lows) if is_known else None, max(highs) if is_known else None


def level_words(folder: Path) -> list[Mapping[str, float]]:
    """The levels of a campaign as plain data, fastest first; none without references."""
    return [
        {"reference_s": level.reference_s, "share": level.share, "stay": level.stay}
        for level in _levels(read(folder))
    ]
