"""What is said to a person has short sentences: every text of the package is walked."""

from __future__ import annotations

import ast
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from tests import factories
from tests.check.planted import Made, consistent, frame
from tests.cli import test_identify
from tests.cli.test_predict_profile import call, written
from tests.command_line import called, run_hockney
from tests.processes import captured
from tests.runner.preload.programs import compiled, watched
from tests.tune import planted

import hockney
from hockney.records import table
from hockney.runner.mpi import Mpi
from hockney.terminal import say
from hockney.terminal.say import A_PIPE

MOST_WORDS = 25
MOST_WORDS_BEFORE = 60
"""The first useful answer."""
PACKAGE = Path(hockney.__file__).parent
TIME, SHARE = r"\d[\d.,]* [nµm]?s\b", r"(?:< )?\d[\d.]* %"
_CODE = re.compile(r"`[^`]*`")
_STOP = re.compile(r"(?<=[.!?])\s+|\n+")
_RESULT = re.compile(rf"{TIME}|{SHARE}|(?<!\d )× \d[\d.]*|\d[\d.]* ×(?! \d)|\d[\d.]* [kMG]B/s")
_BESIDE = re.compile(r"\([^()]*\)|, 95 % interval [^,;]*|\d[^ ]*(?: \S+)? (?:to|of) (?=\d)")
"""What belongs to a number: its interval, what stands in brackets, and the whole that it is a part of."""
BANNED = re.compile(r"\btold apart\b|\bso that\b|\bcan(?:not)? be told\b|\bforetold\b|\(s\)(?:\W|$)")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and texts of a module, no docstrings; what a text is filled with counts as one word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [*ast.walk(tree)]
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    left_out |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values)
            yield node.lineno, "".join(parts)


def drawn(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and texts of a page's template, without its tags, and of its script."""
    pattern = r"\"[^\"\n]*\"|`[^`]*`" if path.suffix == ".js" else r"(?:[^<>{}]|\{\{.*?\}\})+(?=[<{])"
    whole = path.read_text(encoding="utf-8")
    for found in re.finditer(pattern, whole):
        text = re.sub(r"\$?\{+[^{}]*\}+", "N", found[0].strip('"`'))
        yield whole.count("\n", 0, found.start()) + 1, text


def sentences(text: str) -> Iterator[str]:
    """A command is one word, and only a full stop or the end of a line ends a sentence."""
    yield from _STOP.split(_CODE.sub("C", text))


def faults(sentence: str) -> list[str]:
    """What a reader stumbles over."""
    long = len(re.findall(r"[^\W\d_]\S*", sentence)) > MOST_WORDS
    return ["long"] * long + BANNED.findall(sentence)


def numbers(text: str) -> int:
    """Results in a text: a number and its interval are one."""
    return len(_RESULT.findall(_BESIDE.sub("", text)))


def said() -> Iterator[tuple[str, str]]:
    """Where each text with a blank stands, and the text: of modules, pages and their scripts."""
    readers = {".py": texts, ".j2": drawn, ".js": drawn}
    for path in sorted(PACKAGE.rglob("*")):
        # The options of a launcher are one text, and no sentence.
        if "launchers" not in path.parts and path.suffix in readers and not path.name.endswith(".sh.j2"):
            for line, text in readers[path.suffix](path):
                if " " in text.strip():
                    yield f"{path.relative_to(PACKAGE)}:{line}", text


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("word " * 26, ["long"]),
        ("word " * 13 + "; " + "word " * 13, ["long"]),
        ("It cannot be told.", ["cannot be told"]),
        ("2 launch(s)", ["(s)"]),
        ("word " * 25, []),
    ],
)  # fmt: skip
def test_a_fault_is_seen(sentence: str, wrong: list[str]) -> None:
    assert faults(sentence) == wrong


def test_a_number_and_its_interval_are_one() -> None:
    said = (
        "off by 1 % in the median (P95 6 %)",
        "2 µs, 95 % interval 1 to 3 µs, at 0 B",
        "5 ms of 50 ms is waiting",
    )
    assert [*map(numbers, said), numbers("it took 2 µs or 3 µs")] == [1, 1, 1, 2]


def test_no_sentence_of_a_message_has_a_fault() -> None:
    places = [*said()]
    assert {".py:", ".j2:", ".js:"} == {match[0] for where, _ in places if (match := re.search(r"\.\w+:", where))}
    wrong = {(where, each): bad for where, text in places for each in sentences(text) if (bad := faults(each))}
    assert wrong == {}


