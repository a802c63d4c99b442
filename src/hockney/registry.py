"""A registry finds the units of a kind by importing their package: a module for each, or one with them all."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from hockney.errors import RequestError

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean 'ring'? ` where a known name is near, else nothing: the start of a hint."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def unit_files(place: str) -> list[str]:
    """Names of units by their files, sorted; none is imported, so that `--help` can list them.

    `place` is a package whose modules are units, or has `{}` in the place of their names: `hockney.apps.{}.run`
    are the folders of hockney.apps that hold a module `run`.
    """
    package, _, module = place.partition(".{}.")
    specification = importlib.util.find_spec(package)
    folders = [Path(folder) for folder in (specification and specification.submodule_search_locations) or []]
    if module:
        names = [found.parent.name for folder in folders for found in folder.glob(f"*/{module}.py")]
    else:
        names = [found.name for found in pkgutil.iter_modules(map(str, folders))]
    return sorted(name for name in names if name != "base" and not name.startswith("_"))


class Registry(Generic[T]):
    """Units of one kind, each registered by the module that bears its name, or all by one module.

    `kind` is the word for error messages ("model"), `package` the dotted package whose modules register
    themselves when they are imported, or the dotted module of units that are a few lines each. Where a unit is a
    folder of that package, `module` names the file in it that registers (`section`); folders without that file
    hold no unit. Importing is put off until the first look-up. `page` (below docs/) speaks of every unit, or has
    `{}` in the place of their names where each has a page of its own; tests stand in tests/, in the place that
    mirrors the package.
    """

    every: ClassVar[list[Registry[Any]]] = []
    """All registries of the modules that were imported."""

    def __init__(self, kind: str, package: str, page: str, module: str = "") -> None:
        self.kind = kind
        self.package = package
        self.page = page
        self.module = module
        Registry.every.append(self)
        self._units: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator: enter a unit under `name`; a second unit of that name is a defect."""

        def enter(unit: T) -> T:
            if name in self._units:
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            self._units[name] = unit
            return unit

        return enter

    def _load(self) -> dict[str, T]:
        if not self._loaded:
            package = importlib.import_module(self.package)
            for unit in pkgutil.iter_modules(getattr(package, "__path__", [])):
                name = ".".join(filter(None, (self.package, unit.name, self.module)))
                if not self.module or (unit.ispkg and importlib.util.find_spec(name)):
                    importlib.import_module(name)
            self._loaded = True
        return self._units

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._load())

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(sorted(self._load().items()))

    def get(self, name: str) -> T:
        """The unit of that name; RequestError with the known and the nearest names otherwise."""
        units = self._load()
        if name in units:
            return units[name]
        hint = f"{did_you_mean(name, units)}known: {', '.join(sorted(units))}"
        raise RequestError(f"unknown {self.kind} {name!r}", hint)
