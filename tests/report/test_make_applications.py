"""Pages of folders that hold runs of applications, alone or beside messages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.report.test_make import Page

from hockney.campaign.app_record import AppRecord
from hockney.campaign.folder import Campaign
from hockney.errors import RequestError
from hockney.machine.build import build
from hockney.report.make import Report, make, write_csv, write_figures

EVIL = "<b>n1</b> & 'co' \"x\""
LINK_S = 2e-6 + 4 / 1e9
"""One message of 4 B on the campaign's machine."""


def _ring(ranks: int, **other: Any) -> AppRecord:
    fields = {
        "operation": "ring", "ranks": ranks, "parameters": {"exchange": "sendrecv", "topology": "world"},
        "time_s": 1e-5, "low_s": 9.9e-6, "high_s": 1.01e-5, "samples_s": [1e-5] * 8,
        "answer": {"positions": list(range(ranks)), "verified": True}, "system": EVIL, "mapping": "core",
        "variant": "default", "oversubscribed": False, "launch": "a",
    }  # fmt: skip
    return AppRecord.model_validate(fields | other)


@pytest.fixture(scope="module")
def folder(campaign: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rings of one and two processes, and nothing else. Not to be changed."""
    made = Campaign.create(tmp_path_factory.mktemp("apps") / "rings", {})
    for launch in Campaign(campaign).launches():
        made.append_launch({**launch, "warnings": []})
    for ranks in (1, 2):
        made.append_app(_ring(ranks))
    return made.path


def _errors(report: Report) -> list[float | None]:
    return [one.get("error") for one in report.applications]


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


def test_a_machine_file_of_another_folder_predicts(campaign: Path, folder: Path) -> None:
    report = make(folder, machine=build(campaign))
    assert _errors(report)[1] == pytest.approx(4 * LINK_S / 1e-5 - 1, rel=1e-5)
    # Its own points are not this folder's.
    assert [section.title for section in report.sections] == ["Ring"]
    assert "Predicted from the machine file" in Page(report.html).text


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


def test_the_messages_of_the_folder_predict_its_applications(campaign: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(campaign, tmp_path / "copy")
    before = make(copy)
    Campaign(copy).append_app(_ring(2))
    report = make(copy)
    assert _errors(report)[0] is not None
    assert [section.title for section in report.sections] == [
        *[section.title for section in before.sections],
        "Ring",
    ]
    assert report.headlines == before.headlines
    assert "Predicted from the fits of this page" in Page(report.html).text


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
    with pytest.raises(RequestError, match=r"holds no measurement \(1 damaged lines\)"):
        make(made.path)
