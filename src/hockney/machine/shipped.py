"""Where machine files lie: beside what was measured, or with hockney by name (docs/reference/machines.md)."""

from __future__ import annotations

from pathlib import Path

from hockney.errors import RequestError
from hockney.registry import did_you_mean
from hockney.units import counted

MACHINE = Path("machine.json")
"""As `hockney fit` calls the file in the folder of a campaign; the file that is read where none is named."""
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


def usual(path: Path = MACHINE) -> Path:
    """`path`; where that is the usual file and absent, the one of the only campaign here that has one."""
    beside = sorted(Path().glob(f"*/{MACHINE}")) if path == MACHINE and not path.exists() else []
    return beside[0] if len(beside) == 1 else path


def located(path: Path) -> Path:
    """`path`, the machine file of that campaign, or the shipped machine of that name, in this order.

    RequestError where there is none.
    """
    path = usual(path)
    if path.is_dir():
        if not (path / MACHINE).is_file():
            raise RequestError(f"{path} is a folder without a {MACHINE}", f"make it with `hockney fit {path}`")
        return path / MACHINE
    name = path.stem if path.suffix == ".json" else path.name
    folder = shipped_folder()
    bare = path.name == str(path)
    if folder is not None and bare and not path.exists() and name in shipped_machines():
        return folder / f"{name}.json"
    if not path.exists():
        if path == MACHINE and (beside := sorted(str(file.parent) for file in Path().glob(f"*/{MACHINE}"))):
            raise RequestError(
                f"{counted(len(beside), 'campaign')} here have a {MACHINE}", f"name one of {', '.join(beside)}"
            )
        guess = did_you_mean(name, shipped_machines()) if bare else ""
        raise RequestError(
            f"there is no machine file {path}",
            f"{guess}make one with `hockney fit CAMPAIGN -o {path.with_suffix('.json')}`, "
            f"or name a published one: {', '.join(shipped_machines())}",
        )
    return path
