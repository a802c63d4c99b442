"""The report of a campaign: the page, and the files beside it.

One file, because it is the one way through a report; what stands on the page is made by modules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from hockney import writing
from hockney.errors import RequestError
from hockney.machine.build import fitted
from hockney.machine.collectives import collectives_of
from hockney.machine.file import Machine, load
from hockney.machine.levels import mixture
from hockney.machine.marks import marks_of
from hockney.machine.reservations import reservations
from hockney.machine.system import System
from hockney.models.base import models
from hockney.models.over_ranks.points import collectives_in, points, visits_of
from hockney.records.contents import Contents, at_any_level, read, unmeasured
from hockney.records.keys import POINT_TO_POINT
from hockney.records.verification import find as find_verification
from hockney.report import (
    collective_models,
    collectives,
    effects,
    figures,
    marked,
    message_findings,
    messages,
    node_figure,
    points_csv,
    provenance,
    topology,
    verified,
)
from hockney.report.answers import are_crowded, of_results, of_trust, weightiest
from hockney.report.app_sections import Basis, applications, page_id
from hockney.report.asked import asked
from hockney.report.curves import MessageCurve, by_operation, curves
from hockney.report.drawing import Drawing
from hockney.report.explorer.embed import by_wins
from hockney.report.explorer.explored import Source, explored
from hockney.report.facts import Headline, headline, in_turn, left_out, not_shown, warnings
from hockney.report.figures import Context
from hockney.report.findings import Finding
from hockney.report.judged import judged
from hockney.report.marks import Peak, SizeMark, found_peaks, marks_of_caches, percent, placed
from hockney.report.page import Section, Subject, render
from hockney.report.places import Places
from hockney.report.style import Looks, drawing_style, model_styles
from hockney.report.svg import png_file, svg_file
from hockney.report.views.collective_costs import costs_of

MACHINE = "machine.json"
"""The file in the campaign folder from which applications are predicted."""
MOST_HEADLINES = 16


@dataclass
class Report:
    """The page, its sections, and the data of the files beside it."""

    html: str
    headlines: list[Headline]
    omitted: str
    """A sentence on what the headlines leave out; empty where they show all."""
    warnings: list[str]
    curves: list[MessageCurve]
    sections: list[Section]
    launches: list[dict[str, Any]]
    context: Context
    table: pd.DataFrame
    evaluations: dict[str, dict[str, Any]]
    """Predictions of points left out, by collective."""
    applications: list[dict[str, Any]]
    """The values that a section shows, for each run of an application."""
    findings: list[Finding]
    """The answers that the page begins with."""
    unmeasured: str = ""
    """A sentence on points without a time and on how to continue; it is also a warning on the page."""

    @property
    def verdict(self) -> str:
        """The error of the headline's model on points it was not fitted to; empty if no point was held out."""
        if not self.headlines:
            return ""
        head = self.headlines[0]
        errors = next((s.held_out.get(head.model) for s in self.sections if s.id == head.curve.operation), None)
        if errors is None:
            return ""
        return (
            f"{head.curve.operation}, sizes the fit has not seen: {head.model} is off by "
            f"{percent(errors.median)} (median), {percent(errors.p95)} (P95)"
            + (f"; {errors.remark}" if errors.remark else "")
        )


