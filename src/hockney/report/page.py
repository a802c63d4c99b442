"""The HTML page: what contributors give to it, and the whole, rendered by a template that escapes all text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from hockney import __version__, reading
from hockney.records.app_record import AppRecord
from hockney.report.curves import Headline
from hockney.report.drawing import Drawing, Inliner, policy
from hockney.report.explorer import explored as explorer
from hockney.report.explorer.chart import Explored, Selection, Shown
from hockney.report.findings import Finding
from hockney.report.reading import Reading, Subject
from hockney.report.style import Looks
from hockney.report.style import css as palette
from hockney.report.tables import Table
from hockney.units import counted

if TYPE_CHECKING:
    from hockney.predict.evaluate import CollectiveEvaluation

MEANING = {
    "pingpong": "One message goes there and back; the time is half the round trip. Throughput is size over time.",
    "pingping": "Both ranks send at once, then both receive; the time is that of one message. Throughput is size "
    "over time.",
    "bandwidth": "A window of messages goes one way before it is acknowledged; the time is that of the window "
    "over the number of messages in it. Throughput is size over time, summed over the pairs that "
    "communicate at the same time.",
    "bidirectional": "A window of messages goes each way at once; the time is that of the window over the "
    "number of messages one way. Throughput counts both directions, summed over the pairs that communicate at "
    "the same time.",
    "pingpong_written": "A ping-pong whose ranks write each message before they send it, which is not counted. "
    "Throughput is size over time.",
    "pingping_late": "A `pingping` whose follower begins when it hears of the leader's message. Throughput "
    "is size over time.",
    "reduce_local": "Both ranks add up numbers with what they have, without a message (`MPI_Reduce_local`). "
    "Throughput is size over time.",
}

VERDICTS = (
    "Good: rely on it. Look: the number is uncertain (more than ±10 %), or there is something to gain. Bad: the "
    "number is unusable (more than ±50 %), a result is wrong, or the default takes twice as long as need be. "
    "Ranks together: good from 80 % of as many times one rank, look from 50 %. Fact: neither good nor bad."
)
"""What the words before answers mean."""

READING = (
    "Points are medians with their 95 % interval; a bar that is not visible is shorter than the dot. "
    "Sizes are on a logarithmic axis to base 2; messages of 0 B stand at the left of the "
    "break. Dotted vertical lines mark the cache sizes of the ranks' cores and the library's eager "
    "limit. Dashed horizontal lines mark peaks: the nodes' links or those given with --peak. Beside them is "
    "the share that the highest throughput of messages on that link reaches.",
    "Every model is drawn, good or bad. least_squares is the plain straight line of the literature: the largest "
    "messages dominate it, and small ones may come out negative. asymptotic takes the latency from the smallest "
    "and the bandwidth from the largest messages. hockney is one line that minimises relative errors. piecewise "
    "is a line for each of at most five regimes; predictions follow the measured sizes beside it. loggp adds "
    "dedicated measurements of the CPU's share.",
    "An error means something only at points that the fit has not seen. “Left out” errors come from leaving out "
    "one point at a time. The held-out check fits every model without the points at odd positions, and predicts "
    "those; the first and last stay.",
    "n½ is the message size that reaches half the asymptotic bandwidth. KiB and MiB are powers of "
    "1024, kB, MB and GB powers of 1000.",
)

READING_APPLICATIONS = (
    "Times are medians over repetitions, each as long as its slowest rank, with their 95 % interval where there "
    "were at least six. A prediction stands beside the measured time with its relative error, "
    "(predicted − measured) / measured; the text below each table says what it is made from.",
)
CALM = (
    "nothing is oversubscribed, few samples are disturbed, every interval is as narrow as requested, "
    "no launch differs from the others."
)
CALM_APPLICATIONS = (
    "nothing is oversubscribed, no result is wrong, every run could be read and has a narrow interval."
)

Row = dict[str, Any]
"""Plain values by name: a row of a CSV file, and an object of the JSON."""


@dataclass
class SectionPart:
    """One curve or one model of an effect in detail."""

    id: str
    title: str
    points: Table
    figures: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    overheads: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Section:
    """One operation, effect or application: its first figure and table stand open, all others are folded.

    `more`: what is folded, in words. `warnings`: what is to be known of this section alone.
    """

    id: str
    title: str
    meaning: str
    figures: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    parts: list[SectionPart] = field(default_factory=list)
    check: Drawing | None = None
    more: str = "More"
    note: str = ""
    warnings: list[str] = field(default_factory=list)
    is_application: bool = False
    findings: list[Finding] = field(default_factory=list)
    """The section's answers; a page begins with the weightiest of all sections."""
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """What the section found, as rows of plain values by name, for JSON and a CSV file each."""
    evaluation: CollectiveEvaluation | None = None
    """Predictions of points left out, as `hockney evaluate --json` prints them; None where there are none."""

    @property
    def drawings(self) -> list[Drawing]:
        """All figures of the section, in the order of the page."""
        inner = [figure for part in self.parts for figure in part.figures]
        return [*self.figures, *inner, *([self.check] if self.check else [])]


