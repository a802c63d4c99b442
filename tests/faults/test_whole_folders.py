"""An import or a merge that is ended in the middle leaves nothing that anybody takes for a campaign."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

import pytest
from tests.command_line import outcome, refused
from tests.faults.struck import Strikes

from hockney.errors import RequestError
from hockney.records import table
from hockney.records.folder import CONTENT, PLAN, RECORDS, TABLE, Campaign
from hockney.records.journal import StoredPlan
from hockney.terminal.signals import ENDING
from hockney.writing import NotWritten

DATA = Path(__file__).parents[1] / "importers" / "data"
SOURCES = {"a": "osu_latency_5.txt", "b": "osu_bw_7.1.txt"}
LEAST_STEPS = 6
"""Of writing a folder: plan, launches, records and table, some of which are made beside and moved."""


@pytest.fixture(params=["import", pytest.param("merge", marks=pytest.mark.thorough)])
def words(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """An import or a merge, without its --output."""
    files = [str(DATA / name) for name in SOURCES.values()]
    if request.param == "import":
        return ["import", *files, "--locality", "network"]
    for name, file in zip(SOURCES, files, strict=True):
        assert outcome("import", file, "-o", tmp_path / name)[0] == 0
    return ["merge", *(str(tmp_path / name) for name in SOURCES)]


@pytest.fixture(scope="module")
def strikes() -> Iterator[Strikes]:
    """Runs that a signal meets."""
    made = Strikes()
    yield made
    made.end()


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in (PLAN, RECORDS, TABLE)}


def test_a_kill_leaves_no_folder_or_a_whole_campaign(words: list[str], tmp_path: Path, strikes: Strikes) -> None:
    """One step after the other, so that each also begins with what the kill before it left."""
    folder = tmp_path / "c"
    assert outcome(*words, "-o", tmp_path / "undisturbed")[0] == 0
    for step in count(1):
        done = strikes.strike(step, signal.SIGKILL, folder, words)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not folder.exists()
    assert step > LEAST_STEPS
    assert _content(folder) == _content(tmp_path / "undisturbed")
    assert len(table.load(folder / TABLE)) == len(Campaign.open(folder).records())


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=() if n == signal.SIGTERM else pytest.mark.thorough, id=n.name) for n in ENDING],
)
def test_a_signal_leaves_nothing(
    words: list[str], tmp_path: Path, number: signal.Signals, strikes: Strikes
) -> None:
    folder = tmp_path / "c"
    done = strikes.strike(LEAST_STEPS, number, folder, words)
    assert done.returncode == 4
    assert done.stderr.endswith("error: interrupted\nhint: give the same command to run it again\n")
    assert not folder.exists()
    assert strikes.strike(0, number, folder, words).returncode == 0


def test_two_at_once_do_not_write_into_one_folder(tmp_path: Path) -> None:
    words = ["import", str(DATA / SOURCES["a"]), "-o", str(tmp_path / "c")]
    with pytest.raises(NotWritten, match="not empty"), Campaign.whole(tmp_path / "c", StoredPlan()):
        assert outcome(*words)[0] == 0
    assert Campaign.open(tmp_path / "c").plan() != StoredPlan()
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_an_empty_folder_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    (tmp_path / "usual").mkdir()
    for name in ("private", "new"):
        assert outcome("import", DATA / SOURCES["a"], "-o", tmp_path / name)[0] == 0
    private, usual, new = ((tmp_path / name).stat().st_mode for name in ("private", "usual", "new"))
    assert private == 0o40700
    assert new == usual


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Campaign, _lines: Iterable[str]) -> None:
        raise NotWritten("cannot write records.jsonl: No space left on device")

    monkeypatch.setattr(Campaign, "append_lines", full)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("name", [*CONTENT, "notes.txt"])
def test_a_file_of_the_users_own_is_neither_removed_nor_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    said = "is not empty" if name == "notes.txt" else "already holds"
    assert said in refused("import", DATA / SOURCES["a"], "-o", tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {name: "mine"}


def test_a_table_is_not_imported_onto_itself(tmp_path: Path) -> None:
    header = "system,mpi,operation,algorithm,mapping,nodes,ppn,ranks,bytes,statistic,time_us,repetition"
    text = f"{header}\ns,m,pingpong,default,,1,2,2,8,one_way,1.5,0\n"
    (tmp_path / TABLE).write_text(text)
    assert f"already holds {TABLE}" in " ".join(refused("import", tmp_path / TABLE, "-o", tmp_path).split())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {TABLE: text}


def test_a_measurement_does_not_replace_a_table(tmp_path: Path) -> None:
    (tmp_path / TABLE).write_text("mine")
    with pytest.raises(RequestError, match="already holds samples"):
        Campaign.create(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == [TABLE]


def test_a_signal_after_the_end_of_the_folder_ends_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.rename
    struck = []

    def strike(path: Path, to: Path) -> None:
        original(path, to)
        struck.append(path)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Path, "rename", strike)
    code, out, err = outcome(*words, "-o", tmp_path / "c")
    assert (code, err) == (0, "")
    assert struck
    assert f"hockney fit {tmp_path / 'c'}`" in out