def make(
    path: Path,
    peaks: Sequence[Peak] = (),
    machine: Machine | None = None,
    progress: Callable[[str], None] = lambda _: None,
    systems: Sequence[System] = (),
    *,
    any_level: bool = False,
    statistic: str = "",
    sizes_B: Sequence[int] = (),
    subject: Subject | None = None,
    contents: Contents | None = None,
) -> Report:
    """The report of a campaign folder or tidy table; the fits are those of `machine`, or made here if it is None.

    `systems` describe the placement of ranks; without them, the launches do. With `any_level`, times and fits are
    those of all levels of the machine together, and so are those of `machine`. Applications are predicted from
    `machine`, otherwise from the folder's machine.json, otherwise from the fits made here. `statistic` is that of
    all collectives that have it, `sizes_B` are drawn and fitted against ranks; a collective without them is shown
    as usual, with a warning. `subject`: what the page is for; its remarks are warnings. `contents`: what `path`
    holds, where that was read before.
    RequestError if nothing was measured, if `machine` was fitted to other launches, if the table has no row of a
    system, or if no collective has the statistic or a size.
    """
    progress(f"reading {path.name}")
    contents = _read(path) if contents is None else contents
    if any_level:
        contents = at_any_level(contents)
        machine = None if machine is None else mixture(machine)
    frame, apps, launches = contents.frame, contents.apps, contents.launches
    missing = not_measured(contents)
    wish = asked(frame, statistic, sizes_B)
    places = Places(frame, systems, launches, apps)
    origin = f"Measured values are those of {path.name}. "
    every: list[MessageCurve] = []
    marks: list[SizeMark] = []
    given = machine
    if apps and not len(frame) and not contents.effects:
        # The file then only predicts applications; its points may be those of another campaign.
        machine = None
    if machine is not None or contents.effects or set(frame["operation"].unique()) & set(POINT_TO_POINT):
        if machine is None:
            machine = fitted(contents, progress, wish.statistics)
            caveats = machine.provenance.warnings
            origin += "The models were fitted to all of them."
        else:
            caveats = [
                *reservations(machine.point_to_point, contents),
                *contents.warnings,
                *machine.provenance.warnings,
            ]
            origin += f"The fits are those of a machine file of {machine.created}."
        _belongs(machine, launches, path)
        every, marks = curves(machine), marks_of_caches(machine)
    else:
        caveats = [*reservations([], contents), *contents.warnings]
    of_collectives = [
        model
        for model in (machine.collectives if machine is not None else [])
        if model.is_fitted and model.statistic == wish.statistics.get(model.operation)
    ]
    known = {model.operation for model in of_collectives}
    lacking = {name: chosen for name, chosen in wish.statistics.items() if name not in known}
    of_collectives += collectives_of(contents, statistics=lacking)
    peaks = placed(peaks, {curve.entry.locality for curve in every}) or found_peaks(launches)
    context = Context(model_styles(models.names()), size_marks=marks, peaks=peaks)
    measured = machine.effects if machine is not None else []
    page_warnings = [
        *(subject.remarks if subject else ()),
        *warnings(every, launches, caveats),
        *effects.warnings(measured),
        *filter(None, [missing]),
        *wish.warnings,
    ]
    looks = Looks()
    costs = None if machine is None else costs_of(machine)
    visits = {name: visits_of(contents, name, chosen) for name, chosen in wish.statistics.items()}
    source = Source(path.name, frame, every, wish.statistics, launches, visits=visits)
    seen = explored([source], subject.operations if subject else ())
    if seen is not None:
        # Before any figure is drawn, so that those that win most often have the clearest styles.
        looks.of(by_wins(seen))
    first = next(iter(by_operation(every).values()), [])
    all_heads = [head for curve in first if (head := headline(curve, peaks))]
    headlines = in_turn(all_heads, MOST_HEADLINES)
    omitted = left_out(headlines, all_heads, every)
    results: dict[str, dict[str, Any]] = {}
    with drawing_style():
        sections = [one for one in [verified.section(find_verification(path))] if one is not None]
        for operation, group in by_operation(every).items():
            progress(f"drawing {operation}")
            section = messages.section(operation, group, context)
            if headlines and operation == headlines[0].curve.operation:
                section.findings += message_findings.of_headlines(headlines)
                section.findings += message_findings.of_models(operation, section.held_out, headlines[0].model)
            section.findings += message_findings.of_mappings(operation, group)
            sections.append(section)
        for operation in collectives_in(frame):
            progress(f"drawing {operation}")
            chosen = wish.statistics[operation]
            section = collectives.section(source, operation, places, sizes_B, looks, costs, seen)
            of_it = [model for model in of_collectives if model.operation == operation]
            section.figures += collective_models.drawings(of_it, machine)
            section.tables = [*collective_models.model_table(of_it), *section.tables]
            progress(f"judging predictions of {operation}")
            judgement = judged(frame, operation, places.system, looks, statistic=chosen)
            section.findings += judgement.findings
            section.figures += [judgement.drawing] if judgement.drawing else []
            section.note = " ".join(filter(None, [section.note, judgement.note]))
            results |= {operation: judgement.result} if judgement.result else {}
            sections.append(section)
        progress("drawing effects")
        sections += effects.sections(measured)
        network = topology.section(machine.topology if machine is not None else "", page_warnings)
        sections += [network] if network else []
        of_points = marked.section(marks_of(machine.point_to_point if machine is not None else [], contents))
        sections += [of_points] if of_points else []
        of_apps = applications(
            apps,
            _basis(path, given, machine, launches, page_warnings, any_level) if apps else None,
            progress,
            places.of_run,
        )
        sections += of_apps.sections
        page_warnings += [*places.notes, *of_apps.warnings, *not_shown(frame)]
        of_messages_alone = every and not (collectives_in(frame) or measured or apps)
        kind = "point to point" if of_messages_alone else "communication"
        systems_seen = [*frame["system"].unique(), *(record.system for record in apps)]
        system = machine.system.name if machine is not None else next(iter(systems_seen), "")
        offered = [one for section in sections for one in section.findings] + of_apps.findings
        # Who is fastest among ranks that wait for a core says nothing of the algorithms.
        offered = of_results(contents, "warnings") if are_crowded(launches) else offered
        findings = weightiest(
            [*offered, *of_trust(contents.levels.values(), missing, page_warnings, launches)],
            subject.operations if subject else (),
        )
        html = render(
            findings=findings,
            subject=subject,
            title=f"MPI {kind if len(frame) or measured else 'applications'} on {system or path.name}",
            lead=provenance.lead(machine, launches)
            if machine is not None
            else provenance.plain_lead({*frame["mpi"].unique(), *(record.mpi for record in apps)}, launches),
            headlines=headlines,
            omitted=omitted,
            warnings=page_warnings,
            sections=sections,
            provenance=provenance.tables(launches),
            nodes=node_figure.of_launches(launches),
            origin=origin,
            of_messages=bool(len(frame) or measured),
            explored=seen,
            looks=looks,
        )
    return Report(
        html,
        headlines,
        omitted,
        page_warnings,
        every,
        sections,
        launches,
        context,
        frame,
        results,
        of_apps.runs,
        findings,
        missing,
    )


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
        for curve in report.curves:
            for draw in (figures.with_fits, figures.residuals) if curve.fits else ():
                # One at a time, since a large import has a hundred of them.
                if f"{curve.name}-{'fits' if draw is figures.with_fits else 'residuals'}" not in names:
                    paths += _write_figure(draw(curve, report.context), folder)
    return paths


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write a CSV file for each curve between pairs of ranks, each collective and each application.

    Beside a collective's points stand its models, steps and crossover sizes.
    """
    paths = []
    writing.make_folder(folder)
    for operation in collectives_in(report.table):
        path = folder / f"{operation}.csv"
        writing.replace(path, points(report.table, operation).to_csv(index=False, float_format="%.12g"))
        paths.append(path)
    for section in report.sections:
        for name, rows in section.rows.items():
            if not rows:
                continue
            path = folder / f"{section.id}-{name}.csv"
            writing.replace(path, pd.DataFrame(list(rows)).to_csv(index=False))
            paths.append(path)
    for curve in report.curves:
        path = folder / f"{curve.name}.csv"
        writing.replace(path, points_csv.text(curve, report.launches))
        paths.append(path)
    for name in dict.fromkeys(run["operation"] for run in report.applications):
        path = folder / f"{page_id(name)}.csv"
        runs = pd.DataFrame([run for run in report.applications if run["operation"] == name])
        writing.replace(path, runs.to_csv(index=False))
        paths.append(path)
    return paths


def _write_figure(drawing: Drawing, folder: Path) -> list[Path]:
    paths = [folder / f"{drawing.name}.svg", folder / f"{drawing.name}.png"]
    for path, content in zip(paths, (svg_file(drawing.figure), png_file(drawing.figure)), strict=True):
        writing.replace(path, content)
    return paths


def _read(path: Path) -> Contents:
    """The contents of the folder or table; RequestError for a folder without any measurement."""
    contents = read(path)
    if path.is_dir() and not contents.records and not contents.apps and not contents.effects:
        raise RequestError(
            f"{path} holds no measurement"
            + (f" ({len(contents.warnings)} damaged lines)" if contents.warnings else ""),
            f"continue with `hockney measure --resume -o {path}`",
        )
    return contents


def not_measured(contents: Contents) -> str:
    """A sentence on points that the campaign could not measure; empty for a table, or if there are none."""
    points = unmeasured(contents.records, contents.failures)
    if not points:
        return ""
    more = f" and {len(points) - 1} more" if len(points) > 1 else ""
    is_joined = not isinstance(contents.plan, RequestError) and "merged" in contents.plan
    again = f"`hockney measure -o {contents.path} --resume`"
    if is_joined:
        # What was joined cannot go on; where it is from, each step of a study, too, is a campaign.
        again = "--resume of the campaign that lacks it"
    return f"Not measured: {points[0]}{more}; {again} tries again."


def _basis(
    path: Path,
    given: Machine | None,
    fitted: Machine | None,
    launches: Sequence[Mapping[str, Any]],
    page_warnings: list[str],
    any_level: bool,
) -> Basis | None:
    """The machine that predicts applications: the given file, the folder's own, or the fits of this page.

    A machine.json of the folder that cannot be read is only a warning, since nobody named it.
    """
    of_id = {str(launch.get("id")): launch for launch in launches}
    if given is not None:
        return Basis(given, "the machine file", of_id)
    own = path / MACHINE
    if own.is_file():
        try:
            return Basis(mixture(load(own)) if any_level else load(own), MACHINE, of_id)
        except RequestError as error:
            page_warnings.append(f"{MACHINE} of the folder is not used: {error.message}")
    return None if fitted is None else Basis(fitted, "the fits of this page", of_id)


def _belongs(machine: Machine, launches: Sequence[Mapping[str, Any]], path: Path) -> None:
    used = {name for entry in machine.point_to_point for name in entry.measurements.launches}
    used |= {name for effect in machine.effects for name in effect.launches}
    if launches and used and used.isdisjoint(str(launch.get("id")) for launch in launches):
        raise RequestError(
            f"the machine file was fitted to other launches than those of {path}",
            f"fit again with `hockney fit {path} -o machine.json`, or leave --machine out",
        )
    if not machine.point_to_point and not machine.effects and not machine.collectives:
        raise RequestError("the machine file holds no point-to-point fit", f"fit again with `hockney fit {path}`")
    entries = machine.point_to_point
    if entries and not any(entry.measurements.points for entry in entries):
        raise RequestError(
            f"the machine file was published, not fitted to what was measured in {path}",
            "leave --machine out; `hockney report --card` and `hockney diff` show what was published",
        )
