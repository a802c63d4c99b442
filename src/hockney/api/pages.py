"""The report of a campaign, and of several that are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from matplotlib.figure import Figure
from pydantic import Field

from hockney import reading
from hockney.api.alone import runs_alone
from hockney.api.shown import as_html
from hockney.errors import RequestError
from hockney.fields import Value, flags_written, of_keywords, several
from hockney.machine.build import fitted
from hockney.machine.file import expect_measurements, load
from hockney.machine.locality import read
from hockney.machine.system import find_system
from hockney.options.report import PageOptions, ReportOptions
from hockney.records.contents import is_measured
from hockney.records.folder import beside
from hockney.report.anonymous import unnamed
from hockney.report.compare import compare
from hockney.report.curves import Headline
from hockney.report.findings import Finding
from hockney.report.make import card, make, write_csv, write_figures, write_html
from hockney.report.marks import peaks_of
from hockney.report.page import Report, Row
from hockney.report.reading import Progress, Wish, unsaid
from hockney.runner.traced import ENDING, trace_of


@dataclass(frozen=True, repr=False)
class Page:
    """The report of a campaign: `made` has its sections, figures and tables (docs/reference/report.md).

    `letters`: which letter stands for which system, on an anonymous page.
    """

    made: Report
    letters: Mapping[str, str] = field(default_factory=dict)

    def write(self, path: str | Path) -> Path:
        """Write the whole page or nothing, and return its path; NotWritten where that fails."""
        write_html(self.made, Path(path))
        return Path(path)

    @property
    def figures(self) -> dict[str, Figure]:
        """Every figure of the page, by the name that its file would have."""
        return {drawing.name: drawing.figure for section in self.made.sections for drawing in section.drawings}

    @property
    def headlines(self) -> list[str]:
        """A line for each kind of pair: latency, bandwidth, n½, and the share of the links that was reached."""
        return [head.text for head in self.made.content.headlines]

    @property
    def findings(self) -> list[str]:
        """What the page begins with, a sentence each."""
        return [finding.text for finding in self.made.findings]

    @property
    def warnings(self) -> list[str]:
        """What should be known before the numbers are trusted."""
        return self.made.warnings

    def __repr__(self) -> str:
        return f"report with {len(self.figures)} figures"

    def _repr_html_(self) -> str:
        return as_html(repr(self), None, [*self.findings, *self.warnings])


def _card(path: Path, progress: Progress) -> Page:
    """The card of a machine file, or of the machine fitted to a campaign or table."""
    if not is_measured(path):
        return Page(card(load(path)))
    contents = read(path)
    if contents.apps and contents.frame.empty and not contents.effects:
        raise runs_alone(path, contents.apps)
    return Page(card(fitted(contents, lambda name: progress(f"fitting {name}"))))


@dataclass(frozen=True)
class ReportAnswer:
    """What the page says; rows of its tables are those of the files that --csv writes."""

    report: str
    figures: list[str]
    csv: list[str]
    headline: list[Headline]
    evaluations: Row
    collectives: Mapping[str, Mapping[str, Sequence[Row]]]
    applications: Sequence[Row]
    findings: list[Finding]
    warnings: list[str]
    letters: Mapping[str, str]
    """Which stands for which system on an anonymous page; it stands in no file."""
    in_place: Annotated[str, Field(exclude=True)]
    """Words for the page that was replaced."""


NOT_ON_CARDS = ("peaks", "machine", "systems", "statistic", "sizes_B", "figures", "csv", "anonymous")
"""Options of the whole report."""
NOT_ON_COMPARISONS = ("peaks", "machine", "systems", "sizes_B", "anonymous")
"""Options of the report of one campaign."""


NOT_OF_RUNS = ("peaks", "statistic", "sizes_B", "csv", "anonymous")
"""Options that the page of a recorded run does not heed."""


def is_run(path: Path) -> bool:
    """Whether it is a profile, or the trace beside it."""
    return path.suffix in (".json", ENDING) and trace_of(path) is not None


def page_by(paths: Sequence[Path], output: str | Path | None, given: Mapping[str, Value]) -> Page:
    """What `given`, options of `hockney report` as keywords, asks of these; written where `output` is named."""
    page = page_of(of_keywords(PageOptions, given, "report", {"campaigns": map(str, paths)}))
    if output is not None:
        page.write(output)
    return page


def page_of(options: PageOptions, progress: Progress = unsaid) -> Page:
    """The page of a campaign folder, a tidy table or a recorded run; of several, each set against the first.

    RequestError for options that do not go together, as `report.reading.Reading.of` and `report.compare.compare`.
    """
    first, *others = options.campaigns
    written = flags_written(options)
    if is_run(first):
        if others or len(several(options.systems)) > 1:
            raise RequestError("a page is of one run on one system", "name one; `hockney predict` makes tables")
        if unfit := [flag for name, flag in written.items() if name in NOT_OF_RUNS]:
            raise RequestError(f"the page of a run does not take {', '.join(unfit)}", "leave them out")
        return Page(_replayed(first, options, progress))
    for campaign in options.campaigns:
        expect_measurements(campaign)
    if others:
        if unfit := [flag for name, flag in written.items() if name in NOT_ON_COMPARISONS]:
            what = f"a comparison does not take {', '.join(unfit)}"
            raise RequestError(what, "leave them out, or name one campaign")
        return Page(compare(options.campaigns, options.statistic, progress))
    wish = Wish(
        None if options.machine is None else load(options.machine),
        peaks_of(options.peaks),
        [find_system(name) for name in dict.fromkeys(several(options.systems))],
        options.statistic,
        options.sizes_B,
    )
    if not options.anonymous:
        return Page(make(first, wish, progress))
    if wish.machine is not None or wish.systems:
        raise RequestError("an anonymous page takes no machine file and no system", "leave them out")
    contents, letters = unnamed(first)
    return Page(make(contents, wish, progress), letters)


def write_report(options: ReportOptions, progress: Progress) -> ReportAnswer:
    """Write the page that the options ask for, or the card, and the files beside it.

    RequestError for options that do not go together, for a file of the usual name that another program wrote, and
    as `page_of` and `card`.
    """
    name, first = "card.html" if options.card else "report.html", options.campaigns[0]
    # Of several campaigns, or of a machine that comes with hockney, the page lies here.
    is_beside = len(options.campaigns) == 1 and first.exists()
    output = options.output or (beside(first, name) if is_beside else Path(name))
    if output.suffix.lower() not in ("", ".html", ".htm"):
        raise RequestError(
            f"{output}: a report is HTML, not {output.suffix}",
            f"write -o {output.with_suffix('.html')}; a browser prints that as PDF",
        )
    if options.card:
        if unfit := [flag for name, flag in flags_written(options).items() if name in NOT_ON_CARDS]:
            raise RequestError(f"--card does not take {', '.join(unfit)}", "leave them out, or leave out --card")
        if len(options.campaigns) > 1:
            raise RequestError(f"a card is of one machine, not of {len(options.campaigns)}", "name one")
    in_place = _in_place(output, is_named=options.output is not None)
    page = _card(first, progress) if options.card else page_of(options, progress)
    whole = page.made
    _expect_own(output, whole)
    page.write(output)
    drawn = [] if options.figures is None else write_figures(whole, options.figures)
    tables = [] if options.csv is None else write_csv(whole, options.csv)
    return ReportAnswer(
        report=str(output),
        figures=list(map(str, drawn)),
        csv=list(map(str, tables)),
        headline=whole.content.headlines,
        evaluations=whole.evaluations,
        collectives={section.id: section.rows for section in whole.sections if section.rows},
        applications=whole.content.runs,
        findings=list(whole.findings),
        warnings=whole.warnings,
        letters=page.letters,
        in_place=in_place,
    )


def _replayed(path: Path, options: PageOptions, progress: Progress) -> Report:
    """The page of a recorded run on the machine and system that are named; RequestError as `predict`."""
    from hockney.predict.options import ProfileCase
    from hockney.predict.replay.answer import answered, replay_cases
    from hockney.predict.replay.gains import gains
    from hockney.predict.replay.picture import drawn
    from hockney.report.replayed import page
    from hockney.tune.read_rules import read_rules

    named = {"system": several(options.systems)[:1]} | ({"machine": [options.machine]} if options.machine else {})
    case = ProfileCase.model_validate({"file": path, **named})
    progress("replaying the run")
    replayed, _ = next(replay_cases(case, read_rules))
    answer = answered(replayed)
    if not answer.run_s:
        raise RequestError(f"the run of {path} takes no time: there is nothing to draw", "record a longer one")
    progress("trying what would help")
    helping = gains(replayed)
    progress("drawing")
    return page(answer, helping, *drawn(replayed, answer.run_s))


def _expect_own(output: Path, report: Report) -> None:
    """RequestError where `output` is the page of another campaign."""
    ids = {launch.id for launch in report.reading.launches} if report.reading else set()
    named = output.is_file() and re.search(r'<meta name="measured" content="([^"]+)">', reading.text(output))
    if named and ids and not ids & set(named[1].split()):
        raise RequestError(f"{output} is the page of another campaign", "choose another name with -o")


def _in_place(output: Path, *, is_named: bool) -> str:
    """What is said of a page that is replaced; RequestError for a file of the usual name that is none of ours."""
    if not output.is_file():
        return ""
    is_ours = b'content="hockney' in reading.beginning(output, 100_000)
    if not (is_named or is_ours):
        raise RequestError(f"{output} is there and was not written by hockney", "choose a name with -o")
    return ", in place of the page that was there"
