"""What is said reaches the reader as it stands: brackets are no markup, dollars no formula."""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from tests.command_line import run_hockney, succeeded
from tests.factories import campaign as campaign_of
from tests.factories import messages

from hockney import cli
from hockney.runner.mpi import Mpi
from hockney.terminal import application, say

NAMES = ("q[/b]", "run[red]", "[bold]", ":smile:")
"""Rich takes the first for a closing tag (an error), the second and third for styles, the last for a picture."""


def _table(name: str) -> None:
    table = Table(name, title=f"of {name}")
    table.add_row(f"{name} again")
    say.table(table)


SAYINGS: dict[str, Callable[[str], None]] = {
    "line": say.line,
    "warn": say.warn,
    "note": say.note,
    "table": _table,
    "error": lambda name: say.error(name, f"leave {name} out"),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("saying", SAYINGS)
def test_what_is_said_reaches_the_reader_as_it_stands(
    saying: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    SAYINGS[saying](name)
    printed = capsys.readouterr()
    assert name in printed.out + printed.err


@pytest.mark.parametrize("name", NAMES)
def test_so_does_what_a_terminal_shows_of_long_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100, markup=False, emoji=False)
    monkeypatch.setattr(say, "err", console)
    with say.status("begins") as update:
        update(name)
    with say.progress(quiet=False) as tell:
        tell(0.5, name)
    assert stream.getvalue().count(name) >= 2


def test_warnings_that_no_file_keeps_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"number {number}" for number in range(say.MOST_WARNINGS + 2)]
    say.warnings([*texts, texts[0], ""])
    *printed, last = capsys.readouterr().err.splitlines()
    assert printed == [f"warning: {text}" for text in texts[: say.MOST_WARNINGS]]
    assert last.startswith("and 2 further warnings: ")
    say.warnings(texts, "on the page")
    assert capsys.readouterr().err == f"{len(texts)} warnings: on the page\n"


def test_nobody_else_prints_for_a_person() -> None:
    folder = Path(cli.__file__).parent
    sayings = re.compile(r"Console\(|\.print\(|\brich\.(console|markup|progress|status)\b")
    others = [path for path in folder.rglob("*.py") if path.name not in ("say.py", "options.py")]
    assert [str(path) for path in others if sayings.search(path.read_text(encoding="utf-8"))] == []


def campaign(path: Path, system: str, *variants: str) -> Path:
    known: dict[str, Any] = {"locality": "cache", "cache": "warm", "pair": "0-1", "oversubscribed": True}
    every = [
        messages(within=0.01, verified=True, variant=variant, system=system, **known) for variant in variants
    ]
    return campaign_of(path, chain(*every))


@pytest.mark.parametrize("name", NAMES)
def test_names_with_brackets_survive_every_verb(name: str, tmp_path: Path) -> None:
    one = campaign(tmp_path / "one", name, name)
    other = campaign(tmp_path / "other", name, "x")
    joined = tmp_path / name.replace("/", "-")
    printed = succeeded("merge", str(one), str(other), "-o", str(joined))
    assert f"`hockney fit {joined}`" in printed
    machine = tmp_path / f"{joined.name}.json"
    fitted = run_hockney("fit", str(joined), "-o", str(machine))
    assert fitted.returncode == 0, fitted.stderr
    assert f"wrote {machine}" in fitted.stdout
    assert f"{name}, pingpong" in fitted.stderr or name in fitted.stdout
    printed = succeeded("show", str(machine), "--format", "table")
    assert name in printed


def test_a_dollar_in_a_label_is_no_formula(tmp_path: Path) -> None:
    label = "$x^$"
    page = tmp_path / "report.html"
    succeeded("report", str(campaign(tmp_path / "c", label, label, "x", "y")), "-o", str(page))
    assert page.read_text(encoding="utf-8").count(label) > 1


@pytest.mark.parametrize("folder", ["q[/b]", "run[red]"])
def test_the_folder_that_is_advised_is_the_one_that_was_asked_for(mpi: Mpi, folder: str, tmp_path: Path) -> None:
    words = ["--quick", "--budget", "0.02s", "--visits", "1", "--ranks", "2", "--bytes", "8,64,512"]
    words += ["--operation", "pingpong", "--mpi", str(mpi.wrapper), "-o", folder, "--system", "[/x]"]
    done = run_hockney("measure", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"→ {folder}" in done.stdout
    assert f"`hockney fit {folder}`" in done.stdout
    fitted = run_hockney("fit", folder, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr


@pytest.mark.parametrize(
    ("called", "on_path", "typed"),
    [
        (".venv/bin/hockney", None, ".venv/bin/hockney"),
        (".venv/bin/hockney", "/usr/bin/env", ".venv/bin/hockney"),
        ("HERE/.venv/bin/hockney", None, ".venv/bin/hockney"),
        ("HERE/hockney", None, "HERE/hockney"),
        ("hockney", None, "hockney"),
        ("/x/hockney/__main__.py", "/usr/bin/env", f"{sys.executable} -m hockney"),
        ("/x/pytest", None, "hockney"),
    ],
)
def test_commands_are_advised_as_they_can_be_typed(
    called: str,
    on_path: str | None,
    typed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".venv/bin").mkdir(parents=True)
    Path(".venv/bin/hockney").touch()
    called, typed = (path.replace("HERE", str(tmp_path)) for path in (called, typed))
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(shutil, "which", lambda _: on_path)
    say.line("next: `hockney fit c`")
    assert capsys.readouterr().out == f"next: `{typed} fit c`\n"


@pytest.mark.parametrize("verb", [(), ("predict",), ("predict", "bcast")])
def test_help_is_asked_for_in_short(verb: tuple[str, ...]) -> None:
    assert run_hockney(*verb, "-h").stdout == run_hockney(*verb, "--help").stdout


def test_the_help_of_groups_has_examples_and_promises_no_verb_that_is_not_there() -> None:
    top = application()
    groups = [str(group.name) for group in top.registered_groups]
    assert len(groups) > 4
    for name in groups:
        assert f"$ hockney {name} " in " ".join(run_hockney(name, "-h").stdout.split()), name
    text = " ".join(run_hockney("-h").stdout.split())
    assert "$ hockney measure" in text
    promised = set(re.findall(r"\w+(?= →)|(?<=→ )\w+", text))
    assert len(promised) > 2
    assert promised <= {str(verb.name) for verb in top.registered_commands} | {*groups}


def test_a_switch_takes_no_word() -> None:
    (switch,) = [line for line in run_hockney("status", "-h").stdout.splitlines() if "│ --json" in line]
    assert "<" not in switch
