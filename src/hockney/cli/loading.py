"""Verbs are loaded when they are called, and what they work with when they work: a help page is there at once."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Name:
    """Stands in a module for what will be imported: a name of another module, or that module itself."""

    module: str
    name: str = ""

    def load(self) -> Any:
        module = importlib.import_module(self.module)
        if self.name and not hasattr(module, self.name):
            return importlib.import_module(f"{self.module}.{self.name}")
        return getattr(module, self.name) if self.name else module


class _Module:
    """What `from … import …` takes its names from while imports are put off."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _Name:
        return _Name(self._name, name)


_waiting: list[dict[str, Any]] = []
"""Namespaces of modules with names that are not imported yet."""


@contextmanager
def later() -> Iterator[None]:
    """Put off the imports of this block, `from … import …` and `import numpy as np`, until `load` is called.

    What a module needs while it is imported (types of options, base classes, defaults) is imported as usual.
    Python 3.15 has this as `lazy from … import …` (PEP 810).
    """
    namespace = sys._getframe(2).f_globals
    imported = builtins.__import__

    def put_off(
        name: str, globals_: Any = None, locals_: Any = None, fromlist: Sequence[str] = (), level: int = 0
    ) -> Any:
        if globals_ is not namespace:
            return imported(name, globals_, locals_, fromlist, level)
        if level or (not fromlist and "." in name):
            raise ImportError(f"{namespace['__name__']}: write `from … import …` to import {name} later")
        return _Module(name) if fromlist else _Name(name)

    builtins.__import__ = put_off
    try:
        yield
    finally:
        builtins.__import__ = imported
    _waiting.append(namespace)


def load() -> None:
    """Import all that was put off: a verb is about to work."""
    while _waiting:
        namespace = _waiting.pop()
        put_off = {name: value for name, value in namespace.items() if isinstance(value, _Name)}
        namespace.update({name: value.load() for name, value in put_off.items()})