@dataclass
class Contribution:
    """What a contributor adds to a page: sections, warnings, and answers beside those of its sections.

    `headlines` are those of messages; `runs` of applications are data in SI units for `--json`, `timed` those
    whose times a section shows.
    """

    sections: list[Section] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    runs: list[Row] = field(default_factory=list)
    timed: list[AppRecord] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    headlines: list[Headline] = field(default_factory=list)

    def add(self, other: Contribution) -> None:
        """Add what another contributor gives, below what is there."""
        for name, own in vars(self).items():
            own += getattr(other, name)


@dataclass
class Report:
    """A page, all that stands on it, and the reading that the files beside it are written from.

    `about_messages` is False for a page about applications alone. `explored`: what a reader may look at in
    figures of an own choice, with the styles `looks`. A page that compares has no one `reading`.
    """

    title: str
    lead: Sequence[str]
    content: Contribution
    findings: Sequence[Finding]
    """The answers that the page begins with."""
    warnings: list[str]
    provenance: Sequence[Table]
    origin: str
    explored: Explored | None
    looks: Looks
    nodes: Drawing | None = None
    subject: Subject | None = None
    about_messages: bool = True
    reading: Reading | None = None
    css: str = ""
    """Added to the page's own."""
    script: str = ""
    """Of figures of this page alone, with the `data` that it reads, as JSON; `explored` has its own."""
    data: str = ""
    calm: str | None = None
    """What is said where there are no warnings; None: the usual."""
    html: str = field(init=False)

    def __post_init__(self) -> None:
        self.html = render(self)

    @property
    def sections(self) -> list[Section]:
        """The sections, in the order of the page."""
        return self.content.sections

    @property
    def evaluations(self) -> dict[str, CollectiveEvaluation]:
        """Predictions of points left out, by collective."""
        return {section.id: section.evaluation for section in self.sections if section.evaluation}


def render(report: Report) -> str:
    """The page as one HTML document that refers to nothing outside itself."""
    inliner = Inliner()
    drawings = [drawing for section in report.sections for drawing in section.drawings]
    # In the order of the page, so that ids and classes come in that order too.
    pictures = _pictures(filter(None, [*drawings, report.nodes]), inliner)
    machine = report.reading and report.reading.machine
    noise = machine.provenance.noise if machine else ""
    page, css = template("hockney.report", "page")
    css += report.css
    script, data, thinned = report.script, report.data, ""
    if report.explored is not None:
        carried, thinned = explorer.thinned(report.explored)
        script, data = explorer.script(), explorer.data(carried, report.looks)
        css += palette() + explorer.style()
    css += inliner.css()
    with_apps = any(section.is_application for section in report.sections)
    return page.render(
        report=report,
        version=__version__,
        policy=policy(css, script),
        css=css,
        script=script,
        data=data,
        thinned=thinned,
        pictures=pictures,
        targets=_targets(report),
        explored=next(iter(report.explored.first), "") if report.explored else "",
        warned=f"{counted(len(report.warnings), 'warning')}{f' ({noise} run)' if noise else ''}",
        calm=report.calm if report.calm is not None else CALM if report.about_messages else CALM_APPLICATIONS,
        reading=[
            VERDICTS,
            *(READING if report.about_messages else ()),
            *(READING_APPLICATIONS if with_apps else ()),
        ],
    )


def _pictures(drawings: Iterable[Drawing], inliner: Inliner) -> dict[str, str]:
    return {drawing.name: inliner.inline(drawing.figure, drawing.alt) for drawing in drawings}


def _targets(report: Report) -> dict[str, str]:
    """What each id that answers lead to is, in words."""
    targets = {"warnings": "warnings", "provenance": "provenance"}
    for section in report.sections:
        targets[section.id] = section.title
        targets |= {table.id: f"{section.title}, table" for table in section.tables if table.id}
        targets |= {part.id: f"{section.title}, {part.title}" for part in section.parts}
        targets |= {f"figure-{drawing.name}": f"{section.title}, figure" for drawing in section.drawings}
    return targets


def page_id(application: str) -> str:
    """The id of an application's section and file; the name of an unknown one may hold any character."""
    return "app-" + "".join(letter if letter.isalnum() else "-" for letter in application)


def template(package: str, name: str) -> tuple[Template, str]:
    """The template `NAME.html.j2` of a package, which escapes all text, and its style sheet `NAME.css`."""
    folder = Path(str(files(package)))
    html = reading.text(folder / f"{name}.html.j2")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"coded": coded, "unbroken": unbroken, "as_json": _as_json}
    return environment.from_string(html), reading.text(folder / f"{name}.css")


def unbroken(text: str) -> str:
    """A sentence in which no line ends between a number and its unit, or between × and a number."""
    return re.sub(r"(?<=\d) (?=(?:%|[nµm]?s|[kKMGT]?i?B(?:/s)?)(?!\w))|(?<=×) (?=\d)", "\N{NO-BREAK SPACE}", text)


def coded(text: str) -> Markup:
    """A sentence, escaped, in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )


def _as_json(choice: Selection | Shown) -> str:
    """What of the explorer shows the same."""
    known = {name: value for name, value in vars(choice).items() if value is not None}
    return json.dumps(known, ensure_ascii=False)
