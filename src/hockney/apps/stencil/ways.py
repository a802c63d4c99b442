"""How halos are exchanged, and conjugate gradients formulated: the words, which options need without numpy."""

from __future__ import annotations

from typing import Literal, get_args

Exchange = Literal["sendrecv", "nonblocking", "overlap", "persistent", "neighborhood"]
EXCHANGES: tuple[Exchange, ...] = get_args(Exchange)
Variant = Literal["reference", "fused", "joint", "single_sweep", "pipelined"]
"""Formulations of conjugate gradients (docs/reference/cg.md)."""
VARIANTS: tuple[Variant, ...] = get_args(Variant)
