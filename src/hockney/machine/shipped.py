"""Machine files that come with hockney: published machines, found by name (docs/reference/machines.md)."""

from __future__ import annotations

from pathlib import Path

from hockney.errors import RequestError
from hockney.registry import did_you_mean

_FOLDERS = ("_machines", "../../machines")
"""Folders of an installation and of a checkout, relative to the package."""


def shipped_folder() -> Path | None:
    """The folder of the shipped machine files; None where an installation lacks it."""
    package = Path(__file__).resolve().parents[1]
    return next((folder.resolve() for name in _FOLDERS if (folder := package / name).is_dir()), None)


def shipped_machines() -> list[str]:
    """Their names, sorted."""
    folder = shipped_folder()
    return [] if folder is None else sorted(path.stem for path in folder.glob("*.json"))


def located(path: Path) -> Path:
    """`path`, or the shipped machine of that name where there is no such file.

    A file of your own comes first. RequestError where there is neither.
    """
    name = path.stem if path.suffix == ".json" else path.name
    folder = shipped_folder()
    bare = path.name == str(path)
    if folder is not None and bare and not path.exists() and name in shipped_machines():
        return folder / f"{name}.json"
    if not path.exists():
        guess = did_you_mean(name, shipped_machines()) if bare else ""
        raise RequestError(
            f"there is no machine file {path}",
            f"{guess}make one with `hockney fit CAMPAIGN -o {path.with_suffix('.json')}`, "
            f"or name a published one: {', '.join(shipped_machines())}",
        )
    return path
