"""What is said to a person has short sentences: every text of the package is walked."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from tests import factories
from tests.check.planted import Made, consistent, frame
from tests.cli import test_identify
from tests.cli.test_predict_profile import call, written
from tests.command_line import run_hockney
from tests.tune import planted

import hockney
from hockney.records import table
from hockney.runner.mpi import Mpi
from hockney.terminal import say
from hockney.terminal.tables import A_PIPE

MOST_WORDS = 25
MOST_WORDS_BEFORE = 60
"""The first useful answer."""
_NO_SENTENCE = re.compile(r"\n|`[^`]*`")
"""What a sentence does not go on over, and commands, which are no words of it."""


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Lines and texts of a module, no docstrings; what a text is filled with counts as one word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)
    } - {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    for node in ast.walk(tree):
        if id(node) in silent or id(node) in inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "N" for part in node.values)
            yield node.lineno, "".join(parts)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, split where a reader takes a breath: at full stops, semicolons and colons."""
    yield from re.split(
        r"(?<=[.!?;:])\s+|\n+", _NO_SENTENCE.sub(lambda found: "\n" if found[0] == "\n" else "C", text)
    )


def said() -> Iterator[tuple[str, str]]:
    """Where each text with a blank stands, and the text."""
    root = Path(hockney.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for line, text in texts(path):
            if " " in text.strip():
                yield f"{path.relative_to(root)}:{line}", text


def test_no_sentence_is_long() -> None:
    long = [
        f"{where}: {sentence}"
        for where, text in said()
        for sentence in sentences(text)
        if len(re.findall(r"[^\W\d_]\S*", sentence)) > MOST_WORDS
        # The options of a launcher are one text, and no sentence.
        and "launchers" not in where
    ]
    assert long == []


BANNED = re.compile(r"\btold apart\b|\bso that\b|\bcan(?:not)? be told\b")


def test_no_phrase_is_banned() -> None:
    assert [f"{where}: {text}" for where, text in said() if BANNED.search(text)] == []


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
    root = Path(hockney.__file__).parent
    own = {
        f"{path.relative_to(root)}"
        for path in sorted(root.rglob("*.py"))
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
    planted.campaign(made / "tune")
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
ANSWERS = """
fit a
show a.json
evaluate a --operation pingpong
tune tune --for openmpi-v2 -o rules
check check.csv
check check.csv --against check.csv
diff a.json b.json
diff orfeo_thin bluegene_p
identify identify.csv
import osu.txt notes.txt -o imported
scaling amdahl 0.01 --ranks 1,8,64
scaling fit times.csv
network map --pattern ring:16 --topology torus:4x4
simulate allreduce --algorithm ring --ranks 16 --bytes 1MiB --machine orfeo_thin
predict profile.json --machine orfeo_thin
predict allreduce --ranks 1024 --bytes 8 --machine orfeo_thin
predict pingpong --bytes 64KiB,1MiB --machine a.json
predict jacobi --size 100 --ranks 8 --machine orfeo_thin
predict ring --ranks 2-8 --machine orfeo_thin
report a -o page.html
"""
NUMBER = re.compile(r"\d[\d.,]*(?: (?:[nµm]?s|[KMGk]?i?B(?:/s)?|%|hop|of|compar|rule|record)|\b)")
"""What a user came for: a time, a size, a rate, a share, or how many."""
INTERVAL = re.compile(r"\d[^ ]*(?: \S+)? to \d")


@pytest.fixture
def said_by(folder: Path) -> Callable[[str], tuple[list[str], list[str]]]:
    """The lines of an answer, and those that follow it beside it."""

    def said(words: str) -> tuple[list[str], list[str]]:
        done = run_hockney(*words.split(), cwd=folder, columns=A_PIPE)
        assert done.returncode in (0, 1), done.stderr
        return done.stdout.splitlines(), done.stderr.splitlines()

    return said


def words_before(lines: Sequence[str]) -> int:
    """Words before the first number that answers."""
    before = NUMBER.split("\n".join(lines), maxsplit=1)
    assert len(before) > 1, lines
    return len(before[0].split())


@pytest.mark.parametrize("words", ANSWERS.strip().splitlines())
def test_an_answer_is_early_short_and_narrow(
    words: str, said_by: Callable[[str], tuple[list[str], list[str]]]
) -> None:
    out, err = said_by(words)
    assert max(map(len, out + err)) <= A_PIPE
    assert words_before(out) <= MOST_WORDS_BEFORE
    # Rows of tables begin with a blank.
    assert len([line for line in out if line and not line.startswith(" ")]) <= MOST_LINES
    assert len([line for line in err if line.startswith("warning:")]) <= say.MOST_WARNINGS
    crowded = [part for line in out for part in re.split(r"[.;:] ", line) if len(INTERVAL.findall(part)) > 1]
    assert [line for line in crowded if not line.startswith(" ")] == []


@pytest.mark.mpi
def test_a_measurement_ends_with_its_numbers(tmp_path: Path, mpi: Mpi) -> None:
    words = f"measure --quick -o c --operation pingpong --largest 1KiB --mpi {mpi.wrapper}"
    done = run_hockney(*words.split(), cwd=tmp_path, columns=A_PIPE)
    assert done.returncode == 0, done.stderr
    out = done.stdout.splitlines()
    assert max(map(len, out)) <= A_PIPE
    assert words_before(out) <= MOST_WORDS_BEFORE