def is_own_share(node: ast.AST) -> bool:
    """Whether a text writes a share by a format, not by `units.percent`."""
    if isinstance(node, ast.FormattedValue) and node.format_spec:
        return bool(re.search(r"%\}?['\"]?$", ast.unparse(node.format_spec)))
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "{:" in node.value:
        return bool(re.search(r"%\}?$", node.value))
    return isinstance(node, ast.JoinedStr) and any(
        isinstance(number, ast.FormattedValue)
        and isinstance(after, ast.Constant)
        and str(after.value).lstrip().startswith("%")
        for number, after in pairwise(node.values)
    )


def test_no_share_has_a_style_of_its_own() -> None:
    """`units.percent` writes all but the ticks of a page's axis."""
    own = {
        f"{path.relative_to(PACKAGE)}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if is_own_share(node)
    }
    assert own - {"units.py", "report/explorer/drawn.py"} == set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the verbs below are asked about: nothing in it was measured."""
    made = tmp_path_factory.mktemp("style")
    factories.campaign(made / "a", factories.messages(most_B=1 << 20, within=0.3))
    factories.campaign(made / "b", factories.messages(1e-6, most_B=1 << 20))
    table.write(frame(consistent, 5, Made(own=0.02), 1), made / "check.csv")
    slow = frame(lambda *call: consistent(*call) * (2 if call[0] == "gather" else 1), 5, Made(own=0.02), 1)
    table.write(slow, made / "slow.csv")
    planted.campaign(made / "tune")
    planted.campaign(made / "unsure", width=0.9)

    table.write(test_identify.planted(lambda _: "binomial"), made / "identify.csv")
    (made / "osu.txt").write_text("# OSU MPI Latency Test v7.3\n# Size  Latency (us)\n1 0.5\n8 0.5\n1024 1.0\n")
    (made / "notes.txt").write_text("nothing\n")
    (made / "times.csv").write_text("ranks,time_s\n1,8.0\n2,4.1\n4,2.2\n8,1.3\n16,0.9\n")
    calls = call("allreduce", 0, {8: 40, 1 << 20: 20}, waiting_s=0.02), call("alltoall", 1, {64: 8})
    written(made / "profile.json", *calls)
    for name in "ab":
        done = run_hockney("fit", name, "-o", f"{name}.json", cwd=made)
        assert done.returncode == 0, done.stderr
    return made


MOST_LINES = 10
"""Of an answer, beside its tables, before the one line of warnings."""
MOST_LINES_OF_THE_DEMO = 60
ANSWERS = {
    "fit a": TIME,
    "show a.json": TIME,
    "show a.json --format formulas": rf"T\(n\) = {TIME}",
    "show a.json --format table": TIME,
    "evaluate a --operation pingpong": rf"off by {SHARE}",
    "tune tune --for openmpi-v2 -o rules": r"bcast of .* × \d",
    "tune unsure --for openmpi-v2 -o none": r"No rule: ",
    "check check.csv": r"No guideline is violated",
    "check slow.csv": r"calls violate a guideline, the worst by × \d",
    "check check.csv --against check.csv": r"\d+ of \d+ became slower.*, \d+ faster",
    "check slow.csv --against check.csv": r"\d+ of \d+ became slower.*, \d+ faster",
    "diff a.json b.json": rf"latency +{TIME}",
    "diff orfeo_thin bluegene_p": rf"latency +{TIME}",
    "identify identify.csv": r"B +binomial",
    "import osu.txt notes.txt -o imported": r"\d records from",
    "scaling amdahl 0.01 --ranks 1,8,64": r"limit: 100",
    "scaling fit times.csv": r"1 +8 s",
    "network map --pattern ring:16 --topology torus:4x4": r"linear +1 ",
    "simulate allreduce --algorithm ring --ranks 16 --bytes 1MiB --machine orfeo_thin": TIME,
    "predict profile.json --machine orfeo_thin": rf"Communication takes {TIME}",
    "predict allreduce --ranks 1024 --bytes 8 --machine orfeo_thin": rf"recursive_doubling, {TIME}",
    "predict pingpong --bytes 64KiB,1MiB --machine a.json": rf"64 KiB: {TIME}",
    "predict jacobi --size 100 --ranks 8 --machine orfeo_thin": rf"2x2x2 is predicted fastest, {TIME}",
    "predict ring --ranks 2-8 --machine orfeo_thin": rf"\d +{TIME} +{TIME}",
    "report a -o page.html": rf"look: .* latency is {TIME}",
    "study point_to_point --from a -o study": rf"look: .* latency is {TIME}",
}
"""What a verb's user came for: a time, a share, a name or a verdict at its place, not any number."""


class Screen(NamedTuple):
    """What a verb printed on both streams in its order, and on each."""

    lines: list[str]
    out: list[str]
    err: list[str]


