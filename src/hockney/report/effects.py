"""Sections on effects, which a ping-pong does not show: one for each effect, with a part for each locality."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.machine.formula import interval, quantity
from hockney.models.effects.base import Effect, effect_models
from hockney.models.views import VIEWS
from hockney.report.curves import LOCALITY_WORDS
from hockney.report.effect_figures import column, figures
from hockney.report.effect_findings import of_effect
from hockney.report.page import Section, SectionPart
from hockney.report.tables import NONE, Table
from hockney.report.views.render import cell


def sections(effects: Sequence[Effect]) -> list[Section]:
    """One section for each effect, in the order of the file."""
    result = []
    for name in dict.fromkeys(effect.effect for effect in effects):
        group = [effect for effect in effects if effect.effect == name]
        section = Section(f"effect-{name}", name.capitalize(), effect_models.meaning(name))
        for number, effect in enumerate(group):
            if effect.not_measurable:
                continue
            part = _part(effect, number, group)
            shown = f"figure-{part.figures[0].name}" if part.figures else section.id
            section.findings += of_effect(effect, _where(effect, group, ()), shown, len(section.parts))
            if not section.parts:
                # What stands open: the first locality's.
                section.figures, part.figures = part.figures[:1], part.figures[1:]
                section.tables, part.tables = part.tables[:1], part.tables[1:]
            section.parts.append(part)
        hidden = [f"{_where(effect, group)}: not measurable: {effect.not_measurable}" for effect in group]
        section.note = ". ".join(
            text for text, effect in zip(hidden, group, strict=True) if effect.not_measurable
        )
        result.append(section)
    return result


def parameters_table(effect: Effect) -> Table:
    """Each parameter with its interval; one that is not identified, with the measurement that would settle it."""
    rows = [
        [name, quantity(parameter.value, parameter.unit), interval(parameter), ""]
        for name, parameter in effect.parameters.items()
    ]
    rows += [[name, NONE, NONE, f"not identified: {how}"] for name, how in effect.not_identified.items()]
    return Table("Parameters", ["parameter", "value", "95 % interval", ""], rows, frozenset({0, 3}))


def views_table(effect: Effect) -> Table:
    """The model in its four views."""
    rows = [[view, statement.text, statement.where] for view in VIEWS for statement in effect.views.of(view)]
    return Table("The model in four views", ["view", "statement", "where"], rows, frozenset({0, 1, 2}))


def _where(effect: Effect, among: Sequence[Effect], always: Sequence[str] = ("mpi", "variant")) -> str:
    """The locality of an effect, what is `always` said of it, and what tells it from others."""
    words = [LOCALITY_WORDS.get(effect.locality or "", effect.locality or "")]
    for name in ("mpi", "variant", "mapping", "system", "placement"):
        if name in always or len({getattr(other, name) for other in among}) > 1:
            words.append(str(getattr(effect, name)))
    return ", ".join(word for word in words if word and word != "default") or "all ranks"


def _part(effect: Effect, number: int, among: Sequence[Effect]) -> SectionPart:
    title = _where(effect, among)
    name = f"effect-{effect.effect}" + (f"-{number + 1}" if number else "")
    tables = [parameters_table(effect), views_table(effect)]
    return SectionPart(
        name,
        title,
        _points(effect),
        figures(effect, name, f"{effect.effect}, {title}"),
        [table for table in tables if table.rows],
        notes=list(effect.notes),
    )


def _points(effect: Effect) -> Table:
    names = list(dict.fromkeys(name for row in effect.points for name in row))
    units = [column(name) for name in names]
    headings = [f"{label} [{unit}]" if unit else label for label, unit in units]
    rows = [[cell(row.get(name)) for name in names] for row in effect.points]
    text = {i for i, name in enumerate(names) if any(isinstance(row.get(name), str) for row in effect.points)}
    return Table("What was measured", headings, rows, frozenset({0, *text}))
