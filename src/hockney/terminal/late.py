"""Libraries that take longer to load than most answers: each is loaded when something of it is first asked for.

`importlib.util.LazyLoader` loads a module at its second import already, as an import reads `__spec__`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_OF_SCIPY = ("interpolate", "linalg", "optimize", "sparse", "sparse.csgraph", "spatial", "special", "stats")
LATE = {"matplotlib", "pandas", "pyarrow", "scipy", *(f"scipy.{part}" for part in _OF_SCIPY)}
_LOCK = RLock()


class _LateModule(ModuleType):
    """A module that has a name and a place only, until an attribute is asked for."""

    def __getattr__(self, name: str) -> Any:
        load(self)
        return self.__getattribute__(name)


class _Loader(Loader):
    """Loads nothing yet; `by` will."""

    def __init__(self, by: Loader) -> None:
        self.by = by

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _LateModule


def load(module: ModuleType) -> None:
    """Another thread waits until it is loaded; who asks within its own loading gets what there is."""
    with _LOCK:
        spec = module.__spec__
        if spec and isinstance(spec.loader, _Loader):
            spec.loader = module.__loader__ = spec.loader.by
            module.__class__ = ModuleType
            spec.loader.exec_module(module)


class Late(MetaPathFinder):
    """Comes before the finders of `sys.meta_path`."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if fullname in LATE:
            found = PathFinder.find_spec(fullname, path, target)
            if found and found.loader:
                found.loader = _Loader(found.loader)
            return found
        # Parts of a library expect that it is loaded.
        whole = sys.modules.get(fullname.partition(".")[0])
        if isinstance(whole, _LateModule):
            load(whole)
        return None
