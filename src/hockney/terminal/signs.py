"""What a terminal or a pipe of another encoding than UTF-8 gets for µ, ≤ or –: the nearest signs that it has."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata

NEAREST = {
    "µ": "u",
    "μ": "u",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "±": "+-",
    "·": ".",
    "×": "x",
    "∞": "inf",
    "‖": "||",
    "α": "alpha",
    "β": "beta",
    "γ": "gamma",
    "κ": "kappa",
    "σ": "sigma",
    "Θ": "Theta",
    "½": "1/2",
    "’": "'",
    "╭": "+",
    "╮": "+",
    "╰": "+",
    "╯": "+",
    "│": "|",
    "─": "-",
    "━": "-",
    "┤": "|",
    "└": "+",
    "═": "=",
}
"""Of others what Unicode takes them apart into: ² is 2."""


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(NEAREST.get(sign) or _apart(sign) for sign in signs), error.end


def _is_utf(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith("utf")


def _apart(sign: str) -> str:
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() or "?"


def accept_any_terminal() -> None:
    """From now on what is said reaches a standard output or error of any encoding."""
    codecs.register_error("nearest", _nearest)
    for stream in (sys.stdout, sys.stderr):
        # Standard error has another way out than "strict", and in the C locale standard output has, too.
        if isinstance(stream, io.TextIOWrapper) and (stream.errors == "strict" or not _is_utf(stream.encoding)):
            stream.reconfigure(errors="nearest")
