"""Every command of README and docs runs, as its page has it.

A page's commands run one after the other in one shell, in a folder of their own that looks like a fresh clone
with its environment. What must be there before, a page's fences name (`given`). `make test` runs README and the
tutorials, `make test-all` all pages.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.cluster.fixture import made
from tests.docs import warm
from tests.docs.given import MOVED, PROGRAMS, Given, giver
from tests.docs.page import ROOT, Piece, outside, pages, pieces
from tests.factories import written

from hockney.errors import RequestError
from hockney.runner import lab

LIMIT_S = 900
"""A page; the longest takes a few minutes."""
ALL = "HOCKNEY_TEST_ALL" in os.environ
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
"""A reader is no root, and these tests may be: Open MPI asks, as its `mpirun` on a page does not say so."""
MPICH = ".venv-mpich"
"""The environment of `make test` for a second MPI."""
_HOCKNEY = re.compile(r"(?m)^(hockney (?:.*\\\n)*[^#\n]*?)(?=\s*(?:#.*)?$)")
"""A command of several lines, without its comment."""
_JUDGE = """\
judge() {
    case " $exits " in *" $1 "*) return ;; esac
    [ "$1" = 4 ] && tail -n 2 "$log" | grep -qE "$MOVED" || exit "$1"
}
trap 'judge $?' ERR"""
"""Ends the shell where a command's exit code is no answer."""
SHORT = "--bytes 8,64,512,4KiB,32KiB,64KiB --visits 1 --budget 20ms --level all"
"""What `make test` adds to `hockney measure`: enough sizes for every kind of answer, none of them a good one."""
_MEASURES = re.compile(r"hockney (measure|run|study \w+ (?!--dry-run|--from)|tune .*--verify|apply|profile)")


def _params() -> Iterator[object]:
    for page in pages():
        if found := [piece for piece in pieces(page) if "not" not in piece.says]:
            name = str(page.relative_to(ROOT))
            first = name == "README.md" or "/tutorial/" in name
            marks = [] if first else [pytest.mark.thorough]
            if any(_MEASURES.search(piece.text) for piece in found):
                marks.append(pytest.mark.mpi)
            yield pytest.param(page, marks=marks, id=name)


def _namespaces() -> None:
    lab.down(made("docs", 2, None).name)


@contextmanager
def _in_namespaces(clone: Path) -> Iterator[None]:
    """With a `hockney` that runs where its page says, as the warm one runs elsewhere; and nothing left of it."""
    program = clone / ".venv/bin/hockney"
    program.unlink()
    program.symlink_to(Path(sys.executable).with_name("hockney"))
    try:
        yield
    finally:
        for name in ("left", "right"):
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        with suppress(RequestError):
            lab.down("lab")


NEEDS = {"namespaces": _namespaces}
"""What a fence may need: each skips by name where it is not there."""


