"""An import or a merge that is ended in the middle leaves nothing, or what nobody takes for a whole campaign."""

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
from hockney.records.folder import CONTENT, PLAN, RECORDS, TABLE, UNFINISHED, Campaign, Unfinished
from hockney.records.journal import StoredPlan
from hockney.terminal.signals import ENDING
from hockney.writing import NotWritten

DATA = Path(__file__).parents[1] / "importers" / "data"
SOURCES = {"a": "osu_latency_5.txt", "b": "osu_bw_7.1.txt"}
LEAST_STEPS = 8
"""Of writing a folder: lock, mark, plan, launches, records and table, some of which are made beside and moved."""


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


def test_what_a_kill_leaves_is_refused_until_the_same_command_has_ended(
    words: list[str], tmp_path: Path, strikes: Strikes
) -> None:
    """One step after the other, so that each also begins with what the kill before it left."""
    folder = tmp_path / "c"
    for step in count(1):
        done = strikes.strike(step, signal.SIGKILL, folder, words)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL, done.stderr
        if (folder / UNFINISHED).exists():
            with pytest.raises(RequestError, match="not whole"):
                Campaign.open(folder)
        else:
            assert not _content(folder)
    assert step > LEAST_STEPS
    assert outcome(*words, "-o", tmp_path / "undisturbed")[0] == 0
    assert _content(folder) == _content(tmp_path / "undisturbed")
    assert len(table.load(folder / TABLE)) == len(Campaign.open(folder).records())


def test_a_folder_that_is_not_whole_says_how_to_go_on(tmp_path: Path, strikes: Strikes) -> None:
    folder, made = tmp_path / "c", tmp_path / "fit.json"
    words = ["import", str(DATA / SOURCES["a"])]
    strikes.strike(LEAST_STEPS, signal.SIGKILL, folder, words)
    verbs: list[list[str | Path]] = [
        ["fit", folder, "-o", made],
        ["report", folder],
        ["measure", "-o", folder, "--resume"],
    ]
    for verb in verbs:
        err = refused(*verb)
        assert "is not whole" in err
        assert "give the same `hockney import`" in " ".join(err.split())
    assert not made.exists()
    assert outcome(*words, "-o", folder)[0] == 0
    assert outcome("fit", folder, "-o", made)[0] == 0


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
    with Campaign.whole(tmp_path / "c", Unfinished(verb="import", sources=[]), StoredPlan()) as first:
        assert "another process is writing" in refused(*words)
        with pytest.raises(RequestError, match="not whole"):
            Campaign.open(first.path)
        assert (first.path / PLAN).exists(), "the second left it alone"
    assert Campaign.open(tmp_path / "c").plan() == StoredPlan()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Campaign, _lines: Iterable[str]) -> None:
        raise NotWritten("cannot write records.jsonl: No space left on device")

    monkeypatch.setattr(Campaign, "append_lines", full)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("name", CONTENT)
def test_a_file_of_the_users_own_is_neither_removed_nor_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    assert "already holds" in refused("import", DATA / SOURCES["a"], "-o", tmp_path)
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


def test_a_file_called_unfinished_means_nothing(tmp_path: Path) -> None:
    Campaign.create(tmp_path, {"ranks": 2}).append_lines(["{}"])
    (tmp_path / "unfinished").write_text("")
    assert Campaign.open(tmp_path).plan() == StoredPlan(ranks=2)
    assert outcome("import", DATA / SOURCES["a"], "-o", tmp_path)[0] == 2
    assert (tmp_path / RECORDS).read_text() == "{}\n"


OURS = Unfinished(verb="import", sources=["a.txt"]).model_dump_json()


@pytest.mark.parametrize(
    ("mark", "plan"),
    [
        ("", '{"imported": []}'),
        ("{}", '{"imported": []}'),
        ('{"verb": "measure", "sources": []}', '{"imported": []}'),
        (OURS, '{"ranks": 2}'),
        (OURS, '{"merged": []}'),
        (OURS, "{"),
    ],
)
def test_a_mark_that_is_not_ours_lets_nothing_be_removed(tmp_path: Path, mark: str, plan: str) -> None:
    before = {UNFINISHED: mark, PLAN: plan, RECORDS: "mine"}
    for name, text in before.items():
        (tmp_path / name).write_text(text)
    assert "none can have left it so" in " ".join(refused("import", DATA / SOURCES["a"], "-o", tmp_path).split())
    with pytest.raises(RequestError, match="none can have left it so"):
        Campaign.open(tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.name in before} == before


def test_a_mark_names_the_verb_and_its_sources(tmp_path: Path) -> None:
    with (
        Campaign.whole(
            tmp_path / "c", Unfinished(verb="merge", sources=["mon", "tue"]), StoredPlan(merged=[])
        ) as first,
        pytest.raises(RequestError, match="not whole: `hockney merge` of mon, tue is writing it"),
    ):
        Campaign.open(first.path)


def test_a_signal_after_the_end_of_the_folder_ends_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Path.unlink
    struck = []

    def strike(path: Path, missing_ok: bool = False) -> None:
        original(path, missing_ok=missing_ok)
        if path.name == UNFINISHED:
            struck.append(path)
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Path, "unlink", strike)
    code, out, err = outcome(*words, "-o", tmp_path / "c")
    assert (code, err) == (0, "")
    assert struck
    assert f"hockney fit {tmp_path / 'c'}`" in out
