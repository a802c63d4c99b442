"""Inputs that failed once are replayed, and seeds are read; the fuzzer finds a defect that was put in."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.factories import not_none
from tests.fuzz import branches
from tests.fuzz.mutation import Folder, Format, Json, Lines, Table, Text, joined, parts
from tests.fuzz.parser import CORPUS, Parser, judged, parsers, replayed
from tests.fuzz.work import Fuzzed
from tests.processes import captured

from hockney.errors import RequestError

ROOT = Path(__file__).parents[2]
FILES = sorted(CORPUS.glob("*/*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_failed_once_is_read_or_refused(path: Path, tmp_path: Path) -> None:
    failure = replayed(parsers.get(path.parent.name), path.read_bytes(), tmp_path).failure
    assert failure is None, failure.trace


@pytest.mark.parametrize("name", parsers.names())
def test_seeds_are_read_and_changed_ones_read_or_refused(name: str, tmp_path: Path) -> None:
    """`make fuzz` goes on with this for half an hour; here are the same changes each time."""
    parser, chance = parsers.get(name), Random(name)
    results = [judged(parser, seed, tmp_path) for seed in parser.seeds()]
    changed = [
        judged(parser, parser.format.changed(seed, chance, gentle), tmp_path)
        for seed in parser.seeds()
        for gentle in (True, False, False)
    ]
    assert [result.failure.trace for result in results + changed if result.failure is not None] == []
    refused = sum(not result.accepted for result in results)
    # Three texts of the importers' tests hold what none of them takes.
    assert refused == (3 if name == "results" else 0)


@pytest.mark.parametrize("name", ["campaign", "machine", "system", "table"])
def test_what_holds_most_gets_one_input_of_25(name: str) -> None:
    assert 25 * parsers.get(name).turn >= sum(parser.turn for _, parser in parsers)


def fragile(error: Exception) -> Parser:
    """It takes objects, and fails where one of them holds a number above 1000."""

    def read(data: bytes, _folder: Path) -> str:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as damage:
            raise RequestError("no JSON") from damage
        if isinstance(value, dict) and any(isinstance(part, int) and part > 1000 for part in value.values()):
            raise error
        return ""

    return Parser(lambda: [b'{"a": 1, "b": "text", "c": 2.5}'], Json(), read, turn=200)


@pytest.mark.parametrize("error", [TypeError("x"), MemoryError(), RecursionError(), UserWarning("loud")])
def test_a_defect_is_found_and_kept_as_small_as_it_gets(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.parser.CORPUS", tmp_path)
    (tmp_path / "inputs").mkdir()
    fuzzed = Fuzzed("fragile", fragile(error), "seed", tmp_path / "inputs")
    with (tmp_path / "present").open("wb") as present:
        fuzzed.turn(present)
    assert fuzzed.count.inputs == 200
    assert 60 < fuzzed.count.accepted < 200
    (place,) = fuzzed.count.failures
    assert place.startswith(type(error).__name__)
    command, text = (tmp_path / "fragile" / fuzzed.count.failures[place]).read_bytes().split(b"\n")
    assert command == b""
    assert len(json.loads(text)) == 1


def test_our_errors_are_no_failures(tmp_path: Path) -> None:
    parser = fragile(RequestError("too large"))
    assert judged(parser, b'{"a": 5000}', tmp_path).failure is None
    assert not judged(parser, b'{"a": 5000}', tmp_path).accepted
    assert judged(parser, b'{"a": 5}', tmp_path).accepted


def works(_data: bytes, _folder: Path) -> str:
    while True:
        pass


def waits(_data: bytes, _folder: Path) -> str:
    time.sleep(1e6)
    return ""


@pytest.mark.parametrize(("read", "limit"), [(works, "LONGEST_S"), (waits, "LONGEST_WAIT_S")])
def test_what_takes_too_long_is_stopped(
    read: Callable[[bytes, Path], str], limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"tests.fuzz.parser.{limit}", 0.05)
    failure = not_none(judged(Parser(list, Text(), read), b"", tmp_path).failure)
    assert failure.place.startswith("Endless")


PAUSED = """
import os, signal, subprocess, sys
from pathlib import Path
from tests.fuzz import parser
from tests.fuzz.mutation import Text

