"""A variant: the same measurement under other launcher arguments or environment variables, with a name."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from hockney.errors import RequestError

DEFAULT = "default"
_EXAMPLES = "write for example 'tcp: --mca pml ob1 --mca btl tcp,self' or 'big: MPIR_CVAR_X=1 FI_PROVIDER=tcp'"


@dataclass(frozen=True)
class Variant:
    """Launcher arguments and environment variables under one name."""

    name: str = DEFAULT
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def parse_variant(spec: str) -> Variant:
    """`NAME: [VARIABLE=VALUE …] [launcher arguments …]`, quoted as for a shell; RequestError for anything else.

    Words of the form VARIABLE=VALUE before the first other word are environment, all that follows is arguments.
    """
    name, colon, rest = spec.partition(":")
    name = name.strip()
    if not colon or not re.fullmatch(r"\w[\w.+-]*", name):
        raise RequestError(f"{spec!r} is not a variant: it starts with no NAME:", _EXAMPLES)
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise RequestError(f"variant {name!r} is quoted wrongly: {error}", _EXAMPLES) from error
    environment: dict[str, str] = {}
    for index, word in enumerate(words):
        variable, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", variable):
            return Variant(name, tuple(words[index:]), environment)
        environment[variable] = value
    return Variant(name, (), environment)
