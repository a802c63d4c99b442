"""The page as a whole: it parses, stands alone, holds the numbers, escapes what it is told, repeats itself."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests import factories
from tests.factories import EVIL, not_none, ring_run, written

from hockney import reading
from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.machine.file import Machine, load
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.records.record import Record
from hockney.report.curves import curves
from hockney.report.make import make, write_csv, write_figures, write_html
from hockney.report.marks import Peak
from hockney.report.page import Report
from hockney.report.reading import Wish

SIZES = (0, *(2**power for power in range(21)))
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """Checks that every element is closed; collects text, attributes and elements."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def report(campaign: Path) -> Report:
    return make(campaign, Wish(peaks=[Peak("Link", 2e9)]))


@pytest.fixture(scope="module")
def page(report: Report) -> Page:
    return Page(report.html)


@pytest.fixture(scope="module")
def files(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of its figures and tables."""
    folder = tmp_path_factory.mktemp("files")
    write_figures(report, folder)
    write_csv(report, folder)
    return folder


def test_every_element_is_closed(page: Page) -> None:
    assert page.open == []


def test_nothing_comes_from_outside(report: Report, page: Page) -> None:
    addresses = [
        value or "" for name, value in page.attributes if name in ("src", "href", "xlink:href", "action")
    ]
    assert addresses
    assert [address for address in addresses if not address.startswith("#")] == []
    assert not re.search(r"@import|url\((?!#)|<link", report.html)
    (policy,) = [value for name, value in page.attributes if name == "content" and "default-src" in (value or "")]
    scripts = re.findall(r"<script>(.*?)</script>", report.html, re.DOTALL)
    styles = re.findall(r"<style>(.*?)</style>", report.html, re.DOTALL)
    hashed = [base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (*scripts, *styles)]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashed[0]}'; style-src 'sha256-{hashed[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_every_reference_has_its_target_and_every_id_is_unique(page: Page, report: Report) -> None:
    ids = [value for name, value in page.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    for name, value in page.attributes:
        if name in ("href", "xlink:href"):
            assert (value or "")[1:] in ids
        if name == "aria-labelledby":
            assert value in ids
    assert set(re.findall(r"url\(#([^)]+)\)", report.html)) <= set(ids)


def test_each_figure_has_a_title_and_each_table_headers(page: Page) -> None:
    figures, tables = page.tags.count("svg"), page.tags.count("table")
    # Overview and check of each operation, 2 of each of the three curves.
    assert figures == page.tags.count("figure") == 10
    assert page.attributes.count(("role", "img")) == figures
    assert page.tags.count("thead") == tables
    assert page.tags.count("caption") >= tables - 1  # the headline's stands under the title


def test_the_headline_holds_the_true_numbers(report: Report, page: Page) -> None:
    head = report.content.headlines[0]
    # The data lie on one line exactly, so that is what a fit finds, up to rounding.
    assert head.latency_s.value == pytest.approx(2e-6, rel=1e-6)
    assert not_none(head.bandwidth_B_per_s).value == pytest.approx(1e9, rel=1e-6)
    assert not_none(head.n_half_B).value == pytest.approx(2000, rel=1e-6)  # α/β
    for number in ("2 µs", "1 GB/s", "1.95 KiB", "10 µs", "200 MB/s"):
        assert number in page.text


def test_shares_of_a_peak(report: Report, page: Page) -> None:
    """The largest message runs at n / (2 µs + n / 1 GB/s), 49.9 % of 2 GB/s; so do both ways of 2 × 2 GB/s."""
    n = SIZES[-1]
    reached = n / (2e-6 + n / 1e9)
    assert report.content.headlines[0].peaks == {"Link": pytest.approx(reached / 2e9)}
    assert "50 % of Link 2 GB/s" in page.text
    assert "Link 2 × 2 GB/s: 50 % reached" in page.text


def test_names_from_the_data_are_text(report: Report, page: Page) -> None:
    assert EVIL not in report.html
    assert f"on {EVIL}" in page.text
    for text in ("<tcp>", "no governor <found>", "<script>alert(1)</script>", "OMPI_X=<1>"):
        assert text in page.text
    assert page.tags.count("script") == 2  # the data and ours
    assert "tcp" not in page.tags


def test_provenance_is_told(page: Page) -> None:
    shown = "mpirun -n 2 runner 'a b'", "2026-11-20T22:30:00Z", "Open MPI v5.0.11", "EPYC", "L1d 32 KiB", "ob1"
    for text in shown:
        assert text in page.text
    # Instruction caches hold no messages.
    assert "64 KiB" not in page.text.split("Provenance")[-1].split("Launches")[0]


def test_the_same_campaign_gives_the_same_bytes(
    report: Report, files: Path, campaign: Path, tmp_path: Path
) -> None:
    again = make(campaign, Wish(peaks=[Peak("Link", 2e9)]))
    assert again.html == report.html
    write_csv(again, tmp_path)
    # All pictures stand on the page; of their files those of one section are written again.
    del again.content.sections[:-1]
    again.reading = None
    write_figures(again, tmp_path)
    one, two = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in (files, tmp_path))
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".png", ".svg"}
    assert two.items() <= one.items()


@pytest.mark.usefixtures("undrawn_here")
def test_a_machine_file_gives_its_fits(campaign: Path) -> None:
    machine = build(campaign)
    fit = machine.point_to_point[0].fits["piecewise"]
    fit.regimes[0].alpha_s.value = 42e-6
    assert "42 µs" in Page(make(campaign, Wish(machine=machine)).html).text


def test_a_machine_file_of_other_launches_is_refused(campaign: Path) -> None:
    machine = build(campaign)
    for entry in machine.point_to_point:
        entry.measurements.launches[:] = ["elsewhere"]
    with pytest.raises(RequestError, match="other launches"):
        make(campaign, Wish(machine=machine))


def test_an_empty_machine_file_is_refused(campaign: Path) -> None:
    empty: Machine = build(campaign).model_copy(update={"point_to_point": []})
    with pytest.raises(RequestError, match="no point-to-point fit"):
        make(campaign, Wish(machine=empty))


def test_a_campaign_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="holds no record"):
        make(Campaign.create(tmp_path / "empty", {}).path)


def test_a_place_that_cannot_be_written(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RequestError, match="cannot write"):
        write_html(report, tmp_path / "nowhere" / "report.html")
    with pytest.raises(RequestError, match="cannot write"):
        write_figures(report, tmp_path / "file")
    with pytest.raises(RequestError, match="cannot write"):
        write_csv(report, tmp_path / "file")


def test_many_configurations_are_folded_but_their_figures_written(
    tmp_path: Path, record: Callable[..., Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [record(size, variant=f"v{n}", scale=1 + n) for n in range(9) for size in SIZES[:6]]
    report = make(factories.campaign(tmp_path / "many", records))
    page = Page(report.html)
    assert page.tags.count("svg") == 3  # eight curves in one picture, one in the next, the check
    assert page.tags.count("details") == 9 + 4  # one for each configuration
    for kind in ("svg_file", "png_file"):
        monkeypatch.setattr(f"hockney.report.make.{kind}", lambda _: b"")
    names = {path.name for path in write_figures(report, tmp_path / "figures")}
    assert {f"pingpong-cache-v{number}-fits.png" for number in range(9)} <= names


@pytest.mark.usefixtures("undrawn_here")
def test_a_tidy_table_has_a_page_too(tmp_path: Path) -> None:
    header = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"
    rows = [f"s,m,pingpong,default,core,1,2,2,{n},one_way,{2 + n / 1e3},0" for n in SIZES]
    table = written(tmp_path / "table.csv", "\n".join([header, *rows]) + "\n")
    report = make(table)
    assert Page(report.html).open == []
    assert any(text.startswith("22 of 22 points have no interval") for text in report.warnings)


@pytest.mark.usefixtures("undrawn_here")
@pytest.mark.parametrize("is_table", [False, True])
def test_the_data_are_read_once(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_table: bool
) -> None:
    source = shutil.copytree(campaign, tmp_path / "copy")
    if is_table:
        table.write(table.load(source), tmp_path / "t.csv")
        source = tmp_path / "t.csv"
    read: list[str] = []

    def count(function: str) -> None:
        original = getattr(reading, function)

        def counted(path: Path, *arguments: Any, **options: Any) -> Any:
            if path == source or source in path.parents:
                read.append(path.name)
            return original(path, *arguments, **options)

        monkeypatch.setattr(reading, function, counted)

    for function in ("content", "lines"):
        count(function)
    report = make(source)
    assert set(read) >= ({"t.csv"} if is_table else {"records.jsonl", "launches.jsonl", "plan.json"})
    assert len(read) == len(set(read))
    assert report.content.headlines


def test_a_series_is_built_once(campaign: Path) -> None:
    shown = curves(build(campaign))
    assert shown
    for curve in shown:
        fitted = curve.entry.measurements.series
        # Points hold no key: a series made of them again would not know its system.
        assert fitted.key["system"] == EVIL
        assert curve.series.time_s is fitted.time_s


LINK_S = 2e-6 + 4 / 1e9
"""One message of 4 B on the campaign's machine."""


@pytest.fixture(scope="module")
def folder(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rings of one and two processes, and nothing else. Not to be changed."""
    made = Campaign.create(tmp_path_factory.mktemp("apps") / "rings", {})
    for launch in Campaign(campaign).launches():
        made.append(launch.with_fields(warnings=[]))
    for ranks in (1, 2):
        made.append(ring_run(ranks))
    return made.path


def _errors(report: Report) -> list[float | None]:
    return [one.get("error") for one in report.content.runs]


def test_applications_alone_make_a_page(folder: Path, tmp_path: Path) -> None:
    report = make(folder)
    page = Page(report.html)
    assert page.open == []
    assert f"MPI applications on {EVIL}" in page.text
    assert "No warnings" in page.text
    assert "no machine file" in page.text
    # What is said of fits and of messages would be about nothing here.
    assert "Every model is drawn" not in page.text
    assert _errors(report) == [None, None]
    assert {path.name for path in write_figures(report, tmp_path)} == {"app-ring-ranks.svg", "app-ring-ranks.png"}
    (csv,) = write_csv(report, tmp_path)
    assert pd.read_csv(csv)["time_s"].tolist() == [1e-5, 1e-5]


@pytest.mark.usefixtures("undrawn_here")
def test_a_machine_file_of_another_folder_predicts(campaign: Path, folder: Path) -> None:
    report = make(folder, Wish(machine=build(campaign)))
    assert _errors(report)[1] == pytest.approx(4 * LINK_S / 1e-5 - 1, rel=1e-5)
    # Its own points are not this folder's.
    assert [section.title for section in report.sections] == ["Ring"]
    assert "Predicted from the machine file" in Page(report.html).text


@pytest.mark.usefixtures("undrawn_here")
def test_the_folders_own_machine_file_predicts(campaign: Path, folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "machine.json").write_text(build(campaign).model_dump_json(), encoding="utf-8")
    report = make(copy)
    assert _errors(report)[1] is not None
    assert "Predicted from machine.json" in Page(report.html).text
    (copy / "machine.json").write_text("{", encoding="utf-8")
    report = make(copy)
    assert _errors(report)[1] is None
    assert any(line.startswith("machine.json of the folder is not used") for line in report.warnings)


@pytest.mark.usefixtures("undrawn_here")
def test_the_messages_of_the_folder_predict_its_applications(campaign: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(campaign, tmp_path / "copy")
    before = make(copy)
    Campaign(copy).append(ring_run(2))
    report = make(copy)
    assert _errors(report)[0] is not None
    # What the runs are about stands first; messages explain it.
    assert [section.title for section in report.sections] == [
        "Ring",
        *[section.title for section in before.sections],
    ]
    assert report.content.headlines == before.content.headlines
    assert "Predicted from the fits of this page" in Page(report.html).text


@pytest.mark.usefixtures("undrawn_here")
def test_damaged_lines_and_newer_applications_are_told(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    with (copy / "apps.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"operation": "ring", "ran\n')
        file.write(json.dumps({"operation": "<script>", "ranks": 2, "parameters": {}, "time_s": 1, "answer": {}}))
    report = make(copy)
    assert len([line for line in report.warnings if "damaged line" in line]) == 1
    assert any(line.startswith("<script>: this version of hockney does not know") for line in report.warnings)
    page = Page(report.html)
    assert page.open == []
    assert "script" not in page.tags
    assert {path.name for path in write_csv(report, tmp_path)} == {"app-ring.csv", "app--script-.csv"}


def test_only_damaged_lines_are_no_measurement(tmp_path: Path) -> None:
    made = Campaign.create(tmp_path / "damaged", {})
    (made.path / "apps.jsonl").write_text("{\n", encoding="utf-8")
    with pytest.raises(RequestError, match=r"holds no record \(1 damaged lines\)"):
        make(made.path)


def test_a_published_machine_is_no_fit_of_a_campaign(campaign: Path) -> None:
    with pytest.raises(RequestError, match="was published, not fitted to what was measured"):
        make(campaign, Wish(machine=load(Path("bluegene_p"))))
