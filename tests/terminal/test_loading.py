"""Verbs are loaded when they are called: help pages load no heavy library, a verb not the others."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.processes import captured
from typer.main import get_command, get_command_from_info, get_group

from hockney import cli
from hockney.registry import unit_files
from hockney.terminal import application, lines_of

HEAVY = ("pandas", "scipy", "matplotlib")
NOT_LISTED = (*HEAVY, "pydantic", "pydantic_core", "numpy")
"""What a list of all verbs does without, too: it imports no verb, and takes no longer than Typer's own."""

HELP = """
import contextlib, io, sys, typer.main
from hockney.terminal import application

def walk(command, words, context):
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        root.main(args=[*words, "--help"], prog_name="hockney", standalone_mode=False)
    assert "Usage: hockney" in shown.getvalue() and "<class" not in shown.getvalue(), words
    pages.append(words)
    for name in getattr(command, "list_commands", lambda _: [])(context):
        walk(command.get_command(context, name), [*words, name], context)

pages = []
root = typer.main.get_command(application())
walk(root, [], root.make_context("hockney", [], resilient_parsing=True))
print(len(pages), [name for name in %r if name in sys.modules])
"""


CALL = """
import sys
from hockney.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
"""
COUNTED = """
import sys
lines = 0

def line(frame, event, _):
    global lines
    lines += event == "line"
    return line

sys.settrace(line)
%s
sys.settrace(None)
print("\\nlines:", lines, *sys.modules)
"""
MOST_MODULES, MOST_LINES = 3.4, 6.0
"""Times as many as `import numpy` loads and executes; the time is that of bench/startup."""


def printed(code: str, *words: str) -> str:
    """What a program prints that succeeds."""
    return captured([sys.executable, "-c", code, *words], check=True).stdout


def hockney(*words: str) -> set[str]:
    """The modules that are loaded at the end of a call that succeeds."""
    return set(printed(CALL + "\nprint('\\nmodules:', *sys.modules)", *words).rpartition("modules:")[2].split())


@cache
def counted(code: str, *words: str) -> tuple[set[str], int]:
    """The modules that are loaded at the end of a program, and how many lines of Python it executes."""
    lines, *modules = printed(COUNTED % code, *words).rpartition("lines:")[2].split()
    return set(modules), int(lines)


def late(code: str) -> list[str]:
    """The words that a program prints under the finder of late libraries."""
    first = "import sys\nfrom hockney.terminal import main\nsys.meta_path.insert(0, main.LateFinder())\n"
    done = captured([sys.executable, "-c", first + code])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_no_help_page_loads_a_heavy_library() -> None:
    done = captured([sys.executable, "-c", HELP % (HEAVY,)], check=True)
    pages, _, loaded = done.stdout.partition(" ")
    assert int(pages) > 50
    assert loaded.strip() == "[]"


@pytest.mark.parametrize("words", [("run", "--help"), ("network", "--help")])
def test_neither_does_a_list_of_a_group(words: tuple[str, ...]) -> None:
    assert not hockney(*words) & {*HEAVY}


@pytest.mark.parametrize("words", [(), ("--help",), ("--version",)])
def test_a_list_of_all_verbs_imports_none_of_them(words: tuple[str, ...]) -> None:
    loaded = hockney(*words)
    # Where --help does not end it before, Typer reads the root's own options by pydantic.
    by_typer = set() if words == ("--help",) else {"pydantic", "pydantic_core"}
    assert not loaded & {*NOT_LISTED} - by_typer
    assert not [name for name in loaded if name.startswith(("hockney.cli.", "hockney.apps", "hockney.predict"))]


def test_a_shell_completes_verbs_without_importing_them() -> None:
    code = (
        "import sys\nfrom hockney.terminal.main import app\nfrom typer.main import get_command\n"
        "verbs = get_command(app)\ncontext = verbs.make_context('hockney', [], resilient_parsing=True)\n"
        "print([found.value for found in verbs.shell_complete(context, 'me')], *sys.modules)"
    )
    done = captured([sys.executable, "-c", code], check=True)
    offered, _, loaded = done.stdout.partition("] ")
    assert offered == "['measure', 'merge'"
    assert not [name for name in loaded.split() if name in HEAVY or name.startswith("hockney.cli.")]


def test_the_first_line_of_a_verbs_file_is_what_the_list_says_of_it() -> None:
    top: Any = get_command(application())
    context = top.make_context("hockney", [], resilient_parsing=True)
    for name in top.list_commands(context):
        imported = top.get_command(context, name)
        line = (sys.modules[f"hockney.cli.{name}"].__doc__ or "").strip().splitlines()[0]
        assert line.startswith(f"`hockney {name}`: "), f"{name}: the file begins with {line!r}"
        said = line.partition(": ")[2]
        assert (imported.short_help or imported.help) == said[0].upper() + said[1:]


