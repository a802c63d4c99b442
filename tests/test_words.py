"""Words of the command line."""

from __future__ import annotations

import pytest

from hockney.units import listed


@pytest.mark.parametrize(
    ("values", "text"), [(["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")]
)
def test_what_an_option_may_be_reads_as_a_sentence(values: list[str], text: str) -> None:
    assert listed(values) == text
