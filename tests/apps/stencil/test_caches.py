"""Steps of a cell's time where vectors leave a cache, and sizes that fit a memory."""

from __future__ import annotations

import pytest

from hockney.apps.stencil.caches import Cache, caches_of, steps
from hockney.apps.stencil.fitting import proposing, shrunk
from hockney.apps.stencil.measured import Computation
from hockney.records.journal import LaunchLine
from hockney.runner.session import Refused
from hockney.units import Extents

MIB = 2.0**20
L2, L3 = Cache(2, MIB, 1), Cache(3, 32 * MIB, 8)


def test_a_step_lies_where_the_vectors_leave_a_cache() -> None:
    # Four vectors of a box: 1 to 256 MiB of them; the time steps from 16 to 64 MiB.
    curve = {MIB / 4: 1.0, 4 * MIB: 1.05, 16 * MIB: 2.0, 64 * MIB: 2.1}
    (step,) = steps(Computation({1: curve}, None), 4, [L2, L3])
    assert (step.below_B, step.above_B) == (16 * MIB, 64 * MIB)
    assert step.ratio == pytest.approx(2.0 / 1.05)
    assert step.cache == L3
    assert "leave the L3 cache, of which a rank has 32 MiB" in step.in_words("an unknown")


def test_ranks_share_a_cache() -> None:
    curve = {MIB: 1.0, 2 * MIB: 2.0}
    (step,) = steps(Computation({8: curve}, None), 4, [L2, L3])
    # Eight ranks have 4 MiB each of the third cache: 4 and 8 MiB of vectors are on either side.
    assert step.cache == L3
    assert "of which a rank has 4 MiB if ranks are on neighbouring cores" in step.in_words("an unknown")
    (unknown,) = steps(Computation({1: curve}, None), 4, [L2, L3])
    assert unknown.cache is None
    assert "no cache of that size" in unknown.in_words("a cell")


def test_steps_in_a_row_are_one_and_small_ones_none() -> None:
    rising = {MIB: 1.0, 2 * MIB: 1.5, 4 * MIB: 2.25}
    (step,) = steps(Computation({1: rising}, None), 4, [])
    assert step.ratio == pytest.approx(2.25)
    assert steps(Computation({1: {MIB: 1.0, 2 * MIB: 1.1}}, None), 4, []) == []


def test_caches_are_those_of_the_launch() -> None:
    place = {
        "rank": 0,
        "caches": [
            {"level": 1, "type": "Instruction", "size_B": 1, "shared": [0]},
            {"level": 3, "type": "Unified", "size_B": 32 * MIB, "shared": list(range(8))},
        ],
    }
    assert caches_of([LaunchLine(imported="x"), LaunchLine.model_validate({"ranks": [place]})]) == [L3]
    assert caches_of([]) == []
    # With two threads a core, eight processors are four cores.
    threaded = {**place, "cpu": 0, "siblings": [0, 4]}
    assert caches_of([LaunchLine.model_validate({"ranks": [threaded]})]) == [Cache(3, 32 * MIB, 4)]


def test_what_needs_more_than_there_is_shrinks_to_what_fits() -> None:
    # Two fields of 1200³ doubles are 27.6 GB; of 4 GB four fifths are 3.2: sides of 0.4874 · 1200 = 584.9.
    assert shrunk(Extents(1200, 1200, 1200), 2 * 8 * 1200**3, 4e9) == Extents(580, 580, 580)
    assert shrunk(Extents(100, 100, 100), 2 * 8 * 100**3, 4e9) == Extents(100, 100, 100)
    # A plane shrinks along two sides: four vectors of 8 GB, in all 32 GB, into 3.2 GB: √0.1 of 31623 is 10000.07.
    assert shrunk(Extents(31623, 31623, 1), 4 * 8 * 31623**2, 4e9) == Extents(10000, 10000, 1)
    assert shrunk(Extents(4, 4, 4), 1e9, 1.0) == Extents(1, 1, 1)


def test_a_refusal_that_does_not_say_what_is_needed_proposes_nothing() -> None:
    refused = Refused("memory is short", "choose a smaller problem", 0.0, 0.0)
    assert proposing(refused, Extents(4, 4, 4), str) is refused
