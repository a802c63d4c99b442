"""The costs are rebuilt from the points alone, and only with the caches that they were sorted by."""

from __future__ import annotations

import pytest
from tests.predict.planted_datatypes import HOST, LAYOUTS, Truth, planted, row

from hockney.errors import RequestError
from hockney.machine.file import Host, HostCache
from hockney.predict.datatype_costs import rows_of, ways_of
from hockney.predict.layout import strided


def test_planted_costs_come_back() -> None:
    truth = Truth()
    ways = ways_of(planted({"send": truth, "pack": truth}), [HOST])
    assert list(ways) == ["send", "pack"]
    for way in ways.values():
        # Without noise the system has one exact solution; what is left is the solver's rounding.
        assert way.costs.terms["setup_s"] == pytest.approx(truth.setup_s, rel=1e-6)
        for term in ("element_s", "copied_block_s", "page_s"):
            assert way.costs.terms[term] == pytest.approx(getattr(truth, term), rel=1e-6), term
        assert way.costs.terms["strided_block_s"] == pytest.approx(truth.block_s["vector"], rel=1e-6)
        assert way.costs.terms["indexed_block_s"] == pytest.approx(truth.block_s["indexed"], rel=1e-6)
        for level in ("L2", "L3", "memory"):
            assert way.costs.terms[f"line_{level}_s"] == pytest.approx(truth.line_s[level], rel=1e-6), level


def test_a_term_is_carried_only_by_lines_beyond_the_message() -> None:
    # 64 blocks of 256 B every 512 B fit in L2, but touch no more lines than the message has.
    effect = planted({"send": Truth()}, layouts=[LAYOUTS[1], ("vector", 64, 256, 512)])
    way = ways_of(effect, [HOST])["send"]
    assert "line_L2_s" in way.costs.terms
    assert not way.carries("line_L2_s")
    assert way.carries("strided_block_s")


def test_the_host_is_the_one_whose_caches_sorted_the_points() -> None:
    other = Host(host="b", caches=[HostCache(level=1, type="Data", size_B=2**14, shared=[0])])
    effect = planted({"send": Truth()})
    assert ways_of(effect, [other, HOST])["send"].costs.levels == [("L1", 2**15), ("L2", 2**20), ("L3", 2**25)]
    with pytest.raises(RequestError, match="no host's caches"):
        ways_of(effect, [other])
    with pytest.raises(RequestError, match="no host's caches"):
        ways_of(effect, [])


def test_without_cache_sizes_all_lines_are_memory_s() -> None:
    rows = [{**point, "level": "memory"} for point in planted({"send": Truth()}).points]
    effect = planted({"send": Truth()}).model_copy(update={"points": rows})
    assert ways_of(effect, [])["send"].costs.levels == []


def test_rows_of_a_layout() -> None:
    way = ways_of(planted({"send": Truth()}), [HOST])["send"]
    (found,) = rows_of(way, strided("vector", 2048, 8, 16))
    assert (found["layout"], found["block_B"], found["stride_B"]) == ("vector", 8, 16)
    # The same memory as a list is another layout to a library, and another stride another one too.
    assert rows_of(way, strided("indexed", 2048, 8, 16)) != [found]
    assert rows_of(way, strided("vector", 2048, 8, 17)) == []
    assert rows_of(way, strided("vector", 1024, 16, 32)) == []
    # Blocks that touch are a contiguous message.
    (plain,) = rows_of(way, strided("vector", 256, 64, 64))
    assert (plain["layout"], plain["bytes"]) == ("contiguous", 16384)


def test_irregular_blocks_are_known_by_their_stride() -> None:
    effect = planted({"send": Truth()})
    drawn = {**row("send", ("irregular", 2048, 8, 64), 1e-5, 0.1), "extent_B": 131060, "lines": 2044}
    way = ways_of(effect.model_copy(update={"points": [*effect.points, drawn]}), [HOST])["send"]
    assert rows_of(way, strided("irregular", 2048, 8, 64)) == [drawn]
    assert rows_of(way, strided("irregular", 2048, 8, 65)) == []
