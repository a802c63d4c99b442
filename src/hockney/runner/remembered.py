"""Objects in the cache: what a table comes to, found again by all that it depends on."""

from __future__ import annotations

import hashlib
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import Field, fields
from typing import Any, ClassVar, TypeVar

from hockney.runner.cache import computed, keep

Thing = TypeVar("Thing")


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


def _unpacked(data: bytes, outside: object) -> Any:
    """That of the present call stands in its place."""
    unpickler = pickle.Unpickler(io.BytesIO(data))
    unpickler.persistent_load = lambda _: outside  # type: ignore[method-assign]
    return unpickler.load()


def remembered(digest: str, make: Callable[[], Thing]) -> Thing:
    """What `make` computes, kept under this digest of all that it depends on where it can be kept."""
    with growing(digest, make) as thing:
        return thing


@contextmanager
def growing(digest: str, make: Callable[[], Thing], outside: object = None) -> Iterator[Thing]:
    """The same, and kept again where it has learned more when the block ends. `outside` is not kept.

    Under an empty digest nothing is kept.
    """
    if not digest:
        yield make()
        return
    # Only this user can have written it: `computed` sees to that, as the runner's programs there do.
    data = computed(digest, lambda: _packed(make(), outside))
    thing: Thing = _unpacked(data, outside)
    yield thing
    after = _packed(thing, outside)
    if hashlib.sha256(after).digest() != hashlib.sha256(data).digest():
        keep(digest, after)
