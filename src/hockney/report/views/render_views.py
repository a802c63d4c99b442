"""Sections of `hockney show` as text, tables and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.machine.formula import interval, latex_text, stated
from hockney.models.views import SYMBOLS, VIEWS, Statement, View
from hockney.report.tables import Table
from hockney.report.views.render import cell
from hockney.report.views.sections import ModelSection, parameter_line

_DASHES = {"—": "---", "–": "--", "…": r"\dots{}", "’": "'"}


def latex_words(text: str) -> str:
    """`text` for a LaTeX document of plain `article`: symbols become mathematics, unknown letters `?`."""
    parts = []
    for character in text:
        if character in SYMBOLS:
            parts.append(rf"\ensuremath{{{SYMBOLS[character].strip()}}}")
        elif character in _DASHES:
            parts.append(_DASHES[character])
        elif ord(character) < 0x180:
            parts.append(latex_text(character))
        else:
            parts.append("?")
    return "".join(parts)


def sections_text(sections: Sequence[ModelSection], views: Sequence[View], whole: bool) -> str:
    """A block with a heading for each section; with `whole` it has the parameters too."""
    blocks = []
    for section in sections:
        lines = [section.heading]
        if whole:
            lines += [f"  {parameter_line(name, parameter)}" for name, parameter in section.parameters.items()]
        lines += [
            f"  {section.word(view)}: {_line(statement)}"
            for view in views
            for statement in section.views.of(view)
        ]
        # The lines of a section without any statement say why it has none.
        if not whole and section.missing and any(section.views.of(view) for view in VIEWS):
            lines += [f"  {view}: {section.missing}" for view in views if not section.views.of(view)]
        lines += [f"  as printed: {_line(statement)}" for statement in section.as_printed]
        lines += [f"  {line}" for line in section.lines]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _line(statement: Statement) -> str:
    return f"{statement.text} — {statement.where}" if statement.where else statement.text


def sections_latex(sections: Sequence[ModelSection], views: Sequence[View]) -> list[str]:
    """Lines of a LaTeX document with amsmath: one displayed equation for each statement."""
    lines = []
    for section in sections:
        lines += ["", rf"\paragraph{{{latex_words(section.heading)}}}"]
        if section.parameters:
            listed = "; ".join(parameter_line(name, parameter) for name, parameter in section.parameters.items())
            lines.append(latex_words(listed) + r"\par")
        for view, statement in _statements(section, views):
            where = f": {statement.where}" if statement.where else ""
            lines += [rf"\noindent {latex_words(f'{view}{where}')}", rf"\[ {statement.latex} \]"]
        lines += [rf"\noindent {latex_words(line)}\par" for line in section.lines]
    return lines


def sections_tables(sections: Sequence[ModelSection], views: Sequence[View]) -> Iterator[Table]:
    """Tables of the parameters, statements and points of each section."""
    for section in sections:
        heading = section.heading
        if section.parameters:
            rows = [[name, stated(known), interval(known)] for name, known in section.parameters.items()]
            yield Table(heading, ["parameter", "value", "95 % interval"], rows)
            heading = ""
        rows = [[view, one.text, one.where, one.source] for view, one in _statements(section, views)]
        rows += [["", line, "", ""] for line in section.lines]
        if rows or heading:
            yield Table(heading, ["view", "statement", "where", "source"], rows, frozenset(range(4)))
        if section.points:
            names = list(dict.fromkeys(name for point in section.points for name in point))
            yield Table("", names, [[cell(point.get(name)) for name in names] for point in section.points])


def _statements(section: ModelSection, views: Sequence[View]) -> list[tuple[str, Statement]]:
    """Those of the views, then those that are printed."""
    statements = [(section.word(view), statement) for view in views for statement in section.views.of(view)]
    return [*statements, *(("as printed", statement) for statement in section.as_printed)]
