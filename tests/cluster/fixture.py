"""A lab of this test's own: hosts as network namespaces, joined by a bridge, gone afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.capabilities import lacking

from hockney.errors import EnvironmentLack
from hockney.runner import lab
from hockney.runner.lab import Lab

HOSTS = 8
LINK_BIT_PER_S = 1e8


def made(name: str, hosts: int, link_bit_per_s: float | None) -> Lab:
    """A lab whose name no other test process has; skips where there cannot be any."""
    try:
        return lab.up(f"{name}-{os.getpid()}", hosts, link_bit_per_s)
    except EnvironmentLack as error:
        pytest.skip(lacking("network namespaces", error.message))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Lab]:
    """Eight hosts with links of 100 Mbit/s; `hockney lab run` runs there."""
    found = made("cluster", HOSTS, LINK_BIT_PER_S)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOCKNEY_LAB", found.name)
        yield found
    lab.down(found.name)
