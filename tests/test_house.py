"""The house stays as it is meant to be: every unit registered, tested and documented. Rooms: `make lint`."""

from __future__ import annotations

import ast
import gzip
import importlib
import json
import re
import shutil
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from tests import counts
from tests.counts import ROOT, SOURCE
from tests.factories import not_none
from typer.main import get_command_from_info
from typer.models import CommandInfo

from hockney import _core
from hockney._core import Algorithm
from hockney.models.effects.base import effect_models
from hockney.records.keys import POINT_TO_POINT
from hockney.registry import Registry
from hockney.terminal import application

LONG = 400
"""Lines from which a file says why it is one: "One file, because …"."""
MEDIAN = 150
"""Lines of code that half of the modules do not exceed."""


def modules() -> list[str]:
    """Every module but those that run when they are imported."""
    paths = (path.relative_to(SOURCE.parent).with_suffix("").parts for path in sorted(SOURCE.rglob("*.py")))
    return [".".join(parts) for parts in paths if parts[-1] not in ("__init__", "__main__")]


for module in modules():
    importlib.import_module(module)


@dataclass(frozen=True)
class Kind:
    """What units of a kind are, which files register them, and where they are tested and documented.

    `page` is below docs/, and has `{}` in the place of a unit's name where each has a page of its own.
    """

    name: str
    units: tuple[str, ...]
    files: tuple[Path, ...]
    tests: Path
    page: str


def _python(registry: Registry[Any]) -> Kind:
    parts = registry.package.split(".")[1:]
    place = SOURCE.joinpath(*parts)
    files = place.glob(f"*/{registry.module}.py" if registry.module else "*.py")
    tests = ROOT.joinpath("tests", *parts)
    return Kind(
        registry.kind,
        tuple(registry.names()),
        tuple(sorted(files)) if place.is_dir() else (),
        tests if place.is_dir() else tests.with_name(f"test_{parts[-1]}.py"),
        registry.page,
    )


def _runner(name: str, folder: str, tests: str, page: str) -> Kind:
    """Units of the C++ runner, which register themselves under their file's name."""
    files = tuple(sorted((ROOT / "cpp/runner" / folder).glob("*.cpp")))
    word = re.compile(rf'const Register{name.capitalize()} registered\("(\w+)"')
    units = tuple(found for path in files for found in word.findall(path.read_text(encoding="utf-8")))
    return Kind(name, units, (), ROOT / "tests" / tests, f"reference/{page}")


PYTHON = [_python(registry) for registry in Registry.every if registry.package.startswith("hockney.")]
RUNNER = [
    _runner("kernel", "kernels", "runner/test_kernels.py", "kernels.md"),
    _runner("app", "apps", "runner/apps", "{}.md"),
    _runner("effect", "effects", "runner/effects", "effects.md"),
]
UNITS = [pytest.param(kind, unit, id=f"{kind.name}-{unit}") for kind in PYTHON + RUNNER for unit in kind.units]


@pytest.mark.parametrize("kind", [kind for kind in PYTHON if kind.files], ids=lambda kind: kind.name)
def test_a_unit_is_the_file_of_its_name(kind: Kind) -> None:
    registering = re.compile(r'^(?:@\w+|\w+)\.register\(\s*"([^"]+)"', re.MULTILINE)
    found = {path: registering.findall(path.read_text(encoding="utf-8")) for path in kind.files}
    for path, names in found.items():
        stem = path.parent.name if path.stem == "app" else path.stem
        assert names in ([], [stem]), f"{path.relative_to(ROOT)} registers {names}"
    assert tuple(sorted(name for names in found.values() for name in names)) == kind.units


@pytest.mark.parametrize("kind", RUNNER, ids=lambda kind: kind.name)
def test_a_unit_of_the_runner_is_the_file_of_its_name(kind: Kind) -> None:
    folder = ROOT / "cpp/runner" / f"{kind.name}s"
    # The file of the kind itself holds its registry.
    assert list(kind.units) == sorted(path.stem for path in folder.glob("*.cpp") if path.stem != kind.name)


@cache
def _words(path: Path) -> frozenset[str]:
    """Names and texts of a test, without comments and docstrings."""
    return frozenset(_said(path))


def _said(path: Path) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name


@pytest.mark.parametrize(("kind", "unit"), UNITS)
def test_a_unit_is_tested(kind: Kind, unit: str) -> None:
    if kind.name == "kernel":
        # The test of kernels reads the folder itself.
        assert "KERNELS" in _words(kind.tests)
        return
    # The command line and other texts may write fat-tree.
    word = re.compile(rf"(?<![a-z]){re.escape(unit).replace('_', '[-_]')}(?![a-z])")
    files = [kind.tests] if kind.tests.is_file() else sorted(kind.tests.rglob("test_*.py"))
    named = (path.stem == f"test_{unit}" or path.parent.name == unit for path in files)
    assert any(named) or any(word.search(text) for path in files for text in _words(path))


@pytest.mark.parametrize(("kind", "unit"), UNITS)
def test_a_unit_is_documented(kind: Kind, unit: str) -> None:
    path = ROOT / "docs" / kind.page.format(unit)
    page = path.read_text(encoding="utf-8") if path.is_file() else ""
    # A page of its units has a heading for each; other pages name it. An application's own says how it is run.
    said = (f"hockney run {unit}",) if "{}" in kind.page else (f"`{unit}`", f"## {unit}\n")
    assert any(words in page for words in said), f"{path.relative_to(ROOT)}: nothing on `{unit}`"


def test_an_effect_is_measured_asked_about_and_modelled() -> None:
    asked, measured = [set(kind.units) for kind in PYTHON + RUNNER if kind.name == "effect"]
    # A further model of an effect's answers has a name of its own.
    assert asked == measured == {model.reads for _, model in effect_models} <= set(effect_models.names())


