"""`hockney run ring`: rings of several numbers of processes, and their lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated

from pydantic import Field

from hockney import writing
from hockney.apps.launched import Launched, Runs, Told, records
from hockney.apps.repetitions import repetitions
from hockney.apps.ring.app import RingStudy
from hockney.apps.ring.lines import RingComparison, compared, in_words
from hockney.apps.ring.picture import ring
from hockney.apps.ring.rings import of_records, process_lines, statistics_csv
from hockney.campaign.loop import Asking
from hockney.campaign.plan import AppLaunching
from hockney.machine.placement import Placement
from hockney.machine.placement_of_launch import placement_of_launch
from hockney.records.app_record import AppRecord
from hockney.records.journal import LaunchLine
from hockney.report.drawing import checked_ending, write_drawing
from hockney.report.tables import Table
from hockney.runner.session import Refused


@dataclass(frozen=True)
class RingRuns(Runs):
    """Runs of rings, and their curves."""

    curves: list[RingComparison]
    csv: Path | None
    figure: Path | None
    form: Annotated[str, Field(exclude=True)]

    def text(self) -> Iterator[str | Table]:
        """The runs and the lines of each curve, or lines of each process; then what was written."""
        if self.form == "table":
            yield from super().text()
        for comparison in self.curves:
            if self.form == "table":
                lines = in_words(comparison)
                yield from [comparison.curve.title, *lines] if lines else []
            else:
                for run in comparison.curve.runs:
                    yield from process_lines(run, self.form)
        for path in filter(None, (self.csv, self.figure)):
            yield f"wrote {path}"


Places = dict[tuple[str, int], Placement]
"""By launch and number of processes."""


def asking(study: RingStudy, places: Places, launched: Launched) -> Asking[AppRecord]:
    """Every ring of a study, exchanges that are compared next to each other; fills `places`.

    A given number of cycles is run once. Refused where a ring's values or tags are wrong; its record is kept and
    says so.
    """
    launch = LaunchLine(ranks=list(launched.placement))
    is_once = study.iterations is not None and study.repetitions is None
    common = {"iterations": study.iterations or 0, **repetitions(1 if is_once else study.repetitions)}
    for count, topology, exchange in product(sorted(set(study.ranks)), study.topology, study.exchange):
        asked = {"exchange": exchange, "topology": topology, **common}
        (record,) = yield launched.request("ring", asked, count)
        if not record.answer.verified:
            raise Refused(
                f"a ring of {count} processes ({exchange}, {topology}) has wrong values or tags",
                "do not use this MPI; report it to the library",
            )
        places[record.launch, count] = placement_of_launch(launch, count)


def run(told: Told, study: RingStudy, launching: AppLaunching) -> RingRuns:
    """Every ring on a launch for each mapping; files are written before it answers."""
    if study.figure is not None:
        checked_ending(study.figure)
    for path in filter(None, (study.csv, study.figure)):
        writing.expect_writable(path, "choose another place")
    places: Places = {}
    runs = [
        record
        for mapping in study.map_by
        for record in records(
            told,
            partial(asking, study, places),
            launching.model_copy(update={"ranks": max(study.ranks), "map_by": mapping}),
        )
    ]
    curves = of_records(runs, lambda record: places[record.launch, record.ranks])
    comparisons = compared(curves)
    if study.csv is not None:
        writing.replace(study.csv, statistics_csv(curves))
    if study.figure is not None:
        write_drawing(study.figure, lambda: ring({curve.curve.title: curve for curve in comparisons}))
    return RingRuns(
        [one.record for curve in curves for one in curve.runs],
        comparisons,
        study.csv,
        study.figure,
        study.form,
    )
