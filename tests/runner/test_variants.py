"""Variant specifications: variables first, launcher arguments after."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.runner.variants import Variant, parse_variant


@pytest.mark.parametrize(
    ("spec", "variant"),
    [
        (
            "tcp: --mca pml ob1 --mca btl tcp,self",
            Variant("tcp", ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self")),
        ),
        (
            "big: MPIR_CVAR_X=1 FI_PROVIDER=tcp",
            Variant("big", (), {"MPIR_CVAR_X": "1", "FI_PROVIDER": "tcp"}),
        ),
        ("a: X=1 -genv Y=2", Variant("a", ("-genv", "Y=2"), {"X": "1"})),
        ("plain:", Variant("plain")),
        ("q: X='a b' --opt \"c d\"", Variant("q", ("--opt", "c d"), {"X": "a b"})),
        ("empty: X=", Variant("empty", (), {"X": ""})),
        ("ucx-1.17:UCX_TLS=rc:self", Variant("ucx-1.17", (), {"UCX_TLS": "rc:self"})),
        ("o: --opt=1 X=2", Variant("o", ("--opt=1", "X=2"))),
    ],
)
def test_specifications(spec: str, variant: Variant) -> None:
    assert parse_variant(spec) == variant


@pytest.mark.parametrize("spec", ["", "tcp", "--mca pml ob1", ": X=1", "two words: X=1", "q: 'open"])
def test_nonsense(spec: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_variant(spec)
    assert "write for example" in caught.value.hint


_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_values = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(
    environment=st.dictionaries(_names, _values, max_size=4), rest=st.lists(_values.map("-{}".format), max_size=4)
)
def test_what_is_quoted_comes_back(environment: dict[str, str], rest: list[str]) -> None:
    words = [shlex.quote(f"{name}={value}") for name, value in environment.items()]
    spec = "v: " + " ".join([*words, *map(shlex.quote, rest)])
    assert parse_variant(spec) == Variant("v", tuple(rest), environment)