def test_every_application_is_run_and_has_a_section_of_the_report() -> None:
    by_name = {kind.name: kind.units for kind in PYTHON + RUNNER}
    assert by_name["application"] == by_name["app"]
    assert sorted(by_name["app"]) == sorted(words.split()[1] for words in commands() if words.startswith("run "))


def verbs() -> list[str]:
    found = application()
    return [
        *(str(one.name) for one in found.registered_commands),
        *(str(one.name) for one in found.registered_groups),
    ]


def test_a_verb_is_a_file() -> None:
    folder = SOURCE / "cli"
    files = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert sorted(verbs()) == sorted(name for name in files if not name.startswith("_"))


@cache
def commands() -> dict[str, CommandInfo]:
    """Every command by its words, those of groups too."""
    found = application()
    named = {str(one.name): one for one in found.registered_commands}
    for group in found.registered_groups:
        named |= {f"{group.name} {one.name}": one for one in not_none(group.typer_instance).registered_commands}
    return named


@pytest.mark.parametrize("words", sorted(commands()))
def test_a_verb_has_examples_and_json(words: str) -> None:
    command = commands()[words]
    # What stands for several words, as `predict collective` does, has examples of these.
    group, _, several = words.partition(" ")
    called = f"{group} " if several in ("collective", "message", "law", "each") else words
    assert "$ hockney " + called in (command.epilog or "")
    if words == "predict each":
        return  # It answers in JSON alone.
    made = get_command_from_info(command, pretty_exceptions_short=False, rich_markup_mode="rich")
    assert any("--json" in parameter.opts for parameter in made.params)


SCHEDULES = ROOT / "cpp" / "schedule"


@pytest.mark.parametrize("algorithm", _core.algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
def test_a_schedule_registers_in_its_collectives_folder_and_has_a_heading(algorithm: Algorithm) -> None:
    # tests/schedule/test_proof.py and test_mutations.py walk the registry themselves.
    files = (SCHEDULES / algorithm.collective).glob("*.cpp")
    registers = re.compile(rf'const Register \w+\([^;]*"{algorithm.name}"')
    assert sum(len(registers.findall(file.read_text(encoding="utf-8"))) for file in files) == 1
    page = ROOT / "docs" / "reference" / "schedules" / f"{algorithm.collective}.md"
    assert f"## {algorithm.name}\n" in page.read_text(encoding="utf-8")


def test_a_file_that_registers_a_schedule_is_in_the_registry() -> None:
    registering = sum(
        path.read_text(encoding="utf-8").count("const Register ") for path in SCHEDULES.glob("*/*.cpp")
    )
    assert registering == len(_core.algorithms())


def test_nothing_is_to_be_installed_that_no_index_has() -> None:
    """Hockney has no distribution: it is installed from its clone."""
    advice = re.compile(r"pip install (?:--\S+ )?['\"]?hockney")
    texts = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert [
        str(path.relative_to(ROOT)) for path in texts if advice.search(path.read_text(encoding="utf-8"))
    ] == []


BUDGET = tomllib.loads((ROOT / "tests" / "budget.toml").read_text(encoding="utf-8"))


def within(budget: Mapping[str, int], counted: Mapping[str, int]) -> None:
    """What is counted is what there is a budget for, and none of it is more; what is less lowers the budget."""
    assert counted.keys() == budget.keys()
    assert {name: count for name, count in counted.items() if count > budget[name]} == {}


def test_the_whole_is_within_its_budget() -> None:
    rooms = counts.code_of_rooms(SOURCE)
    within(BUDGET["rooms"], rooms)
    assert sum(BUDGET["rooms"].values()) <= BUDGET["whole"]["source"]
    slots, names = counts.options()
    counted = {
        "source": rooms.total(),
        "tests": counts.code_of_rooms(ROOT / "tests").total(),
        "cpp": counts.other_code("cpp/*"),
        "option_slots": slots,
        "option_names": names,
        "words_of_docs": counts.words_of_docs(),
        "loose_mappings": counts.loose_mappings(),
        "class_names_of_several_files": len(counts.class_names_of_several_files()),
    }
    within(BUDGET["whole"], counted)


@pytest.mark.parametrize("question", BUDGET["walks"])
def test_a_question_passes_through_few_files(tmp_path: Path, question: str) -> None:
    demo = ROOT / "bench" / "answers_data" / "inputs" / "demo"
    shutil.copytree(demo, tmp_path / "demo", ignore=shutil.ignore_patterns("*.gz"))
    with gzip.open(demo / "records.jsonl.gz", "rt", encoding="utf-8") as packed:
        messages = [line for line in packed if json.loads(line)["operation"] in POINT_TO_POINT]
    (tmp_path / "demo" / "records.jsonl").write_text("".join(messages), encoding="utf-8")
    files = counts.walk(tmp_path, *question.split())
    assert len(files) <= BUDGET["walks"][question], files


def test_half_of_the_modules_are_short() -> None:
    assert median(map(counts.code_lines, SOURCE.rglob("*.py"))) <= MEDIAN


def test_a_long_file_says_why_it_is_one() -> None:
    """Where parts come apart by themselves, they are cut; the rest has its reason at its head."""
    parts = ("src", "cpp", "tests", "bench")
    files = [
        path for part in parts for path in (ROOT / part).rglob("*") if path.suffix in (".py", ".cpp", ".hpp")
    ]
    assert len(files) > 500
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    long = {path: text for path, text in texts.items() if text.count("\n") > LONG}
    assert [str(path) for path, text in long.items() if "One file, because" not in text[:2000]] == []
