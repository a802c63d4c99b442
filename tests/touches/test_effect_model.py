"""A further model of an effect's answers is one file, its test and a heading of one page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.touches.conftest import Tree, parameter_values

from hockney.records.effect_answers import OverlapAnswer
from hockney.records.effect_record import EffectRecord
from hockney.records.folder import Campaign
from hockney.records.journal import LaunchLine


def _campaign(folder: Path) -> Path:
    """Answers about overlap alone, whose calls take 0.2 µs at the sender and 0.5 µs at the receiver."""
    campaign = Campaign.create(folder, {})
    campaign.append(LaunchLine.model_validate({"id": "a", "index": 0}))
    for side, call_s in (("sender", 2e-7), ("receiver", 5e-7)):
        for size_B in (8, 65536):
            answer = OverlapAnswer(
                verified=True,
                done_early=3,
                tries=3,
                computation_s=1e-5,
                clock_s=1e-8,
                alone_s=[1e-5] * 3,
                total_s=[1e-5] * 3,
                start_s=[call_s + 1e-8] * 3,
                wait_s=[1e-5] * 3,
                tests_s=[0.0] * 3,
                tests=[0] * 3,
            )
            asked = {"bytes": size_B, "side": side, "tests": 0}
            record = EffectRecord(
                effect="overlap", locality="cache", members=[0, 1], parameters=asked, launch="a"
            )
            campaign.append(record.model_copy(update={"answer": answer, "launch": "a"}))
    return campaign.path


@pytest.mark.thorough
def test_a_model_of_an_effect_is_one_file_and_a_heading(tree: Tree, tmp_path: Path) -> None:
    campaign, machine, page = _campaign(tmp_path / "campaign"), tmp_path / "machine.json", tmp_path / "page.html"
    with tree.with_example("effect_model") as touched:
        assert touched.added == [
            "src/hockney/models/effects/posting.py",
            "tests/models/effects/test_posting.py",
        ]
        assert touched.edited == ["docs/reference/effects.md"]
        tree.hockney("fit", campaign, "-o", machine)
        effects = {effect["effect"]: effect for effect in json.loads(machine.read_text("utf-8"))["effects"]}
        assert list(effects) == ["overlap", "posting"]
        assert parameter_values(effects["posting"]["parameters"]) == {
            "isend_s": pytest.approx(2e-7),
            "irecv_s": pytest.approx(5e-7),
        }
        assert "irecv_s" in tree.hockney("show", machine, "--operation", "posting")
        tree.hockney("report", campaign, "-o", page)
        assert 'id="effect-posting"' in page.read_text(encoding="utf-8")
    tree.hockney("fit", campaign, "-o", tmp_path / "without.json")
    left = json.loads((tmp_path / "without.json").read_text("utf-8"))["effects"]
    assert [effect["effect"] for effect in left] == ["overlap"]
