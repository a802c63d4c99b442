"""What the recipes of other packagers say is what pyproject.toml says, and what the project calls itself."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from pydantic import BaseModel, ConfigDict

from hockney import __version__

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
BUILDING = PYPROJECT["build-system"]["requires"]
Bounds = dict[str, str]
"""The least version of each package; "" without."""


def least(requirements: list[str]) -> Bounds:
    bounds = {}
    for text in requirements:
        requirement = Requirement(text)
        assert [one.operator for one in requirement.specifier] == [">="], text
        bounds[requirement.name] = next(iter(requirement.specifier)).version
    return bounds


NEEDED = least(PROJECT["dependencies"])
PYTHON = PROJECT["requires-python"].removeprefix(">=")


def cmake() -> str:
    found = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+?)\.\.\.", (ROOT / "CMakeLists.txt").read_text())
    assert found
    return found[1]


@pytest.fixture(scope="module")
def recipe() -> Any:
    """The recipe for conda."""
    return yaml.safe_load((PACKAGING / "conda" / "recipe.yaml").read_text(encoding="utf-8"))


def bounds_of(lines: list[str]) -> Bounds:
    """Of conda's `name >=version`."""
    split = [line.partition(" >=") for line in lines if not line.startswith("$")]
    return {name: version for name, _, version in split}


def test_conda_needs_what_the_project_needs(recipe: Any) -> None:
    run = bounds_of(recipe["requirements"]["run"])
    run["matplotlib"] = run.pop("matplotlib-base")
    assert run == NEEDED | {"python": PYTHON}
    host = bounds_of(recipe["requirements"]["host"])
    assert host == least(BUILDING) | {"python": "", "pip": ""}
    assert bounds_of(recipe["requirements"]["build"])["cmake"] == cmake()


def test_conda_calls_it_what_it_is(recipe: Any) -> None:
    assert recipe["context"]["version"] == __version__
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]


def spack_calls(name: str) -> list[ast.Call]:
    """The directives of that name in the package for Spack."""
    tree = ast.parse((PACKAGING / "spack" / "package.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]


def first(call: ast.Call) -> str:
    word: str = ast.literal_eval(call.args[0])
    return word


def test_spack_needs_what_the_project_needs() -> None:
    when: dict[str, Bounds] = {"build": {}, "run": {}}
    for call in spack_calls("depends_on"):
        (types,) = [ast.literal_eval(word.value) for word in call.keywords if word.arg == "type"]
        name, _, version = first(call).partition("@")
        for one in {types} if isinstance(types, str) else {*types}:
            when.setdefault(one, {})[name.removeprefix("py-")] = version.removesuffix(":")
    assert when["run"] == NEEDED | {"python": PYTHON, "mpi": ""}
    assert when["build"] == when["run"] | least(BUILDING) | {"cmake": cmake(), "cxx": ""}


def test_spack_calls_it_what_it_is() -> None:
    assert [first(call) for call in spack_calls("version")] == [__version__]
    assert [first(call) for call in spack_calls("license")] == [PROJECT["license"]]
    text = (PACKAGING / "spack" / "package.py").read_text(encoding="utf-8")
    assert f"py-hockney@{__version__}`" in text or f"py-hockney@{__version__}\n" in text
    assert PROJECT["description"] in text


IMAGES = {
    "Containerfile": (r"^COPY (?!--from)(.+) \S+$", r"^FROM (\S+)"),
    "apptainer.def": (r"^    (\S+) /source/\S+$", r"^From: (\S+)"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_gets_all_that_the_wheel_is_made_of(name: str) -> None:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    copied, base = IMAGES[name]
    sources = {word for line in re.findall(copied, text, re.MULTILINE) for word in line.split()}
    scikit = PYPROJECT["tool"]["scikit-build"]
    made_of = {*scikit["wheel"]["packages"], *scikit["wheel"]["force-include"], PROJECT["readme"]}
    made_of |= {*PROJECT["license-files"], "pyproject.toml", "CMakeLists.txt"}
    assert sources == {Path(path).parts[0] for path in made_of}
    # Debian's compiler and Open MPI, in whose container nothing of pip's list is named again.
    assert "g++ openmpi-bin libopenmpi-dev" in text
    for python in re.findall(base, text, re.MULTILINE):
        version = re.search(r"python:3\.(\d+)-slim", python)
        assert version or python == "build"
        assert version is None or int(version[1]) >= int(PYTHON.partition(".")[2])


def test_both_images_are_of_one_system() -> None:
    bases = {
        re.findall(base, (PACKAGING / name).read_text(encoding="utf-8"), re.MULTILINE)[-1]
        for name, (_, base) in IMAGES.items()
    }
    assert len(bases) == 1


class Person(BaseModel):
    """An author of the Citation File Format 1.2.0, as far as we use it: a person, or an entity with one name."""

    model_config = ConfigDict(extra="forbid")

    name: str


class Citation(BaseModel):
    """The Citation File Format 1.2.0, as far as we use it; `packaging/release` asks cffconvert for all of it."""

    model_config = ConfigDict(extra="forbid")

    cff_version: str
    message: str
    type: str
    title: str
    abstract: str
    authors: list[Person]
    version: str
    license: str
    keywords: list[str]


def test_the_citation_is_one() -> None:
    fields = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    citation = Citation.model_validate({name.replace("-", "_"): value for name, value in fields.items()})
    assert (citation.cff_version, citation.type) == ("1.2.0", "software")
    assert (citation.version, citation.license) == (__version__, PROJECT["license"])
    assert citation.authors


def test_wheels_are_made_for_each_python_that_has_none_yet() -> None:
    """One of its own for the first Python, and from nanobind's stable ABI on (3.12) one for all."""
    assert PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    made = [one.partition("-")[0] for one in PYPROJECT["tool"]["cibuildwheel"]["build"]]
    assert made == [f"cp{PYTHON.replace('.', '')}", "cp312"]
    assert "STABLE_ABI" in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
