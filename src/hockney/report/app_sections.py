"""Sections on applications: their registry, their runs, and the machine file that predicts the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeVar

from hockney.machine.file import Machine
from hockney.machine.placement import Placement
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.machine.provenance import half
from hockney.records.answers import Answer
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine
from hockney.report.application import apps
from hockney.report.marks import percent
from hockney.report.page import Contribution as Contribution
from hockney.report.page import Section
from hockney.report.page import page_id as page_id
from hockney.report.run_tables import plain
from hockney.units import counted

T = TypeVar("T")
Launches = Mapping[str, LaunchLine]
"""By their id."""

WIDE = 0.1
"""Half the width of an interval over the median, above which the page warns of a run."""

USUAL = ("", "default")
"""The variant of a launch without settings of its own."""


@dataclass(frozen=True)
class Basis:
    """A machine file, the words for it (`origin`), and the launches of the runs by their id."""

    machine: Machine
    origin: str
    launches: Launches = field(default_factory=dict)
    kept: dict[object, Any] = field(default_factory=dict, compare=False)
    """Results that a section computes from the file once and uses for each run, by keys of its own."""

    def refused(self, record: AppRecord) -> str:
        """The reason why the file cannot predict this run: another MPI, system or variant; empty if it can."""
        libraries = [library.name for library in self.machine.mpi if library.name]
        if libraries and record.mpi and record.mpi not in libraries:
            return f"{self.origin} is of {', '.join(libraries)}, not of {record.mpi}"
        system = self.machine.system.name
        if system and record.system and record.system != system:
            return f"{self.origin} is of {system}, not of {record.system}"
        if not self._entries(record):
            return f"{self.origin} has no messages of variant {record.variant or 'default'}"
        return ""

    def _entries(self, record: AppRecord) -> list[Any]:
        same = USUAL if record.variant in USUAL else (record.variant,)
        of_library = ("", record.mpi) if record.mpi else None
        found = [
            entry
            for entry in self.machine.point_to_point
            if entry.variant in same and (not of_library or entry.other.get("mpi", "") in of_library)
        ]
        # Of messages at one distance those by the run's own mapping, where there are some.
        own = {(each.operation, each.locality, each.cache) for each in found if each.mapping == record.mapping}
        return [
            entry
            for entry in found
            if entry.mapping == record.mapping or (entry.operation, entry.locality, entry.cache) not in own
        ]

    def of(self, record: AppRecord) -> Machine:
        """The file with only those messages that are of this run's variant and library."""
        return self.machine.model_copy(update={"point_to_point": self._entries(record)})

    def placement(self, record: AppRecord) -> Placement:
        """The places of the run's ranks. RequestError if its launch did not record them."""
        launch = self.launches.get(record.launch, LaunchLine(id=record.launch))
        return placement_of_launch(launch, record.ranks)


@dataclass
class Runs:
    """All runs of one application; `basis` is None without a machine file.

    `place_of` says where the ranks of a run were, None where nobody knows.
    """

    records: Sequence[AppRecord]
    basis: Basis | None = None
    place_of: Callable[[AppRecord], Placement | None] = lambda _: None


def applications(
    records: Sequence[AppRecord],
    basis: Basis | None,
    progress: Callable[[str], None],
    place_of: Callable[[AppRecord], Placement | None] = lambda _: None,
) -> Contribution:
    """A section for each application, in the order of their first runs.

    Runs of an application that this version does not know are listed with what every record holds.
    """
    every = Contribution()
    for name in dict.fromkeys(record.operation for record in records):
        progress(f"drawing {name}")
        draw = apps.get(name).part("section").section if name in apps.names() else _unknown
        every.add(draw(Runs([record for record in records if record.operation == name], basis, place_of)))
    every.warnings[:0] = [*_about_runs(records), *_about_times(every.timed)]
    return every


UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, ZeroDivisionError)
"""Exceptions that reading an answer of another version may raise."""


def readable(
    records: Sequence[AppRecord], read: Callable[[AppRecord], T], page: Section, contribution: Contribution
) -> list[T]:
    """The result of `read` for each run; runs that it cannot read are listed on the page, with a warning."""
    understood: list[T] = []
    other: list[AppRecord] = []
    for record in records:
        try:
            understood.append(read(record))
        except UNREADABLE:
            other.append(record)
    if other:
        page.tables.append(plain(other))
        contribution.warnings.append(
            f"{records[0].operation}: {len(other)} of {len(records)} runs have answers that this version of "
            "hockney cannot read; they are only listed."
        )
        contribution.runs += as_data(other)
        contribution.timed += other
    return understood


def is_readable(record: AppRecord, kind: type[Answer]) -> bool:
    """Whether this version understands what a run answered."""
    try:
        record.answer.read_as(kind)
    except ValueError:
        return False
    return True


def _unknown(runs: Runs) -> Contribution:
    name = runs.records[0].operation
    section = Section(
        page_id(name),
        name,
        "An application that this version of hockney does not know.",
        tables=[plain(runs.records)],
        is_application=True,
    )
    warning = f"{name}: this version of hockney does not know the application; its runs are only listed."
    return Contribution([section], [warning], as_data(runs.records), list(runs.records))


def errors_in_words(errors: Sequence[float]) -> str:
    """Number, median and largest of relative errors of predictions; empty if there are none."""
    if not errors:
        return ""
    sizes = [abs(error) for error in errors]
    return f"{len(sizes)} predicted, |error| median {percent(median(sizes))}, largest {percent(max(sizes))}"


def as_data(records: Sequence[AppRecord]) -> list[dict[str, Any]]:
    """The values that every run has, whatever its program."""
    names = ("operation", "ranks", "mapping", "variant", "mpi", "time_s", "low_s", "high_s")
    return [{name: getattr(record, name) for name in names} for record in records]


def _about_runs(records: Sequence[AppRecord]) -> list[str]:
    """Warnings of wrong results and shared cores, the worse first."""
    total = len(records)
    warnings = []
    if wrong := [record for record in records if record.answer.verified is False]:
        warnings.append(f"Wrong results in {len(wrong)} of {total} runs of applications ({_names(wrong)}).")
    if crowded := [record for record in records if record.oversubscribed]:
        warnings.append(
            "Oversubscribed: there were more ranks than cores, so times contain waiting for a core "
            f"({len(crowded)} of {counted(total, 'run')} of applications: {_names(crowded)})."
        )
    return warnings


def _about_times(records: Sequence[AppRecord]) -> list[str]:
    """Warnings of wide and of missing intervals."""
    total = len(records)
    warnings = []
    widths = {
        index: (record.high_s - record.low_s) / 2 / record.time_s
        for index, record in enumerate(records)
        if record.low_s is not None and record.high_s is not None and record.time_s > 0
    }
    if wide := [index for index, width in widths.items() if width > WIDE]:
        worst = max(wide, key=lambda index: widths[index])
        warnings.append(
            f"{len(wide)} of {total} runs of applications have an interval wider than ±{percent(WIDE)}; widest: "
            f"{half(widths[worst])} ({records[worst].operation} on {counted(records[worst].ranks, 'rank')}). The "
            "machine was not quiet, or the runs were few."
        )
    if bare := [record for record in records if record.low_s is None]:
        warnings.append(
            f"No interval of {len(bare)} of {counted(total, 'run')} of applications: fewer than six repetitions."
        )
    return warnings


def _names(records: Sequence[AppRecord]) -> str:
    return ", ".join(dict.fromkeys(record.operation for record in records))