@pytest.fixture(scope="session")
def hockney() -> Iterator[Path]:
    """A `hockney` that starts at once."""
    with tempfile.TemporaryDirectory(prefix="hockney-docs-") as folder:
        there = Path(folder) / "socket"
        served = subprocess.Popen(
            [sys.executable, "-m", "tests.docs.warm", there],
            cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert served.stdout is not None
        assert served.stdout.readline() == "listening\n"
        warm.program(Path(folder) / "hockney", there)
        yield Path(folder) / "hockney"
        os.killpg(served.pid, signal.SIGKILL)
        served.wait()
        served.stdout.close()


@pytest.fixture
def clone(tmp_path: Path, hockney: Path) -> Path:
    """What a reader has after `make`: the tree, and an environment with `hockney` in it."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in sorted({line.partition("/")[0] for line in tracked.splitlines()}):
        (folder / name).symlink_to(ROOT / name)
    programs = folder / ".venv/bin"
    programs.mkdir(parents=True)
    for program in Path(sys.executable).parent.iterdir():
        if program.name not in ("hockney", "activate"):
            (programs / program.name).symlink_to(program)
    for name in ("pyvenv.cfg", "lib"):  # so that its `python` finds what is installed
        if (there := Path(sys.prefix, name)).exists():
            (programs.parent / name).symlink_to(there)
    (programs / "hockney").symlink_to(hockney)
    (programs / "activate").write_text(
        f'PATH="{programs}:{Path(sys.executable).parent}:$PATH"\n', encoding="utf-8"
    )
    if (ROOT / MPICH).is_dir():
        (folder / MPICH).symlink_to(ROOT / MPICH)
    (folder / ".venv/.ready").touch()
    return folder


@pytest.fixture(scope="session")
def given(hockney: Path, tmp_path_factory: pytest.TempPathFactory) -> Given:
    """What pages take as there already."""
    return giver(tmp_path_factory.mktemp("given"), hockney)


def _script(found: list[Piece], logs: Path, given: Given) -> str:
    """All pieces for one shell: each writes to a file of its own; the first that fails ends it."""
    lines = [f"MOVED={shlex.quote(MOVED)}", _JUDGE]
    for number, piece in enumerate(found):
        text = piece.text
        if not ALL:
            text = re.sub(r"(?m)^hockney measure (?!.*--bytes)(?!.*--submit)", f"hockney measure {SHORT} ", text)
        if added := piece.says.get("adds"):
            text = _HOCKNEY.sub(rf"\1 {added}", text)
        lines += [f"log={shlex.quote(str(logs / str(number)))}", 'exec >"$log" 2>&1']
        lines += [
            f"[ -e {there} ] || {{ mkdir -p $(dirname {there}); cp -r {shlex.quote(str(given(name)))} {there}; }}"
            for name in piece.says.get("given", "").split()
            for there in [f".venv/bin/{name}" if name in PROGRAMS else name]
        ]
        lines += [f"exits={shlex.quote(piece.says.get('exits', '0'))}", text]
    return "\n".join([*lines, "exit 0\n"])


def _is_in(expected: tuple[str, ...], printed: str) -> bool:
    """Whether the lines stand in what was printed, in their order; `…` is anything, blanks are alike."""
    rest = [line for line in printed.splitlines() if line.strip()]
    for is_gap, lines in groupby(filter(str.strip, expected), key=lambda line: line.strip() == "…"):
        if is_gap:
            continue
        patterns = [
            ".*?".join(r"\s+".join(map(re.escape, part.split())) for part in line.split("…")) for line in lines
        ]
        # The first place is as good as any: what follows may stand anywhere behind it.
        starts = (
            start
            for start in range(len(rest) - len(patterns) + 1)
            if all(re.search(pattern, line) for pattern, line in zip(patterns, rest[start:], strict=False))
        )
        if (start := next(starts, None)) is None:
            return False
        rest = rest[start + len(patterns) :]
    return True


@pytest.mark.parametrize("page", list(_params()))
def test_the_commands_of_a_page_run(page: Path, clone: Path, given: Given, tmp_path: Path) -> None:
    found = [piece for piece in pieces(page) if "not" not in piece.says and (ALL or "slow" not in piece.says)]
    reasons = []
    for need in dict.fromkeys(piece.says["needs"] for piece in found if "needs" in piece.says):
        try:
            NEEDS[need]()
        except pytest.skip.Exception as skipped:
            found = [piece for piece in found if piece.says.get("needs") != need]
            reasons.append(str(skipped.msg))
    if not found:
        pytest.skip(reasons[0] if reasons else "all of it is slow: `make test-all` runs it")
    if any(_MEASURES.search(piece.text) for piece in found) and not shutil.which(
        "mpicc", path=f"{clone}/.venv/bin:{os.environ['PATH']}"
    ):
        pytest.skip(lacking("an MPI", "no mpicc is on the PATH"))
    if any(MPICH in piece.text for piece in found) and not (clone / MPICH).is_dir():
        pytest.skip(lacking("MPICH", f"no {MPICH} beside .venv"))
    logs = tmp_path / "logs"
    logs.mkdir()
    script = written(tmp_path / "script", _script(found, logs, given))
    environment = os.environ | AS_ROOT | {"PATH": f"{clone}/.venv/bin:{os.environ['PATH']}", "COLUMNS": "160"}
    with ExitStack() as surroundings:
        if any(piece.says.get("needs") == "namespaces" for piece in found):
            surroundings.enter_context(_in_namespaces(clone))
        shell = surroundings.enter_context(
            subprocess.Popen(
                ["bash", "--noprofile", "--norc", script],
                cwd=clone, env=environment, stdin=subprocess.DEVNULL, start_new_session=True,
            )
        )  # fmt: skip
        try:
            code = shell.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            raise
    printed = [log.read_text(encoding="utf-8") for log in sorted(logs.iterdir(), key=lambda log: int(log.name))]
    if code:
        last = found[len(printed) - 1]
        pytest.fail(
            f"{page.relative_to(ROOT)}:{last.line}: {code} from\n{last.text}\n{printed[-1]}", pytrace=False
        )
    for piece, text in zip(found, printed, strict=True):
        if not _is_in(piece.output, text):
            pytest.fail(f"{page.relative_to(ROOT)}:{piece.line}: {piece.text}\nprinted\n{text}", pytrace=False)
    if reasons:
        pytest.skip(reasons[0])  # the rest of the page ran


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_stands_in_a_block_that_is_run(page: Path) -> None:
    assert outside(page) == []


@pytest.mark.parametrize(
    ("ended", "code"),
    [(None, 0), (SystemExit(1), 1), (SystemExit("why"), 1), (ValueError("broken"), 70)],
)
def test_an_error_of_the_program_is_no_answer(ended: BaseException | None, code: int) -> None:
    """A fence may take 1 for an answer, and a traceback must not pass for it."""

    def main() -> None:
        if ended:
            raise ended

    assert warm.code_of(main) == code


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("1 failure, first: 3 of 18 points were not met at the level asked for (all)", 0),
        ("2 failures, first: 3 of 18 points were not met at the level asked for (all)", 4),
        ("1 failure, first: pingpong, 8 B: the launch ended", 4),
    ],
)
def test_only_another_level_of_the_machine_is_no_failure(said: str, code: int, tmp_path: Path) -> None:
    piece = Piece(1, f"printf 'error: %s\\nhint: resume\\n' '{said}' >&2; (exit 4)", (), {})
    script = _script([piece], tmp_path, lambda _: tmp_path)
    assert subprocess.run(["bash", "-c", script], check=False).returncode == code


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_what_measures_has_no_answer_but_success(page: Path) -> None:
    """`exits` is of a whole block: a measurement that fails in one would pass for an answer."""
    answers = [piece.text for piece in pieces(page) if "exits" in piece.says]
    assert [text for text in answers if "hockney measure" in text] == []


@pytest.mark.parametrize(
    ("expected", "printed", "is_in"),
    [
        (("a 1", "…", "c"), "x\na   1\nb\nc\n", True),
        (("takes … µs",), "it takes 3.1 µs\n", True),
        (("takes … µs",), "it takes 3.1\nµs\n", False),
        (("c", "a"), "a\nc\n", False),
        (("a", "c"), "a\nb\nc\n", False),
        (("a", "…", "b", "c"), "a\nb\na\nb\nc\n", True),
    ],
)
def test_what_is_printed_is_compared(expected: tuple[str, ...], printed: str, is_in: bool) -> None:
    assert _is_in(expected, printed) == is_in
