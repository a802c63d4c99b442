"""Objects in the cache: what a table comes to, found again by all that it depends on."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import Field, fields
from typing import Any, ClassVar, TypeVar

from hockney.runner.cache import keep, recalled

Thing = TypeVar("Thing")

_PACKAGES = ("hockney", "numpy", "pandas", "pyarrow", "scipy")
_STANDARD = {
    "builtins": ("frozenset", "range", "set", "slice"),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    "functools": ("partial",),
    "pathlib": ("PosixPath",),
}
"""What kept tables hold besides."""


class KeptByFields:
    """A dataclass of which its fields are kept: what else it knows follows from them in no time."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getstate__(self) -> object:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _packed(thing: object, outside: object) -> bytes:
    """What belongs to a call alone, such as its progress, is left out."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol=5)
    pickler.persistent_id = lambda each: "outside" if each is outside else None  # type: ignore[method-assign]
    pickler.dump(thing)
    return file.getvalue()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Of the packages that tables are made of alone, and nothing that these import from elsewhere."""
        if name in _STANDARD.get(module, ()):
            return super().find_class(module, name)
        if module.partition(".")[0] in _PACKAGES and "." not in name:
            thing = super().find_class(module, name)
            if (getattr(thing, "__module__", None) or module).partition(".")[0] in _PACKAGES:
                return thing
        raise pickle.UnpicklingError(f"{module}.{name} is in no table")


def _recalled(digest: str, make: Callable[[], Thing], outside: object) -> Thing:
    """What is kept under this digest; made and kept where nothing is that can be unpacked."""
    data = recalled(digest)
    if data is not None:
        unpickler = _Unpickler(io.BytesIO(data))
        unpickler.persistent_load = lambda _: outside  # type: ignore[method-assign]
        # Damage shows as any kind of error.
        with suppress(Exception):
            thing: Thing = unpickler.load()
            return thing
    made = make()
    keep(digest, _packed(made, outside))
    return made


def remembered(digest: str, make: Callable[[], Thing]) -> Thing:
    """What `make` computes, kept under this digest of all that it depends on where it can be kept."""
    return _recalled(digest, make, None)


@contextmanager
def growing(digest: str, make: Callable[[], Thing], outside: object = None) -> Iterator[Thing]:
    """The same, and kept again where it has learned more when the block ends. `outside` is not kept.

    Under an empty digest nothing is kept.
    """
    if not digest:
        yield make()
        return
    thing = _recalled(digest, make, outside)
    # Packed anew: the order of its sets is another in each process.
    before = hashlib.sha256(_packed(thing, outside)).digest()
    yield thing
    after = _packed(thing, outside)
    if hashlib.sha256(after).digest() != before:
        keep(digest, after)
