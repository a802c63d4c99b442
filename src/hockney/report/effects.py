"""Sections on effects, which a ping-pong does not show: one for each, with a part for each locality.

They begin with answers: what each costs, in the number that a reader acts on first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hockney.machine.formula import interval, quantity
from hockney.models.base import Parameter
from hockney.models.effects.base import Cell, Effect, Plot, effect_models
from hockney.models.views import VIEWS
from hockney.report.curves import LOCALITY_WORDS
from hockney.report.drawing import WIDTH_IN, Drawing
from hockney.report.explorer.chart import Axis, Chart, Line, Panel
from hockney.report.findings import Finding
from hockney.report.page import Section, SectionPart
from hockney.report.style import Style, rate_unit, styles, time_unit
from hockney.report.tables import NONE, Table, stated_with_interval
from hockney.report.views.render import cell
from hockney.units import counted, format_bytes, grouped, percent

Parameters = Mapping[str, Parameter]
FIRST_WEIGHT, A_LOCALITY, UNTOLD = 0.73, 0.1, 0.5
"""Weight of the first effect's answer, which the others follow closely; what each further locality takes off, and
what an answer that nothing could be told does."""


def of_effect(effect: Effect, where: str, anchor: str, place: int) -> list[Finding]:
    """What an effect costs at one locality, or what could not be told there; none where it was not measured.

    `where` names the locality, the `place`-th of this effect, and `anchor` is what the page shows of it.
    """
    say = _SAID.get(effect.effect)
    if say is None or effect.not_measurable:
        return []
    sentences = say(effect.parameters)
    text = sentences or _untold(effect)
    if not text:
        return []
    off = A_LOCALITY * place + (0.0 if sentences else UNTOLD)
    weight = FIRST_WEIGHT - 0.01 * list(_SAID).index(effect.effect) - off
    return [Finding(f"{effect.effect}, {where}: {text}.", anchor, max(0.0, weight), effect.effect)]


def _percent(parameter: Parameter) -> str:
    """A share; its interval spans that of each size."""
    if parameter.low is None or parameter.high is None:
        return f"{percent(parameter.value)} (no interval)"
    share = "nothing measurable" if parameter.low <= 0 <= parameter.high else percent(parameter.value)
    return f"{share} ({percent(parameter.low)} to {percent(parameter.high)} by size)"


def _bytes_between(parameter: Parameter) -> str:
    """The interval of a size; empty where it has none, or one of no width."""
    if parameter.low is None or parameter.high is None or parameter.low >= parameter.high:
        return ""
    return f"{format_bytes(int(parameter.low))} to {format_bytes(int(parameter.high))}"


def _overlap(known: Parameters) -> str:
    """What computing hides of a message; long ones first, which programs try to hide."""
    for protocol, words in (("rendezvous", "a long message"), ("eager", "an eager message")):
        sides = {
            "sender": known.get(f"overlap_send_{protocol}"),
            "receiver": known.get(f"overlap_recv_{protocol}"),
        }
        parts = [f"{_percent(share)} at the {side}" for side, share in sides.items() if share is not None]
        if parts:
            return f"computing meanwhile hides of the time of {words} {' and '.join(parts)}"
    return ""


def _synchronisation(known: Parameters) -> str:
    limit = known.get("S_B")
    if limit is None:
        return ""
    text = (
        f"a blocking send waits for its receiver if the message is longer than {format_bytes(int(limit.value))}"
    )
    if between := _bytes_between(limit):
        text += f" (95 %: {between})"
    absent = known.get("S_absent_B")
    if absent is not None and absent.value < limit.value:
        text += f"; while the receiver computes, if it is longer than {format_bytes(int(absent.value))}"
    return text


def _datatypes(known: Parameters) -> str:
    for side, other in (("below", "above"), ("above", "below")):
        block = known.get(f"hand_wins_{side}_block_B")
        if block is not None:
            size = _bytes_between(block) or format_bytes(int(block.value))
            return (
                f"packing by hand is faster than a derived datatype for blocks {side} {size}, slower {other} "
                "(a stride of twice the block)"
            )
    costs = {
        words: known[name]
        for name, words in (
            ("send_strided_block_s", "as a derived datatype"),
            ("hand_strided_block_s", "packed by hand"),
        )
        if name in known
    }
    if not costs:
        return ""
    said = [f"{stated_with_interval(cost)} {words}" for words, cost in costs.items()]
    ends = [(cost.low, cost.high) for cost in costs.values() if cost.low is not None and cost.high is not None]
    is_untold = len(ends) == 2 and max(low for low, _ in ends) <= min(high for _, high in ends)
    verdict = "; neither is faster by more than chance" if is_untold else ""
    return f"each block at a stride costs a sender {' and '.join(said)}{verdict}"


def _untold(effect: Effect) -> str:
    """The reason that most of the untold parameters share."""
    reasons = list(effect.not_identified.values())
    return f"not measurable: {max(reasons, key=reasons.count)}" if reasons else ""


def _each_of(**phrases: str) -> Callable[[Parameters], str]:
    """What is said of each parameter that is known, its number in the braces."""

    def say(known: Parameters) -> str:
        stated = {name: stated_with_interval(known[name]) for name in phrases if name in known}
        return ", ".join(phrases[name].format(number) for name, number in stated.items())

    return say


_SAID: dict[str, Callable[[Parameters], str]] = {
    "overlap": _overlap,
    "injection": _each_of(
        R_C_B_per_s="one rank sends at most {}",
        message_rate_C_per_s="{} of short messages",
        R_N_B_per_s="all ranks together {}",
    ),
    "congestion": _each_of(
        mean_congestion="when all ranks exchange in pairs at once, a message takes × {} as long",
        worst_congestion="that of the slowest pair × {}",
    ),
    "subsets": _each_of(
        greatest_factor="a collective on a subset of the ranks takes × {} as long, at most, while the other "
        "subsets do the same"
    ),
    "synchronisation": _synchronisation,
    "matching": _each_of(
        posted_entry_s="each receive posted before the right one costs {}",
        unexpected_entry_s="each message that came before the right one costs {}",
    ),
    "datatypes": _datatypes,
}


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
