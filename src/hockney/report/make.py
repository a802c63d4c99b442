"""The report of a campaign: the contributors to its page, in their order, and the files beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from hockney import writing
from hockney.errors import RequestError
from hockney.machine.file import Machine, load
from hockney.machine.measured import MARKS, marks_of
from hockney.machine.provenance import system_of
from hockney.models.over_ranks.points import points
from hockney.reading import text
from hockney.records import verification
from hockney.records.contents import Contents
from hockney.records.keys import POINT_TO_POINT
from hockney.records.table import collectives_in
from hockney.report import figures, messages, node_figure, points_csv, provenance
from hockney.report.drawing import Drawing, png_file, svg_file
from hockney.report.findings import of_crowding, of_results, weightiest
from hockney.report.page import Contribution, Report, Section, page_id
from hockney.report.reading import PLAIN, Progress, Reading, Wish, unsaid
from hockney.report.style import drawing_style
from hockney.report.tables import Table

# A contributor whose subject was not measured loads nothing of what it would draw with.

MACHINE = "machine.json"
"""The file in the campaign folder from which applications are predicted."""
MOST_MARKED = 400
"""Most rows of the table of marked points; the warning counts all."""


def make(measured: Path | Contents, wish: Wish = PLAIN, progress: Progress = unsaid) -> Report:
    """The report of a campaign folder or tidy table, or of what it holds; RequestError as `Reading.of`.

    Applications are predicted from the machine of the wish, otherwise from the folder's machine.json, otherwise
    from the fits made here.
    """
    return _page(Reading.of(measured, wish, progress))


def card(machine: Machine) -> Report:
    """The report of a machine file alone, which prints on a few pages."""
    return _page(Reading.of_machine(machine))


def _page(reading: Reading) -> Report:
    content, contents, subject = Contribution(), reading.contents, reading.wish.subject
    with drawing_style():
        # Before any figure is drawn, so that those that win most often have the clearest styles.
        looks = reading.looks
        for contribute in CONTRIBUTORS:
            if (contribution := contribute(reading)) is not None:
                content.add(contribution)
        notes = reading.places.notes if reading.statistics or contents.apps else []
        warnings = [*reading.warnings, *content.warnings, *notes, *not_shown(reading.frame)]
        offered = [finding for section in content.sections for finding in section.findings] + content.findings
        # Who is fastest among ranks that wait for a core says nothing of the algorithms.
        offered = of_results(contents, "provenance") if reading.is_crowded else offered
        offered += of_crowding(reading.launches, "provenance")
        described = [launch for launch in reading.launches if launch.nodes]
        return Report(
            title=_title(reading),
            lead=_lead(reading),
            content=content,
            findings=weightiest(offered, *((subject.operations, subject.parts) if subject else ())),
            warnings=warnings,
            provenance=provenance.tables(reading.launches),
            origin=reading.origin,
            explored=reading.explored,
            looks=looks,
            nodes=node_figure.of_launches(described) if described else None,
            subject=subject,
            about_messages=bool(len(reading.frame) or _has_effects(reading) or reading.is_alone),
            reading=reading,
            css=text(Path(__file__).with_name("card.css")) if reading.is_alone else "",
            # A file without warnings does not say that nothing was amiss.
            calm="" if reading.is_alone else None,
        )


def _title(reading: Reading) -> str:
    frame, apps = reading.frame, reading.contents.apps
    kind = "communication" if len(frame) or _has_effects(reading) or reading.is_alone else "applications"
    if reading.curves and not (reading.statistics or _has_effects(reading) or apps):
        kind = "point to point"
    systems = [*frame["system"].unique(), *(record.system for record in apps)]
    named = ", ".join(dict.fromkeys(filter(None, map(str, systems))))
    return f"MPI {kind} on {named or (reading.machine and reading.machine.system.name) or reading.name}"


def _lead(reading: Reading) -> list[str]:
    if reading.machine is not None:
        machine = reading.machine
        return provenance.lead(provenance.libraries_of(machine), machine.system.hosts, reading.launches)
    libraries = {*map(str, reading.frame["mpi"].unique()), *(run.mpi for run in reading.contents.apps)}
    return provenance.lead(sorted(libraries), system_of(reading.launches, ()).hosts, reading.launches)


def not_shown(frame: pd.DataFrame) -> list[str]:
    """A sentence on rows of operations that no section shows; rows are never dropped in silence."""
    counts = frame["operation"].value_counts()
    other = {str(name): int(counts[name]) for name in sorted(counts.index)}
    for name in (*POINT_TO_POINT, *collectives_in(frame)):
        other.pop(name, None)
    if not other:
        return []
    named = ", ".join(f"{name or 'no operation'} ({count})" for name, count in other.items())
    return [f"Rows of operations that this page has no section for: {named}."]


def _verification(reading: Reading) -> Contribution | None:
    if not (reading.contents.path / verification.FILE).is_file():
        return None
    from hockney.report import verified

    outcome = verification.find(reading.contents.path)
    return Contribution([verified.section(outcome)]) if outcome else None


def _messages(reading: Reading) -> Contribution | None:
    return messages.contribution(reading) if reading.curves else None


def _published(reading: Reading) -> Contribution | None:
    return messages.published(reading.published) if reading.published else None


def _models(reading: Reading) -> Contribution | None:
    """The models of collectives of a machine file alone, a section for each operation."""
    if not reading.is_alone or reading.machine is None or not reading.machine.collectives:
        return None
    from hockney.report import collective_models

    return Contribution(collective_models.sections(reading.machine))


def _collectives(reading: Reading) -> Contribution | None:
    """A section for each collective: what is fastest and how times grow, its models, and how far they are off."""
    if not reading.statistics or reading.explored is None:
        return None
    from hockney.machine.collectives import collectives_of
    from hockney.report import collective_models, collectives
    from hockney.report.predicted import judged

    machine, chosen = reading.machine, reading.statistics
    models = [
        model
        for model in (machine.collectives if machine is not None else [])
        if model.is_fitted and model.statistic == chosen.get(model.operation)
    ]
    fitted = {model.operation for model in models}
    lacking = {name: statistic for name, statistic in chosen.items() if name not in fitted}
    models += collectives_of(reading.contents, statistics=lacking)
    result = Contribution()
    for operation, statistic in chosen.items():
        reading.progress(f"drawing {operation}")
        looks, sizes_B = reading.looks, reading.wish.sizes_B
        of_it = [model for model in models if model.operation == operation]
        part = collectives.section(reading.source, operation, reading.places, sizes_B, looks, reading.explored)
        part.figures += collective_models.drawings(of_it, machine)
        part.tables += collective_models.model_table(of_it)
        part.findings += collective_models.of_models(of_it)
        part.rows = {"models": collective_models.model_rows(of_it), **part.rows}
        reading.progress(f"judging predictions of {operation}")
        judgement = judged(reading.frame, operation, reading.places.system, looks, statistic=statistic)
        part.figures += [judgement.drawing] if judgement.drawing else []
        part.note = " ".join(filter(None, [part.note, judgement.note]))
        part.evaluation = judgement.result
        result.sections.append(part)
    return result


def _has_effects(reading: Reading) -> bool:
    return reading.machine is not None and bool(reading.machine.effects)


def _effects(reading: Reading) -> Contribution | None:
    if reading.machine is None or not reading.machine.effects:
        return None
    from hockney.report import effects

    reading.progress("drawing effects")
    return Contribution(effects.sections(reading.machine.effects))


def _topology(reading: Reading) -> Contribution | None:
    if reading.machine is None or not reading.machine.topology:
        return None
    from hockney.report import topology

    return topology.contribution(reading.machine.topology)


def _marked_points(reading: Reading) -> Contribution | None:
    """Which points are marked, of all kinds of measurements, and what marks each."""
    entries = [] if reading.machine is None else reading.machine.point_to_point
    rows = [
        [where, ", ".join(mark for mark in MARKS if mark in marks)]
        for where, marks in marks_of(entries, reading.contents)
        if marks
    ]
    if not rows:
        return None
    section = Section("marked", "Marked points", "Do not rest a decision on one of these points alone.")
    cut = f", the first {MOST_MARKED} of {len(rows)}" if len(rows) > MOST_MARKED else ""
    section.tables = [Table(f"Points and marks{cut}", ["point", "marks"], rows[:MOST_MARKED], frozenset({0, 1}))]
    return Contribution([section])


def _applications(reading: Reading) -> Contribution | None:
    """The runs of applications, predicted by the machine of the wish, the folder's own, or the fits of this page.

    A machine.json of the folder that cannot be read is only a warning, since nobody named it.
    """
    if not reading.contents.apps:
        return None
    from hockney.report.app_sections import Basis, applications

    own, warnings = reading.contents.path / MACHINE, list[str]()
    machine, origin = reading.machine, "the fits of this page"
    if reading.wish.machine is not None:
        machine, origin = reading.wish.machine, "the machine file"
    elif own.is_file():
        try:
            machine, origin = load(own), MACHINE
        except RequestError as error:
            warnings.append(f"{MACHINE} of the folder is not used: {error.message}")
    launches = {launch.id: launch for launch in reading.launches}
    basis = None if machine is None else Basis(machine, origin, launches)
    contribution = applications(reading.contents.apps, basis, reading.progress, reading.places.of_run)
    contribution.warnings[:0] = warnings
    return contribution


CONTRIBUTORS: tuple[Callable[[Reading], Contribution | None], ...] = (
    _verification,
    _applications,
    _messages,
    _published,
    _collectives,
    _models,
    _effects,
    _topology,
    _marked_points,
)
"""In the order of the page: what runs were made for, then what they are made of. None: it has nothing."""


def write_html(report: Report, path: Path) -> None:
    """Write the whole page or nothing; NotWritten where that fails."""
    writing.replace(path, report.html)


def write_figures(report: Report, folder: Path) -> list[Path]:
    """Write each figure of the page, and those of curves that the page leaves out, as PNG and SVG."""
    drawings = [drawing for section in report.sections for drawing in section.drawings]
    names = {drawing.name for drawing in drawings}
    paths: list[Path] = []
    writing.make_folder(folder)
    with drawing_style():
        for drawing in drawings:
            paths += _write_figure(drawing, folder)
        for curve in report.reading.curves if report.reading else ():
            for draw, what in (figures.with_fits, "fits"), (figures.residuals, "residuals"):
                # One at a time, since a large import has a hundred of them.
                if curve.fits and report.reading is not None and f"{curve.name}-{what}" not in names:
                    paths += _write_figure(draw(curve, report.reading.context), folder)
    return paths


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write a CSV file for each curve between pairs of ranks, each collective and each application.

    Beside a collective's points stand its models, steps and crossover sizes.
    """
    paths: list[Path] = []
    writing.make_folder(folder)

    def write(name: str, text: str) -> None:
        paths.append(folder / f"{name}.csv")
        writing.replace(paths[-1], text)

    for section in report.sections:
        for name, rows in section.rows.items():
            if rows:
                write(f"{section.id}-{name}", pd.DataFrame(list(rows)).to_csv(index=False))
    if (reading := report.reading) is not None:
        for operation in reading.statistics:
            write(operation, points(reading.frame, operation).to_csv(index=False, float_format="%.12g"))
        for curve in reading.curves:
            write(curve.name, points_csv.text(curve, reading.launches))
    for name in dict.fromkeys(run["operation"] for run in report.content.runs):
        runs = pd.DataFrame([run for run in report.content.runs if run["operation"] == name])
        write(page_id(name), runs.to_csv(index=False))
    return paths


def _write_figure(drawing: Drawing, folder: Path) -> list[Path]:
    paths = [folder / f"{drawing.name}.svg", folder / f"{drawing.name}.png"]
    for path, content in zip(paths, (svg_file(drawing.figure), png_file(drawing.figure)), strict=True):
        writing.replace(path, content)
    return paths
