"""What both ways at once and a reduction cost, from the entries of a machine file that timed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.factories import campaign, messages

from hockney.machine.build import build
from hockney.predict.collective import predict_one
from hockney.predict.costs import TERMS, value
from hockney.predict.machine_costs import MachineCosts, of_machine
from hockney.predict.simulation import simulate
from hockney.records.record import Record
from hockney.schedule.catalogue import ask

PAIR: dict[str, Any] = {"locality": "package", "pair": "0-1", "within": 0.02}
MIB = 2**20


def costs(
    folder: Path, more: Sequence[Record] = (), *, both_ways: bool = False, **rates_B_per_s: float
) -> MachineCosts:
    """Of ping-pongs of 2 us and 1 GB/s, of what else was timed, by operation, and of `more`."""
    records = messages(most_B=MIB, **PAIR)
    for operation, rate_B_per_s in rates_B_per_s.items():
        alpha_s = 1e-8 if operation == "reduce_local" else 2e-6
        records += messages(alpha_s, rate_B_per_s, MIB, operation=operation, **PAIR)
    machine = build(campaign(folder / "campaign", [*records, *more]))
    made = of_machine(machine, "m", both_ways=both_ways).alike(2)
    return replace(made, copy_s_per_B=0.0)


@pytest.mark.parametrize(("rate_B_per_s", "factor"), [(1e9, 1.0), (0.625e9, 1.6), (0.4e9, 2.0)])
def test_an_exchange_takes_what_was_measured_up_to_twice_as_long(
    tmp_path: Path, rate_B_per_s: float, factor: float
) -> None:
    """In a ring of two, as in a pingping."""
    there = costs(tmp_path, pingping=rate_B_per_s)
    request = ask("allgather", "ring", ranks=2, size_B=MIB)
    took_s = float(simulate(request, there).finish_s.max())
    assert took_s == pytest.approx(factor * MIB / 1e9, rel=0.02)
    at_end = there.at_end(1)
    assert at_end is not None
    assert float(simulate(request, at_end).finish_s.max()) > took_s


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("factor", [1.6, 2.0])
def test_what_both_directions_share_is_paid_once(tmp_path: Path, factor: float, *, both_ways: bool) -> None:
    """Whether the time between two messages is that of one direction or of both."""
    both = 1e9 / factor
    there = costs(tmp_path, both_ways=both_ways, bandwidth=1e9, bidirectional=both, pingping=both)
    took_s = float(simulate(ask("allgather", "ring", ranks=2, size_B=MIB), there).finish_s.max())
    assert took_s == pytest.approx(factor * MIB / 1e9, rel=0.02)


def test_messages_that_meet_have_their_own_interval(tmp_path: Path) -> None:
    meeting = [
        each.model_copy(update={"value": each.value * (0.8 + 0.4 * (number % 2))})
        for number, each in enumerate(messages(2e-6, 0.625e9, MIB, operation="pingping", **PAIR))
    ]
    (before,) = (there := costs(tmp_path, meeting)).messages.values()
    at_end = there.at_end(1)
    assert at_end is not None
    (after,) = at_end.messages.values()
    assert before.both_ways is not None
    assert after.both_ways is not None
    assert (after.both_ways.time_s / before.both_ways.time_s).max() > 1.1
    assert (after.one_way_s / before.one_way_s).max() < 1.01


def test_of_several_that_meet_the_choice_is_said(tmp_path: Path) -> None:
    several = [
        each
        for name in ("hockney", "osu")
        for each in messages(most_B=MIB, operation="pingping", **{**PAIR, "source": name})
    ]
    assert any("2 measured configurations answer" in text for text in costs(tmp_path, several).warnings)


@pytest.mark.parametrize(("rate_B_per_s", "factor"), [(0.5e9, 2.0), (2e9, 1.0)])
def test_bytes_that_were_just_written_take_their_own_time(
    tmp_path: Path, rate_B_per_s: float, factor: float
) -> None:
    """Asked for as such alone, never less than others, and as much longer where messages meet."""
    there = costs(tmp_path, bandwidth=1e9, pingping=0.625e9, pingpong_written=rate_B_per_s)
    alone, meeting = ask("bcast", "linear", ranks=2, size_B=MIB), ask("allgather", "ring", ranks=2, size_B=MIB)
    for request, of_others in ((alone, 1.0), (meeting, 1.6)):
        took_s, written_s = (float(simulate(request, one).finish_s.max()) for one in (there, there.written()))
        assert took_s == pytest.approx(of_others * MIB / 1e9, rel=0.03)
        assert written_s - took_s == pytest.approx((factor - 1) * MIB / 1e9, rel=0.03, abs=0.03 * MIB / 1e9)


def test_bytes_that_were_just_written_have_their_own_interval(tmp_path: Path) -> None:
    written = [
        each.model_copy(update={"value": each.value * (0.8 + 0.4 * (number % 2))})
        for number, each in enumerate(messages(2e-6, 0.5e9, MIB, operation="pingpong_written", **PAIR))
    ]
    (exact,), (rough,) = (
        costs(tmp_path / name, more).messages.values()
        for name, more in (
            ("exact", messages(2e-6, 0.5e9, MIB, operation="pingpong_written", **PAIR)),
            ("rough", written),
        )
    )
    at = int(np.flatnonzero(exact.one_way_s > 1e-3)[0])
    for one, least, most in ((exact, 1.0, 1.01), (rough, 1.1, 10.0)):
        low, high = (one.at_end(end) for end in (0, 1))
        assert low is not None
        assert high is not None
        assert least <= high.written().one_way_s[at] / low.written().one_way_s[at] < most
    # Nothing is known of larger ones: they take no longer than the largest measured beside what others take.
    longer_s = exact.written().one_way_s - exact.one_way_s
    assert longer_s[-1] == pytest.approx(1e-9 * MIB, rel=0.05)


@pytest.mark.parametrize(("rate_B_per_s", "expected"), [(0.5e9, True), (0.9e9, False)])
def test_late_answers_that_wait_behind_data_are_told_by_twice_the_time(
    tmp_path: Path, rate_B_per_s: float, *, expected: bool
) -> None:
    """A rank that has both messages asked for while it sends: of two of 1 MiB, one after the other."""
    where = {**PAIR, "locality": "network", "launch": "a"}
    records = [
        each
        for operation, rate in (("pingpong", 1e9), ("pingping", 1e9), ("pingping_late", rate_B_per_s))
        for each in messages(rate_B_per_s=rate, most_B=MIB, operation=operation, **where)
    ]
    launch = {"id": "a", "eager_limit_B": {"network": 65536}}
    there = of_machine(build(campaign(tmp_path, records, launch)), "m", both_ways=False)
    assert [each.keeps_order for each in there.messages.values()] == [expected]
    (curves,) = there.alike(2).at([0]).messages
    behind_s = value(curves[TERMS.index("behind")], np.array([MIB]))
    assert behind_s == pytest.approx([2**17 / 1e9 if expected else 0.0], rel=0.02)
    # Of three messages of a binomial tree the root's two share its link; who exchanges may have to take turns.
    for collective, name, ranks, least, most in (
        ("bcast", "binomial", 4, *((3, 3) if expected else (2, 2))),
        ("alltoall", "linear", 8, *((1.3 * 7, 2 * 7) if expected else (7, 7))),
    ):
        # What is given, and what is not sure of the processors, changes nothing of it.
        for same in (there, there.replaced({}), there.unsure(reduces=False)[0]):
            row = predict_one(ask(collective, name, ranks=ranks, size_B=MIB), same, None)
            assert row.time_s is not None
            assert 0.98 * least <= row.time_s / (MIB / 1e9) <= 1.02 * most, name
    assert there.replaced({"gap_s_per_B": 1e-10}).node_s_per_B == pytest.approx(1e-10 if expected else 0.0)


def test_what_was_not_measured_is_named(tmp_path: Path) -> None:
    bare = costs(tmp_path / "bare")
    assert bare.unmeasured([*bare.messages]) == ["pingping", "pingpong_written", "reduce_local"]
    (curves,) = bare.at([*bare.messages]).messages
    assert not curves[TERMS.index("duplex")][0]
    assert any("reductions and copies are assumed" in text for text in bare.warnings)
    whole = costs(tmp_path / "whole", pingping=1e9, pingpong_written=1e9, reduce_local=4e9)
    assert whole.unmeasured([*whole.messages]) == []
    assert any(text.startswith("copies are assumed") for text in whole.warnings)


def test_a_reduction_takes_what_was_measured(tmp_path: Path) -> None:
    there = costs(tmp_path, reduce_local=4e9)
    reduce = there.at([*there.messages]).reduce
    assert value(reduce, np.array([MIB]))[0] == pytest.approx(MIB / 4e9, rel=0.02)
    low, high = (there.at_end(end) for end in (0, 1))
    assert low is not None
    assert high is not None
    times_s = [value(one.at([*one.messages]).reduce, np.array([MIB]))[0] for one in (low, there, high)]
    assert times_s == sorted(times_s)
    assert times_s[0] < times_s[2]
    # Nothing is assumed of it that might be otherwise; what is asked for comes first.
    assert {one.reduce_s_per_B for one in there.unsure(reduces=True)} == {there.reduce_s_per_B}
    assert value(there.replaced({"reduce_s_per_B": 1e-9}).at([*there.messages]).reduce, np.array([MIB]))[0] == (
        pytest.approx(MIB * 1e-9)
    )
    (described,) = there.described({}, [*there.messages]).values()
    assert described["reduce_s_per_B"]["value"] == pytest.approx(1 / 4e9, rel=0.05)
    assert "reduce_local" in str(described["reduce_s_per_B"]["from"])
