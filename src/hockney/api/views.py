"""What `hockney show` shows of a machine file: its models as text, tables, LaTeX or data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney.errors import RequestError
from hockney.machine.build import reviewed
from hockney.machine.congestion import Congestions
from hockney.machine.file import Machine, Noise, load
from hockney.machine.locality import read
from hockney.machine.provenance import warnings_of as machine_warnings
from hockney.machine.select import matching, parse_where
from hockney.models.collectives.closed_form import collective_models
from hockney.models.views import VIEWS, View
from hockney.options.show import ShowOptions
from hockney.records.contents import is_measured
from hockney.report.tables import Table
from hockney.report.views.in_short import as_summary
from hockney.report.views.modelled import ShowAnswer as ShowAnswer
from hockney.report.views.render import as_formulas, as_latex, as_tables, chosen
from hockney.report.views.render_views import sections_latex, sections_tables, sections_text
from hockney.report.views.sections import (
    ModelSection,
    effects_known,
    of_collectives,
    of_effects,
    of_fits,
)


@dataclass(frozen=True)
class ShownMachine:
    """The part of a machine that was asked for, with its fits and further models as sections.

    Without `views` fits are shown as formulas, and the others in their exact view (in JSON in all four, as far as
    there are sections). `lines` are a summary, which stands for all of it.
    """

    path: Path | None
    part: Machine
    fits: Sequence[ModelSection] = ()
    more: Sequence[ModelSection] = ()
    views: Sequence[View] = ()
    lines: str = ""
    warnings: Sequence[str] = ()

    @property
    def _bare(self) -> Machine:
        return self.part.model_copy(update={"point_to_point": []}) if self.views else self.part

    @property
    def _usual(self) -> Sequence[View]:
        return self.views or ("exact",)

    @property
    def text(self) -> str:
        """Formulas and views, or the lines."""
        more = sections_text(self.more, self._usual, not self.views)
        parts = as_formulas(self._bare), sections_text(self.fits, self._usual, False), more
        return self.lines or "\n\n".join(filter(None, parts))

    @property
    def latex(self) -> str:
        """A LaTeX document."""
        lines = [*sections_latex(self.fits, self._usual), *sections_latex(self.more, self._usual)]
        return as_latex(self._bare, lines)

    @property
    def tables(self) -> list[Table]:
        """Tables of the fits and of the sections."""
        return [*as_tables(self._bare), *sections_tables([*self.fits, *self.more], self._usual)]

    @property
    def data(self) -> ShowAnswer:
        """The answer for `--json`."""
        return ShowAnswer.of(str(self.path), self.part, self.fits, self.more, self.views or VIEWS)


@dataclass(frozen=True)
class RunWarnings:
    """What limits trust in a campaign or a machine file, and the kind of run: quiet, disturbed or unusable."""

    warnings: list[str]
    run: Noise


FORMULAS = {"view", "model", "topology"}
"""Options that ask for formulas."""


def warnings_of(path: Path) -> RunWarnings:
    """Of a machine file, a campaign folder or a tidy table; RequestError where it is none of them."""
    if is_measured(path):
        _, said = reviewed(read(path))
        return RunWarnings(said.warnings, said.noise)
    machine = load(path)
    return RunWarnings(machine_warnings(machine), machine.provenance.noise)


def show(options: ShowOptions) -> ShownMachine:
    """What the options choose of a machine file.

    RequestError for what the file does not have, and for options that do not go together.
    """
    operation = options.operation
    machine = load(options.machine)
    is_collective = operation in collective_models.names()
    is_effect = operation in effects_known(machine)
    said = options.model_fields_set
    if "format_" not in said and (is_collective or is_effect or said & FORMULAS):
        options = options.model_copy(update={"format_": "formulas"})
    format_ = options.format_
    part = machine.model_copy(update={"point_to_point": []})
    if not is_collective and not is_effect:
        part = _part(machine, options)
    views = [view for view in VIEWS if options.view in ("all", view)]
    if options.topology and format_ != "json" and "bounded" not in views:
        raise RequestError("--topology applies to bounds alone", "add --view bounded, or all")
    needs_bounds = format_ == "json" or "bounded" in views
    congestions = Congestions(machine, options.topology) if needs_bounds else None
    fits = of_fits(part, congestions) if format_ == "json" or views else []
    more: list[ModelSection] = []
    # Effects have no cache and no models of one's choice, collectives no locality either.
    where = parse_where(options.where)
    only = {*where, *options.model_fields_set & {"operation", "locality", "model"}}
    if is_effect or not only - {"locality", "variant"}:
        more += of_effects(machine, operation, options.locality, where.get("variant"))
    if is_collective or not only:
        more += of_collectives(machine, operation)
    lines = as_summary(part) if format_ == "summary" else ""
    warnings = machine.provenance.warnings if format_ != "json" else ()
    return ShownMachine(options.machine, part, fits, more, views, lines, warnings)


def _part(machine: Machine, options: ShowOptions) -> Machine:
    """The machine with the point-to-point entries and models that the options choose."""
    if not machine.point_to_point and options.operation is None:
        return machine
    keys = {"operation": options.operation, "locality": options.locality, **parse_where(options.where)}
    part = machine.model_copy(update={"point_to_point": matching(machine, keys)})
    if not part.point_to_point:
        return part
    usual = "piecewise" if options.format_ in ("formulas", "latex") else "all"
    return chosen(part, options.model or usual)