def test_the_files_of_a_group_tell_each_verb_that_is_entered() -> None:
    """Else a verb stands in no list: `hockney predict --help` imports none of them."""
    predict: Any = get_command(application()).commands["predict"]  # type: ignore[attr-defined]
    told = {name for place in (*predict.told, *predict.places) for unit in unit_files(place)
            for name in lines_of(place.format(unit) if "{}" in place else f"{place}.{unit}")}  # fmt: skip
    assert told == set(get_group(predict.verbs).commands)


def test_a_verb_that_is_called_loads_no_other() -> None:
    loaded = {name for name in hockney("scaling", "amdahl", "0.1") if "hockney.cli." in name}
    assert loaded == {"hockney.cli.scaling"}


def test_the_help_of_an_application_loads_what_it_is_asked_alone() -> None:
    loaded = hockney("run", "ring", "--help")
    assert "hockney.apps.ring.app" in loaded
    assert not loaded & {"hockney.apps.ring.run", *HEAVY}


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "pingpong", "--machine", "orfeo_thin", "--bytes", "64KiB"),
        ("predict", "bcast", "--machine", "orfeo_thin", "--ranks", "48", "--bytes", "64KiB"),
        (
            "simulate",
            "allreduce",
            "--algorithm",
            "ring",
            "--ranks",
            "16",
            "--bytes",
            "8",
            "--machine",
            "orfeo_thin",
        ),
        ("schedule", "count", "allreduce", "--algorithm", "ring", "--ranks", "16"),
        ("show", "orfeo_thin"),
    ],
)
def test_a_call_loads_and_executes_little_beyond_its_answer(words: tuple[str, ...]) -> None:
    bodies = {
        "pandas.core",
        "matplotlib.cbook",
        "scipy.stats._stats_py",
        "scipy.optimize._optimize",
        "pyarrow.lib",
    }
    loaded, lines = counted(CALL, *words)
    assert not loaded & bodies
    of_numpy, lines_of_numpy = counted("import numpy")
    assert len(loaded) <= MOST_MODULES * len(of_numpy)
    assert lines <= MOST_LINES * lines_of_numpy


def test_a_late_library_is_whole_once_it_is_used() -> None:
    code = (
        "import pandas as pd\nimport pandas\nfrom scipy import special, stats\n"
        "print('pandas.core' in sys.modules, len(pd.DataFrame({'a': [1]})), special.ndtr(0.0),"
        " stats.norm.cdf(0.0))"
    )
    assert late(code) == ["False", "1", "0.5", "0.5"]


def test_a_part_that_is_asked_of_a_late_library_loads_neither() -> None:
    parts = "('version', 'special._basic')"
    code = f"from scipy import special\nprint(*(f'scipy.{{name}}' in sys.modules for name in {parts}))"
    assert late(code) == ["False", "False"]


def test_a_part_that_its_late_parent_imports_too_is_executed_once() -> None:
    code = (
        "from scipy import spatial\nimport scipy.spatial.distance as distance\n"
        "print(distance is spatial.distance, distance.__spec__.loader.__class__.__name__)\n"
        "print(spatial._geometric_slerp.euclidean is distance.euclidean)"
    )
    assert late(code) == ["True", "SourceFileLoader", "True"]


def test_threads_wait_for_a_late_library() -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor\nfrom scipy import sparse\n"
        "with ThreadPoolExecutor(8) as pool:\n    print(*pool.map(lambda _: sparse.csr_array.__name__, range(8)))"
    )
    assert late(code) == ["csr_array"] * 8


def test_a_late_library_that_fails_says_why_each_time(tmp_path: Path) -> None:
    (tmp_path / "ill.py").write_text("begun = 1\nraise OSError('no memory for it')\n", encoding="utf-8")
    code = (
        f"main.LATE.add('ill')\nsys.path.insert(0, {str(tmp_path)!r})\nimport ill\n"
        "for _ in range(2):\n    try:\n        ill.ended\n    except OSError as error:\n        print(error)"
    )
    assert late(code) == ["no", "memory", "for", "it"] * 2


def test_nothing_is_imported_inside_of_a_function() -> None:
    source = Path(cli.__file__).parents[1]
    for path in (*source.joinpath("cli").rglob("*.py"), *source.joinpath("apps").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                lines = [
                    node.lineno for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)
                ]
                assert lines == [], f"{path}: {function.name}"


def test_a_call_builds_no_verb_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    root: Any = get_command(application())
    context = root.make_context("hockney", [], resilient_parsing=True)
    root.list_commands(context)
    built: list[str | None] = []

    def build(command_info: Any, **how: Any) -> Any:
        built.append(command_info.name)
        return get_command_from_info(command_info, **how)

    monkeypatch.setattr(typer.main, "get_command_from_info", build)
    root.resolve_command(context, ["status"])
    assert built == ["status"]