class Copied(io.StringIO):
    """A stream whose text goes into another, too."""

    def __init__(self, other: io.StringIO) -> None:
        super().__init__()
        self.other = other

    def write(self, text: str) -> int:
        self.other.write(text)
        return super().write(text)


def on_screen(words: str, folder: Path) -> Screen:
    both = io.StringIO()
    out, err = Copied(both), Copied(both)
    with chdir(folder), redirect_stdout(out), redirect_stderr(err):
        code = called(*words.split())
    assert code in (0, 1), both.getvalue()
    return Screen(*(stream.getvalue().splitlines() for stream in (both, out, err)))


def words_before(lines: Sequence[str], answer: str) -> int:
    """Words on the screen before what answers."""
    text = "\n".join(lines)
    found = re.search(answer, text)
    assert found, text
    return len(text[: found.start()].split())


def unwrapped(lines: Sequence[str]) -> Iterator[str]:
    """The lines that are no rows of a table, each as long as it was before the width of the terminal."""
    whole = ""
    for line, after in pairwise([*lines, ""]):
        whole += line
        if after and not after.startswith(" ") and len(line) + 1 + len(after.split()[0]) > A_PIPE:
            whole += " "
        else:
            if whole and not whole.startswith(" "):
                yield whole
            whole = ""


def test_numbers_before_an_answer_are_none() -> None:
    before = ["5 warnings: 131 of 136 points are marked."] * 9
    assert words_before([*before, "64 KiB: 6.7 µs"], TIME) == 9 * 8 + 2 > MOST_WORDS_BEFORE


def test_words_on_either_stream_count_in_their_order(tmp_path: Path) -> None:
    factories.campaign(tmp_path / "a", factories.messages(most_B=64))
    shown = say.rows

    def late(*words: Any, **other: Any) -> None:
        say.warn("word " * MOST_WORDS_BEFORE)
        shown(*words, **other)

    with patch.object(say, "rows", late):
        assert words_before(on_screen("fit a", tmp_path).lines, TIME) > MOST_WORDS_BEFORE


@pytest.mark.parametrize("words", ANSWERS)
def test_an_answer_is_early_short_and_narrow(words: str, folder: Path) -> None:
    lines, out, err = on_screen(words, folder)
    assert max(map(len, lines)) <= A_PIPE
    assert words_before(lines, ANSWERS[words]) <= MOST_WORDS_BEFORE
    # Rows of tables begin with a blank.
    assert len([line for line in out if line and not line.startswith(" ")]) <= MOST_LINES
    assert len([line for line in err if line.startswith("warning:")]) <= say.MOST_WARNINGS
    clauses = [clause for line in unwrapped(lines) for clause in re.split(r"[.!?,;:] ", _BESIDE.sub("", line))]
    assert [clause for clause in clauses if numbers(clause) > 1] == []


@pytest.mark.mpi
def test_a_measurement_ends_with_its_numbers(tmp_path: Path, mpi: Mpi) -> None:
    words = f"measure --quick -o c --operation pingpong --largest 1KiB --mpi {mpi.wrapper}"
    lines, out, _ = on_screen(words, tmp_path)
    assert max(map(len, out)) <= A_PIPE
    assert words_before(lines, rf"pingpong.* {TIME}") <= MOST_WORDS_BEFORE


@pytest.mark.mpi
@pytest.mark.one_mpi
def test_a_profile_begins_with_its_calls(tmp_path: Path, mpi: Mpi) -> None:
    _, done = watched(mpi, tmp_path, 3, compiled(mpi, tmp_path, "late.c", "-g"))
    assert words_before(done.stdout.splitlines(), rf"\n allreduce .* {TIME}") <= MOST_WORDS_BEFORE


@pytest.mark.thorough
@pytest.mark.mpi
@pytest.mark.one_mpi
def test_the_demo_is_one_screen_and_ends_with_its_verdict(tmp_path: Path, mpi: Mpi) -> None:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name, program in {"hockney": Path(sys.executable).with_name("hockney"), "mpicc": mpi.wrapper}.items():
        (binaries / name).symlink_to(program)
    (tmp_path / "cpp").symlink_to(PACKAGE.parents[1] / "cpp")
    made = f"make -s -C {tmp_path} -f {PACKAGE.parents[1]}/Makefile -o .venv/.ready BIN=bin demo"
    done = captured(made.split(), env={**os.environ, "COLUMNS": str(A_PIPE)}, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) + len(done.stderr.splitlines()) <= MOST_LINES_OF_THE_DEMO
    assert re.search(rf"off by {SHARE} .*{SHARE}\.$", " ".join(lines[-2:]))
