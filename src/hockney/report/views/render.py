"""A machine as formulas, tables and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hockney.errors import RequestError
from hockney.machine.file import Entry, Machine
from hockney.machine.formula import (
    OVERSUBSCRIBED,
    formulas,
    latex,
    latex_text,
    published,
)
from hockney.machine.levels import level_remark
from hockney.machine.select import titles
from hockney.models.effects.base import Cell
from hockney.report.tables import NONE, Table, named, quality, regimes


def chosen(machine: Machine, model: str) -> Machine:
    """`machine` with the fits of that model only ('all': every model); RequestError where no entry has it."""
    if model == "all":
        return machine
    known = sorted({name for entry in machine.point_to_point for name in entry.fits})
    if model not in known:
        raise RequestError(
            f"no fit of model {model!r} among these entries", f"fitted: {', '.join(known) or 'none'}"
        )
    return _only(machine, lambda _: model)


def _only(machine: Machine, model: Callable[[Entry], str | None]) -> Machine:
    entries = [
        entry.model_copy(update={"fits": {name: fit for name, fit in entry.fits.items() if name == model(entry)}})
        for entry in machine.point_to_point
    ]
    return machine.model_copy(update={"point_to_point": entries})


def _titled(machine: Machine) -> Iterator[tuple[Entry, str]]:
    """Every entry with its title."""
    entries = machine.point_to_point
    return zip(entries, titles(entries), strict=True)


def as_formulas(machine: Machine) -> str:
    """System and libraries, then for each entry and model a heading and one line for each regime."""
    libraries = ", ".join(library.name or library.library for library in machine.mpi)
    blocks = [": ".join(filter(None, [machine.system.name, libraries]))]
    for entry, heading in _titled(machine):
        remark = f" ({OVERSUBSCRIBED})" if entry.oversubscribed else ""
        for name, fit in entry.fits.items():
            lines = [f"{heading} — {name}{remark}", *(f"  {line}" for line in formulas(fit))]
            if remark := level_remark(entry):
                lines.append(f"  {remark}")
            if entry.source:
                lines += [f"  {published(entry.source)}", *(f"  {note}" for note in fit.notes)]
            blocks.append("\n".join(lines))
        if not entry.fits:
            blocks.append("\n".join([f"{heading} — not fitted", *(f"  {note}" for note in entry.notes)]))
    return "\n\n".join(filter(None, blocks))


def as_latex(machine: Machine, more: Sequence[str] = ()) -> str:
    """A complete LaTeX document: one displayed equation for each entry and model, then the lines of `more`."""
    lines = [r"\documentclass{article}", r"\usepackage{amsmath}", r"\begin{document}"]
    for entry, heading in _titled(machine):
        for name, fit in entry.fits.items():
            lines += [
                "",
                rf"\noindent {latex_text(f'{heading}: {name}')}",
                rf"\[ {latex(fit)} \]",
            ]
    return "\n".join([*lines, *more, "", r"\end{document}", ""])


def as_tables(machine: Machine) -> Iterator[Table]:
    """The tables of the report for each entry with a fit: regimes, quality and named parameters of its models."""
    for entry, heading in _titled(machine):
        remark = f"; {OVERSUBSCRIBED}" if entry.oversubscribed else ""
        for kind in (regimes, quality, named):
            if entry.fits and (table := kind(entry)) is not None:
                yield replace(table, caption=f"{heading}{remark}\n{table.caption}")


def cell(value: Cell) -> str:
    """A measured point's value as text, a float to four significant digits."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
