"""Fake commands of batch systems: each prints what its documentation says that the real one prints."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

Fake = Callable[..., Path]
"""(name, text, code=0, to=1): a program on the PATH that notes its words and input, and prints the text."""


def fake(folder: Path, name: str, text: str, code: int = 0, to: int = 1) -> Path:
    """What it was called with stands in `NAME.words` and `NAME.input` beside it."""
    path = folder / name
    path.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/{name}.words\ncat > {folder}/{name}.input\n"
        f"printf '%s\\n' {shlex.quote(text)} >&{to}\nexit {code}\n"
    )
    path.chmod(0o755)
    return path
