"""The house stays as it is meant to be: units registered, tested, documented; layers never point upward."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from typer.models import CommandInfo

from hockney import _core
from hockney._core import Algorithm
from hockney.apps.jacobi.printed import jacobi_models
from hockney.campaign.effects.base import effects
from hockney.cli import application
from hockney.importers.base import importers
from hockney.models.base import models
from hockney.models.collectives.base import collective_models
from hockney.models.effects.base import effect_models
from hockney.models.scaling.laws.base import laws
from hockney.network.topologies.base import topologies
from hockney.network.traffic.demands.base import traffics
from hockney.network.traffic.patterns.base import patterns
from hockney.network.traffic.placements.base import placements
from hockney.network.traffic.routings.base import routings
from hockney.predict.decisions.base import libraries
from hockney.predict.estimators.base import estimators
from hockney.predict.procedures.base import procedures
from hockney.registry import Registry
from hockney.report.app_sections import app_sections
from hockney.runner.launchers.base import launchers
from hockney.schedule.formats.base import formats

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hockney"
NOT_UNITS = {"__init__", "__pycache__", "base", "app", "effect", "views"}

ROOMS: dict[str, tuple[Path, str, Path, Path]] = {
    # kind: (folder of the units or file with them all, suffix, folder of their tests, page that documents them)
    "model": (SOURCE / "models", ".py", ROOT / "tests/models", ROOT / "docs/reference/models.md"),
    "importer": (
        SOURCE / "importers",
        ".py",
        ROOT / "tests/importers",
        ROOT / "docs/reference/importers.md",
    ),
    "estimator": (
        SOURCE / "predict/estimators",
        ".py",
        ROOT / "tests/predict/estimators",
        ROOT / "docs/reference/evaluate.md",
    ),
    "launcher": (
        SOURCE / "runner/launchers",
        ".py",
        ROOT / "tests/runner/launchers",
        ROOT / "docs/how-to/choose-an-mpi.md",
    ),
    "kernel": (ROOT / "cpp/runner/kernels", ".cpp", ROOT / "tests/runner", ROOT / "docs/reference/kernels.md"),
    "application": (
        ROOT / "cpp/runner/apps",
        ".cpp",
        ROOT / "tests/runner/apps",
        ROOT / "docs/reference/applications.md",
    ),
    "effect": (
        ROOT / "cpp/runner/effects",
        ".cpp",
        ROOT / "tests/runner/effects",
        ROOT / "docs/reference/effects.md",
    ),
    "questions about an effect": (
        SOURCE / "campaign/effects",
        ".py",
        ROOT / "tests/campaign/effects",
        ROOT / "docs/reference/effects.md",
    ),
    "model of an effect": (
        SOURCE / "models/effects",
        ".py",
        ROOT / "tests/models/effects",
        ROOT / "docs/reference/effects.md",
    ),
    "model of a collective": (
        SOURCE / "models/collectives/forms.py",
        ".py",
        ROOT / "tests/models/collectives",
        ROOT / "docs/reference/collective-models.md",
    ),
    "criterion": (ROOT / "cpp/runner/stopping", ".cpp", ROOT / "tests/cpp", ROOT / "docs/reference/measuring.md"),
    "format": (
        SOURCE / "schedule/formats",
        ".py",
        ROOT / "tests/cli",
        ROOT / "docs/how-to/schedules.md",
    ),
    "library": (
        SOURCE / "predict/decisions",
        ".py",
        ROOT / "tests/predict/decisions",
        ROOT / "docs/reference/library-decisions.md",
    ),
    "procedure": (
        SOURCE / "predict/procedures",
        ".py",
        ROOT / "tests/predict/procedures",
        ROOT / "docs/reference/calibration.md",
    ),
    "law": (
        SOURCE / "models/scaling/laws",
        ".py",
        ROOT / "tests/models/scaling/laws",
        ROOT / "docs/how-to/scaling.md",
    ),
    "model of jacobi": (
        SOURCE / "apps/jacobi",
        ".py",
        ROOT / "tests/apps/jacobi",
        ROOT / "docs/reference/jacobi.md",
    ),
    "topology": (
        SOURCE / "network/topologies",
        ".py",
        ROOT / "tests/network/topologies",
        ROOT / "docs/reference/network.md",
    ),
    "section on an application": (
        SOURCE / "apps",
        ".py",
        ROOT / "tests/apps",
        ROOT / "docs/reference/report.md",
    ),
    "routing": (
        SOURCE / "network/traffic/routings",
        ".py",
        ROOT / "tests/network/traffic/routings",
        ROOT / "docs/reference/network-traffic.md",
    ),
    "traffic": (
        SOURCE / "network/traffic/demands",
        ".py",
        ROOT / "tests/network/traffic/demands",
        ROOT / "docs/reference/network-traffic.md",
    ),
    "pattern": (
        SOURCE / "network/traffic/patterns",
        ".py",
        ROOT / "tests/network/traffic/patterns",
        ROOT / "docs/reference/network-traffic.md",
    ),
    "placement": (
        SOURCE / "network/traffic/placements",
        ".py",
        ROOT / "tests/network/traffic/placements",
        ROOT / "docs/reference/network-traffic.md",
    ),
    "verb": (SOURCE / "cli", ".py", ROOT / "tests/cli", ROOT / "docs/index.md"),
}
REGISTRIES: dict[str, Registry[object]] = {
    "model": models,  # type: ignore[dict-item]
    "importer": importers,  # type: ignore[dict-item]
    "questions about an effect": effects,  # type: ignore[dict-item]
    "model of an effect": effect_models,  # type: ignore[dict-item]
    "model of a collective": collective_models,  # type: ignore[dict-item]
    "launcher": launchers,  # type: ignore[dict-item]
    "estimator": estimators,  # type: ignore[dict-item]
    "format": formats,  # type: ignore[dict-item]
    "library": libraries,  # type: ignore[dict-item]
    "model of jacobi": jacobi_models,  # type: ignore[dict-item]
    "procedure": procedures,  # type: ignore[dict-item]
    "law": laws,  # type: ignore[dict-item]
    "topology": topologies,  # type: ignore[dict-item]
    "routing": routings,  # type: ignore[dict-item]
    "traffic": traffics,  # type: ignore[dict-item]
    "pattern": patterns,  # type: ignore[dict-item]
    "placement": placements,  # type: ignore[dict-item]
    "section on an application": app_sections,  # type: ignore[dict-item]
}


def units(kind: str) -> list[str]:
    folder, suffix, _, _ = ROOMS[kind]
    if folder.is_file():
        return REGISTRIES[kind].names()
    stems = sorted(
        path.stem for path in folder.iterdir() if path.suffix == suffix or (path / "__init__.py").is_file()
    )
    rooms = {room[0] for room in ROOMS.values()}
    return [
        stem
        for stem in stems
        if stem not in NOT_UNITS and not stem.startswith("_") and folder / stem not in rooms
    ]


ALL_UNITS = [(kind, name) for kind in ROOMS for name in units(kind)]


@pytest.mark.parametrize("kind", sorted(kind for kind in REGISTRIES if ROOMS[kind][0].is_dir()))
def test_a_unit_registers_itself_under_its_files_name(kind: str) -> None:
    assert REGISTRIES[kind].names() == units(kind)


def test_an_effect_is_measured_asked_about_and_modelled() -> None:
    assert units("effect") == units("questions about an effect") == units("model of an effect")


def test_every_application_has_a_section_of_the_report() -> None:
    assert units("section on an application") == units("application")


def verbs() -> list[str]:
    found = application()
    return [
        *(str(one.name) for one in found.registered_commands),
        *(str(one.name) for one in found.registered_groups),
    ]


def test_a_verb_is_a_file() -> None:
    assert sorted(verbs()) == units("verb")


@pytest.mark.parametrize(
    ("kind", "word"), [("kernel", "RegisterKernel"), ("application", "RegisterApp"), ("effect", "RegisterEffect")]
)
def test_a_unit_of_the_runner_registers_itself_under_its_files_name(kind: str, word: str) -> None:
    folder, suffix, _, _ = ROOMS[kind]
    for name in units(kind):
        text = (folder / f"{name}{suffix}").read_text(encoding="utf-8")
        assert f'{word} registered("{name}"' in text


@pytest.mark.parametrize(("kind", "name"), ALL_UNITS)
def test_a_unit_is_tested(kind: str, name: str) -> None:
    tests = ROOMS[kind][2]
    if kind == "kernel":
        # test_kernels.py walks the folder itself; what it covers is what is there.
        assert "KERNELS" in (tests / "test_kernels.py").read_text(encoding="utf-8")
        return
    word = re.compile(rf"\b{name}\b")
    assert any(word.search(path.read_text(encoding="utf-8")) for path in tests.rglob("test_*.py"))


@pytest.mark.parametrize(("kind", "name"), [unit for unit in ALL_UNITS if unit[0] != "verb"])
def test_a_unit_is_documented(kind: str, name: str) -> None:
    page = ROOMS[kind][3].read_text(encoding="utf-8")
    # A page of its units has a heading for each; other pages name it.
    assert f"`{name}`" in page or f"## {name}\n" in page, (
        f"{ROOMS[kind][3].relative_to(ROOT)} does not speak of `{name}`"
    )


def commands() -> dict[str, CommandInfo]:
    """Every command by its words, those of groups too."""
    found = application()
    named = {str(one.name): one for one in found.registered_commands}
    for group in found.registered_groups:
        assert group.typer_instance is not None
        named |= {f"{group.name} {one.name}": one for one in group.typer_instance.registered_commands}
    return named


@pytest.mark.parametrize("words", sorted(commands()))
def test_a_verb_has_examples_and_json(words: str) -> None:
    command = commands()[words]
    assert "$ hockney " + words in (command.epilog or "")
    assert command.callback is not None
    assert "JsonOption" in command.callback.__annotations__.values()


SCHEDULES = ROOT / "cpp" / "schedule"


@pytest.mark.parametrize("algorithm", _core.algorithms(), ids=lambda one: f"{one.collective}-{one.name}")
def test_a_schedule_is_a_file_and_has_a_heading(algorithm: Algorithm) -> None:
    # tests/schedule/test_proof.py and test_mutations.py walk the registry themselves.
    file = SCHEDULES / algorithm.collective / f"{algorithm.name}.cpp"
    assert f'"{algorithm.collective}", "{algorithm.name}"' in file.read_text(encoding="utf-8")
    page = ROOT / "docs" / "reference" / "schedules" / f"{algorithm.collective}.md"
    assert f"## {algorithm.name}\n" in page.read_text(encoding="utf-8")


def test_a_file_that_registers_a_schedule_is_in_the_registry() -> None:
    registering = {
        (path.parent.name, path.stem)
        for path in SCHEDULES.glob("*/*.cpp")
        if "const Register registered" in path.read_text(encoding="utf-8")
    }
    assert registering == {(one.collective, one.name) for one in _core.algorithms()}


def test_every_module_can_be_imported_alone() -> None:
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        if parts[-1] not in ("__init__", "__main__"):
            importlib.import_module(".".join(parts))


def test_no_file_grows_without_a_reason() -> None:
    files = [*SOURCE.rglob("*.py"), *(ROOT / "cpp").rglob("*.?pp"), *(ROOT / "tests").rglob("*.py")]
    long = {
        str(p.relative_to(ROOT)): n for p in files if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}
