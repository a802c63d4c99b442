"""The HTML page: sections filled with figures and tables, rendered by a template that escapes all text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup, escape

from hockney import __version__, reading
from hockney.report.curves import LOCALITY_WORDS
from hockney.report.drawing import Drawing
from hockney.report.explorer import embed
from hockney.report.explorer.chart import Explored
from hockney.report.facts import Headline
from hockney.report.figures import HeldOut
from hockney.report.findings import Finding
from hockney.report.style import Looks
from hockney.report.style import css as palette
from hockney.report.svg import Inliner, policy
from hockney.report.tables import Table, value_and_interval
from hockney.units import format_bytes, format_rate

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
}

READING = (
    "Points are medians with their 95 % interval; a bar that is not visible is shorter than the dot. "
    "Sizes are on a logarithmic axis to base 2; messages of 0 B stand at the left of the "
    "break. Dotted vertical lines mark the cache sizes of the ranks' cores and the library's eager "
    "limit; dashed horizontal lines mark peaks, the nodes' links or those given with --peak, with the share that "
    "the highest measured throughput of messages which go that way reaches.",
    "Every model is drawn, good or bad: least_squares is the plain straight line of the literature, "
    "which the largest messages dominate, and may be negative for small ones; asymptotic takes the latency "
    "from the smallest and the bandwidth from the largest messages; hockney is one line that minimises "
    "relative errors; piecewise is a line for each protocol regime; loggp adds dedicated measurements "
    "of the CPU's share.",
    "An error means something only at points that the fit has not seen. “Left out” errors come "
    "from leaving out one point at a time; the held-out check fits every model again without the "
    "points at odd positions (first and last stay) and predicts those.",
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

_WITH_FORMULAS = 8
"""Most headlines with formula lines; the lines stand below in any case."""


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
    """One operation, effect or application. `folded`: its parts hold tables only, and are closed at first."""

    id: str
    title: str
    meaning: str
    figures: list[Drawing] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    parts: list[SectionPart] = field(default_factory=list)
    check: Drawing | None = None
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)
    """The results that `check` draws, by model."""
    folded: bool = False
    note: str = ""
    is_application: bool = False
    findings: list[Finding] = field(default_factory=list)
    """The section's answers; a page begins with the weightiest of all sections."""
    rows: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """What the section found, as rows of plain values by name, for JSON and a CSV file each."""

    @property
    def drawings(self) -> list[Drawing]:
        """All figures of the section, in the order of the page."""
        inner = [figure for part in self.parts for figure in part.figures]
        return [*self.figures, *inner, *([self.check] if self.check else [])]


@dataclass(frozen=True)
class Subject:
    """What a page is made for: a question, what is compared to answer it, and remarks on what there is of it.

    Answers about its `operations` come first.
    """

    question: str
    operations: tuple[str, ...] = ()
    about: str = ""
    remarks: tuple[str, ...] = ()