def read(data, folder):
    # Again and again, for where it is not stopped yet; a stopped process could not end what waits for it.
    continued = subprocess.Popen(["sh", "-c", f"while sleep 1; do kill -CONT {os.getpid()}; done"])
    try:
        os.kill(os.getpid(), signal.SIGSTOP)
    finally:
        continued.kill()
    return ""

parser.LONGEST_WAIT_S = 0.9
failure = parser.judged(parser.Parser(list, Text(), read), b"", Path(sys.argv[1])).failure
print(failure and failure.trace)
"""


def test_a_pause_of_the_process_is_no_wait_of_the_parser(tmp_path: Path) -> None:
    done = captured([sys.executable, "-c", PAUSED, tmp_path], cwd=ROOT, check=True)
    assert done.stdout == "None\n"


def test_a_command_that_ends_with_a_traceback_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise KeyError("lost")

    parser = Parser(list, Text(), lambda _data, _folder: "m.json", ("show FILE",))
    assert judged(parser, b"", tmp_path, "show FILE").failure is None
    monkeypatch.setattr("hockney.machine.file.located", broken)
    failure = not_none(judged(parser, b"", tmp_path, "show FILE && show FILE --json").failure)
    assert failure.place.startswith("KeyError")


TABLE = b"a,b\n1,2\n3,4\n"
SAMPLES: list[tuple[Format, bytes]] = [
    (Json(), b'{"a": [1, 2, {"b": null}], "c": "text"}'),
    (Lines(), b'{"a": 1}\n{"b": [2.5]}\n'),
    (Text(), b"# size time\n8 1.5\n16 2.5\n"),
    (Table(), TABLE),
    (Folder({"r.jsonl": Lines(), "t.csv": Table()}), joined({"r.jsonl": b'{"a": 1}\n', "t.csv": TABLE})),
]


@pytest.mark.parametrize(("form", "data"), SAMPLES, ids=lambda value: type(value).__name__)
def test_changes_follow_from_the_seed_and_differ(form: Format, data: bytes) -> None:
    def inputs(seed: int, gentle: bool) -> list[bytes]:
        chance = Random(seed)
        changed = [data]
        for _ in range(100):
            changed.append(form.changed(chance.choice(changed), chance, gentle))
        return changed

    for gentle in (False, True):
        assert inputs(1, gentle) == inputs(1, gentle) != inputs(2, gentle)
        assert len(set(inputs(1, gentle))) > 20
    assert all(len(less) < len(data) + 2 for less in form.smaller(data))


def test_files_of_a_folder_are_one_input() -> None:
    files = {"plan.json": b"{}", "records.jsonl": b'{"a": 1}\n', "empty": b""}
    assert parts(joined(files | {"plan.json": b"{}\n"})) == files | {"plan.json": b"{}\n"}
    assert parts(b"no heading") == {}
    assert "" not in parts(b"==> ../x <==\n1\n")


SOURCE = '''
def f(x):
    """What it does."""
    if x > 2:
        return "large"
    for _ in range(x):
        pass
    match x:
        case 1:
            return "one"
    try:
        return 1 / x
    except ZeroDivisionError:
        return "none"
'''


@pytest.mark.parametrize(
    ("x", "arms"),
    [
        (3, {"2.0", "4.0"}),
        (2, {"2.0", "4.1", "6.0"}),
        (1, {"2.0", "4.1", "6.0", "10.0"}),
        (0, {"2.0", "4.1", "13.0"}),
    ],
)
def test_branches_that_are_taken_are_marked(x: int, arms: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    monkeypatch.setattr(branches, "NAMES", names)
    taken = bytearray(20)
    namespace: dict[str, Any] = {branches.VARIABLE: taken}
    exec(branches.compiled(SOURCE.encode(), "f.py", "m"), namespace)
    assert namespace["f"].__doc__ == "What it does."
    namespace["f"](x)
    assert {name for name, is_taken in zip(names, taken, strict=False) if is_taken} == {
        f"m:{arm}" for arm in arms
    }


INSTALLED = """
from tests.fuzz import branches
branches.install()
from hockney.units import format_bytes
format_bytes(8)
print(*[name for name, taken in zip(branches.NAMES, branches.TAKEN) if taken])
"""


def test_modules_are_marked_however_they_are_installed() -> None:
    done = captured([sys.executable, "-c", INSTALLED], cwd=ROOT, check=True)
    assert {name.partition(":")[0] for name in done.stdout.split()} == {"hockney.units"}
