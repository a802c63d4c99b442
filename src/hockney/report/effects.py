"""Sections on effects, which a ping-pong does not show: one for each effect, with a part for each locality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hockney.machine.formula import interval, quantity
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.models.views import VIEWS
from hockney.report.curves import LOCALITY_WORDS
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.effect_findings import of_effect
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.page import Section, SectionPart
from hockney.report.style import Style, rate_unit, styles, time_unit
from hockney.report.tables import NONE, Table
from hockney.report.views.render import cell
from hockney.units import counted, grouped

MOST_SERIES = 8


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


def figures(effect: Effect, name: str, title: str) -> list[Drawing]:
    """One figure for each plot that has points; the names of their files begin with `name`."""
    drawings = []
    for number, plot in enumerate(effect.plots):
        rows = [row for row in effect.points if _selected(row, plot) and _drawable(row, plot)]
        if len(rows) > 1:
            drawings.append(_draw(plot, rows, f"{name}-{number + 1}" if number else name, title))
    return drawings


def column(name: str) -> tuple[str, str]:
    """The words and the unit of a column: `block_length_B` → (`block length`, `B`)."""
    if name == "bytes":
        return "message size", "B"
    for unit in ("B_per_s", "s_per_B", "per_s", "B", "s"):
        if name.endswith(f"_{unit}"):
            return name.removesuffix(f"_{unit}").replace("_", " "), unit.replace("_per_", "/")
    return name.replace("_", " "), ""


def _selected(row: Mapping[str, Cell], plot: Plot) -> bool:
    return all(row.get(name) == value for name, value in plot.where.items())


def _drawable(row: Mapping[str, Cell], plot: Plot) -> bool:
    x, y = row.get(plot.x), row.get(plot.y)
    known = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (x, y))
    return known and not (plot.log_y and float(str(y)) <= 0) and not (plot.log_x and float(str(x)) < 0)


def _draw(plot: Plot, rows: Sequence[Mapping[str, Cell]], name: str, title: str) -> Drawing:
    groups = grouped(rows, lambda row: "" if not plot.by else str(row.get(plot.by)))
    dropped = max(0, len(groups) - MOST_SERIES)
    groups = dict(list(groups.items())[:MOST_SERIES])
    drawn = [row for group in groups.values() for row in group]
    y, x = _axis(plot.y, drawn, is_log=plot.log_y), _axis(plot.x, drawn, is_log=plot.log_x)
    label, unit = column(plot.by) if plot.by else ("", "")
    looks = styles(list(groups))
    lines = [line for word, group in groups.items() for line in _lines(plot, group, looks[word], word)]
    legend = f"{label} [{unit}]" if unit else label
    heading = plot.title or f"{column(plot.y)[0]} against {column(plot.x)[0]}"
    caption = "Dots are measured, lines are the model. " if plot.model else ""
    caption += f"{dropped} further series are in the table only." if dropped else ""
    values = [float(str(row[plot.y])) for row in drawn]
    spread = f"{min(values):.3g} to {max(values):.3g} {column(plot.y)[1]}".rstrip()
    alt = f"{title}: {heading}, {counted(len(drawn), 'point')} from {spread}."
    chart = Chart([[Panel(lines, x, y)]], 3.4, WIDTH_IN * 0.62, columns=4, legend_title=legend)
    return Drawing(name, f"{title}: {heading}.", alt, caption, chart)


def _axis(name: str, rows: Sequence[Mapping[str, Cell]], *, is_log: bool) -> Axis:
    """The axis of a column, in a unit in which its values read well."""
    label, unit = column(name)
    values = np.array([float(str(row[name])) for row in rows])
    scale = 1.0
    if unit == "s":
        scale, unit = time_unit(float(values.max()))
    elif unit == "B/s":
        scale, unit = rate_unit(float(values.max()))
    elif unit == "B" and is_log:
        return Axis(label, "size")
    return Axis(f"{label} [{unit}]" if unit else label, "log" if is_log else "from_0", scale, values)


def _lines(plot: Plot, rows: Sequence[Mapping[str, Cell]], look: Style, label: str) -> list[Line]:
    """The measured points, and the model through them where there is one."""
    ordered = sorted(rows, key=lambda row: float(str(row[plot.x])))
    x, y = (np.array([float(str(row[name])) for row in ordered]) for name in (plot.x, plot.y))
    model = [row.get(plot.model) for row in ordered] if plot.model else []
    measured = Line(label, x, y, style=look, dots=4.0, width=0.0 if plot.model else 1.5)
    if not model or not all(isinstance(value, int | float) for value in model):
        return [measured]
    return [measured, Line("", x, np.array(model, dtype=np.float64), style=look, width=1.0)]
