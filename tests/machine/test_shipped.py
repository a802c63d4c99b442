"""Published machines are found by name; a file of one's own comes first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.factories import not_none

from hockney.errors import RequestError
from hockney.machine.file import dumps, load, loads
from hockney.machine.shipped import located, shipped_folder, shipped_machines

MACHINES = Path(__file__).parents[2] / "machines"


def test_every_file_of_the_folder_is_a_machine_that_is_found_by_name() -> None:
    assert shipped_machines() == sorted(path.stem for path in MACHINES.glob("*.json"))
    for name in shipped_machines():
        assert load(Path(name)) == load(MACHINES / f"{name}.json") == load(Path(f"{name}.json"))


@pytest.mark.parametrize("path", sorted(MACHINES.glob("*.json")), ids=lambda path: path.stem)
def test_saving_gives_the_same_bytes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert dumps(loads(text, path)) == text


def test_a_file_of_ones_own_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = not_none(shipped_folder())
    shutil.copy(folder / "orfeo_thin.json", tmp_path / "bluegene_p.json")
    assert load(Path("bluegene_p.json")).system.name == "ORFEO thin"
    assert load(Path("bluegene_p")).system.name == "Blue Gene/P", "without .json it is the published one"


def test_a_folder_in_the_path_means_a_file(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no machine file"):
        located(tmp_path / "bluegene_p.json")


def test_a_word_that_is_nearly_a_name() -> None:
    with pytest.raises(RequestError) as caught:
        load(Path("bluegen"))
    assert caught.value.message == "there is no machine file bluegen"
    assert "did you mean 'bluegene_p'?" in caught.value.hint
    assert "`hockney fit CAMPAIGN -o bluegen.json`" in caught.value.hint