def render(
    *,
    title: str,
    lead: Sequence[str],
    findings: Sequence[Finding] = (),
    subject: Subject | None = None,
    headlines: Sequence[Headline],
    omitted: str,
    warnings: Sequence[str],
    sections: Iterable[Section],
    provenance: Sequence[Table],
    nodes: Drawing | None,
    origin: str,
    of_messages: bool,
    explored: Explored | None = None,
    looks: Looks | None = None,
    css: str = "",
    calm: str | None = None,
) -> str:
    """The page as one HTML document that refers to nothing outside itself.

    It begins with the `findings`. `omitted` says what the headlines leave out. `of_messages` is False for a page
    about applications alone. `explored`: what a reader may look at in figures of an own choice, with the styles
    `looks`. `css` is added to the page's own; `calm` is said where there are no warnings.
    """
    sections = list(sections)
    with_apps = any(section.is_application for section in sections)
    inliner = Inliner()
    rendered = [_section(section, inliner) for section in sections]
    node_picture = _picture(nodes, inliner) if nodes else None
    model = ", ".join(dict.fromkeys(head.model for head in headlines))
    page, own_css = template("hockney.report", "page")
    css = own_css + css
    script, data, thinned = "", "", ""
    if explored is not None:
        carried, thinned = embed.thinned(explored)
        script, data = embed.script(), embed.data(carried, looks or Looks())
        css += palette() + embed.style()
    css += inliner.css()
    return page.render(
        version=__version__,
        policy=policy(css, script),
        css=css,
        script=script,
        data=data,
        thinned=thinned,
        title=title,
        lead=lead,
        subject=subject,
        findings=findings,
        operation=headlines[0].curve.operation if headlines else "",
        headlines=[_headline(head, formulas=len(headlines) <= _WITH_FORMULAS) for head in headlines],
        headline_note=f"By model {model}, intervals at 95 %. Highest throughput is measured. "
        + " ".join(filter(None, [omitted, "All models stand side by side below."])),
        warnings=warnings,
        calm=calm if calm is not None else CALM if of_messages else CALM_APPLICATIONS,
        sections=rendered,
        provenance=provenance,
        nodes=node_picture,
        origin=origin,
        reading=[*(READING if of_messages else ()), *(READING_APPLICATIONS if with_apps else ())],
    )


def template(package: str, name: str) -> tuple[Template, str]:
    """The template `NAME.html.j2` of a package, which escapes all text, and its style sheet `NAME.css`."""
    folder = Path(str(files(package)))
    html = reading.text(folder / f"{name}.html.j2")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"coded": coded, "unbroken": unbroken}
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


def _headline(head: Headline, *, formulas: bool) -> dict[str, Any]:
    entry = head.curve.entry
    limit = entry.eager_limit_B
    stated = [f"eager limit reported by the library: {format_bytes(limit)}"] if limit else []
    if entry.breaks_B:
        further = ", ".join(map(format_bytes, entry.breaks_B))
        stated.append(f"messages go another way above {further}, by what is known of the libraries and the cache")
    remarks = [f"highest throughput reaches {', '.join(f'{share} of {name}' for name, share in head.shares)}"]
    return {
        "label": head.curve.label,
        "words": LOCALITY_WORDS.get(entry.locality or "", ""),
        "formulas": head.formulas if formulas else [],
        "remarks": stated + (remarks if head.peaks else []),
        "numbers": [
            value_and_interval(head.latency_s),
            value_and_interval(head.bandwidth_B_per_s),
            value_and_interval(head.n_half_B, size=True),
            (format_rate(head.fastest_B_per_s), f"at {format_bytes(head.fastest_at_B)}"),
        ],
    }


def _section(section: Section, inliner: Inliner) -> dict[str, Any]:
    plain: Mapping[str, Any] = {
        name: getattr(section, name) for name in ("id", "title", "meaning", "tables", "folded", "note")
    }
    # In the order of the page, so that ids and classes come in that order too.
    pictures = [_picture(drawing, inliner) for drawing in section.figures]
    parts = [
        {
            **{name: getattr(part, name) for name in ("id", "title", "points", "tables", "overheads", "notes")},
            "figures": [_picture(drawing, inliner) for drawing in part.figures],
        }
        for part in section.parts
    ]
    check = _picture(section.check, inliner) if section.check else None
    return {**plain, "figures": pictures, "parts": parts, "check": check}


def _picture(drawing: Drawing, inliner: Inliner) -> dict[str, str]:
    return {
        "id": f"figure-{drawing.name}",
        "svg": inliner.inline(drawing.figure, drawing.alt),
        "title": drawing.title,
        "caption": drawing.caption,
        "choice": _chosen(drawing),
    }


def _chosen(drawing: Drawing) -> str:
    """What of the explorer shows the same, as JSON; empty where nothing does."""
    fields = {} if drawing.choice is None else asdict(drawing.choice)
    known = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(known, ensure_ascii=False) if known else ""
