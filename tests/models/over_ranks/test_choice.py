"""Who is fastest, who cannot be told from it, and what the default costs; rates by their definitions."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.factories import collective, not_none, row

from hockney.models.over_ranks.bandwidth import (
    algorithm_bandwidth_B_per_s,
    bus_bandwidth_B_per_s,
    network_bandwidth_B_per_s,
)
from hockney.models.over_ranks.choice import choices, penalty
from hockney.models.over_ranks.points import points, visits_of
from hockney.records.contents import Contents
from hockney.records.table import rows_of
from hockney.records.visits import settle

ROWS = [
    # algorithm, µs, low, high
    ("default", 4.0, 3.9, 4.1),
    ("binomial", 2.0, 1.9, 2.1),
    ("chain", 2.05, 2.0, 2.2),
    ("linear", 6.0, 5.9, 6.1),
]


def frame() -> pd.DataFrame:
    rows = [
        row(8, 4, time * 1e-6, algorithm=name, low_s=low * 1e-6, high_s=high * 1e-6)
        for name, time, low, high in ROWS
    ]
    return pd.DataFrame(rows)


def test_the_fastest_its_ties_and_the_penalty() -> None:
    (choice,) = choices(points(frame(), "bcast"))
    assert (choice.best, choice.ties, choice.candidates) == ("binomial", ("chain",), 4)
    assert choice.penalty == pytest.approx(2.0)
    total = not_none(penalty([choice]))
    assert (total.points, total.within_10_percent) == (1, 0.0)
    assert total.worst == pytest.approx(2.0)


def test_algorithms_of_one_schedule_are_not_told_apart() -> None:
    """On two ranks a linear broadcast and a binomial tree are one message; another program's may be two."""
    ours = frame().assign(ranks=2, source="hockney")
    ours.loc[ours["algorithm"] == "linear", ["time_s", "low_s", "high_s"]] = [2.3e-6, 2.2e-6, 2.4e-6]
    (choice,) = choices(points(ours, "bcast"))
    assert (choice.best, choice.ties) == ("binomial", ("chain", "linear"))
    # The steady median of 2.0, 2.05 and 2.3 is none of the three.
    assert 2.05e-6 < choice.best_s < 2.3e-6
    (choice,) = choices(points(ours.assign(source="osu"), "bcast"))
    assert choice.ties == ("chain",)


def with_default(time_us: float, low_us: float | None = None, high_us: float | None = None) -> pd.DataFrame:
    """The default with that time; without an interval nothing has one."""
    changed = frame()
    if low_us is None:
        changed = changed.drop(columns=["low_s", "high_s"])
    values = {"time_s": time_us, "low_s": low_us, "high_s": high_us}
    for name in changed.columns.intersection(list(values)):
        changed.loc[changed["algorithm"] == "default", name] = 1e-6 * (values[name] or 0)
    return changed


def test_a_default_that_is_fastest_is_the_fastest() -> None:
    (choice,) = choices(points(with_default(1.0, 0.9, 1.1), "bcast"))
    assert (choice.best, choice.ties) == ("default", ())
    assert choice.best_s == pytest.approx(1e-6)
    assert (choice.penalty, choice.is_default_slower) == (1.0, False)


@pytest.mark.parametrize(
    ("half_us", "rival_us", "is_noisy"),
    # A rival of 4 µs, and one that no such noise makes the fastest.
    [(0.3, 4.0, False), (0.5, 4.0, True), (0.5, 8.0, False)],
)
def test_a_default_is_fastest_only_where_noise_hides_nothing(
    half_us: float, rival_us: float, *, is_noisy: bool
) -> None:
    two = frame().iloc[:2].copy()
    for at, time_us in ((0, 4.0), (1, rival_us)):
        two.loc[at, ["low_s", "time_s", "high_s"]] = [
            end * 1e-6 for end in (time_us - half_us, time_us, time_us + half_us)
        ]
    (choice,) = choices(points(two, "bcast"))
    assert (choice.best, choice.is_noisy) == ("default", is_noisy)


def test_what_overlaps_the_default_is_not_called_faster() -> None:
    # binomial: 2.0 µs, 1.9 to 2.1.
    (choice,) = choices(points(with_default(2.4, 2.05, 2.6), "bcast"))
    assert (choice.best, choice.ties, choice.penalty) == ("default", ("binomial", "chain"), 1.0)
    (choice,) = choices(points(with_default(2.4, 2.15, 2.6), "bcast"))
    assert choice.ties == ("chain",)
    assert choice.penalty == pytest.approx(1.2)


def test_a_time_without_an_interval_is_taken_as_ten_per_cent_either_way() -> None:
    # 2.0 µs reaches up to 2.2: 2.44 µs reach down to 2.196, 2.45 µs to 2.205.
    (near,) = choices(points(with_default(2.44), "bcast"))
    assert near.penalty == 1.0
    (far,) = choices(points(with_default(2.45), "bcast"))
    assert far.penalty == pytest.approx(2.45 / 2.0)


def test_the_best_of_many_noisy_candidates_is_not_faster_than_a_default_of_the_same_kind() -> None:
    """33 candidates and the default, all of them the same: 100 µs ± 5 %."""
    noise = np.random.default_rng(1)
    costs = []
    for _ in range(40):
        times = 100 * np.exp(noise.normal(0, 0.05, 34))
        names = ["default", *(f"a{number}" for number in range(33))]
        row = frame().iloc[0].to_dict()
        rows = [
            {**row, "algorithm": name, "time_s": time * 1e-6, "low_s": time * 0.9e-6, "high_s": time * 1.1e-6}
            for name, time in zip(names, times, strict=True)
        ]
        (choice,) = choices(points(pd.DataFrame(rows), "bcast"))
        costs.append(choice.penalty)
    assert np.mean([cost == 1.0 for cost in costs]) >= 0.9


def test_of_two_that_are_as_fast_the_one_at_the_size_before_stays() -> None:
    first, second = frame(), frame().assign(bytes=16)
    # At 16 B the chain has the shorter median, and intervals that overlap the tree's.
    second.loc[second["algorithm"] == "chain", ["time_s", "low_s"]] = [1.95e-6, 1.9e-6]
    small, large = choices(points(pd.concat([first, second]), "bcast"))
    assert (small.best, large.best, large.ties) == ("binomial", "binomial", ("chain",))
    second.loc[second["algorithm"] == "chain", ["time_s", "low_s", "high_s"]] = [1.7e-6, 1.6e-6, 2.2e-6]
    _, far = choices(points(pd.concat([first, second]), "bcast"))
    assert far.best == "chain", "a median more than 10 % longer does not stay"


def test_without_a_default_there_is_no_penalty() -> None:
    some = frame()
    found = choices(points(some[some["algorithm"] != "default"], "bcast"))
    assert penalty(found) is None


@pytest.mark.parametrize(
    ("column", "other"),
    [
        ("system", "t"),
        ("mpi", "n"),
        ("variant", "tcp"),
        ("cache", "off"),
        ("root", 1),
        ("mapping", "node"),
        ("nodes", 2),
        ("ranks", 8),
        ("bytes", 16),
    ],
)
def test_what_was_measured_under_other_conditions_is_not_compared(column: str, other: str | int) -> None:
    here = frame().assign(variant="", cache="warm", root=0)
    # There everything takes a tenth: it would win everywhere, and the default there would pay for it.
    there = here.assign(**{column: other}, time_s=here["time_s"] / 10, low_s=here["low_s"] / 10)
    there["high_s"] = here["high_s"] / 10
    found = choices(points(pd.concat([here, there], ignore_index=True), "bcast"))
    assert sorted(choice.best_s for choice in found) == pytest.approx([0.2e-6, 2e-6])
    assert [choice.penalty for choice in found] == pytest.approx([2.0, 2.0])
    assert {choice.candidates for choice in found} == {4}


def test_rates_have_one_definition_each() -> None:
    # 4 ranks, 8 B in 1 s: nccl-tests' busbw of an allreduce is 2(n − 1)/n of algbw; a bcast's equals it.
    assert algorithm_bandwidth_B_per_s("allreduce", 4, 8, 1.0) == 8
    assert bus_bandwidth_B_per_s("allreduce", 4, 8, 1.0) == pytest.approx(12)
    assert bus_bandwidth_B_per_s("bcast", 4, 8, 1.0) == 8
    # A broadcast moves P − 1 messages in all.
    assert network_bandwidth_B_per_s("bcast", 4, 8, 1.0) == 24
    # Blocks: the whole vector is 4 · 8 B.
    assert algorithm_bandwidth_B_per_s("alltoall", 4, 8, 1.0) == 32
    assert bus_bandwidth_B_per_s("allgather", 4, 8, 1.0) == pytest.approx(24)


def campaign(**offsets: float) -> Contents:
    """Each algorithm once in each of 24 launches, which differ by 20 %; what differs within one is 1 %."""
    noise = np.random.default_rng(1)
    of_launch = noise.normal(0.0, 0.2, 24)
    records = [
        collective(
            8,
            float(np.exp(common + offset + noise.normal(0.0, 0.01))),
            system="s",
            mpi="m",
            mapping="core",
            nodes=1,
            ppn=8,
            ranks=8,
            root=0,
            algorithm=algorithm,
            launch=str(launch),
        )
        for launch, common in enumerate(of_launch)
        for algorithm, offset in offsets.items()
    ]
    settled = settle(records, {})
    return Contents(Path("c"), rows_of(settled.records), records, settled)


def test_visits_beside_each_other_tell_what_intervals_do_not() -> None:
    """A launch's 20 % are in each interval, and in no ratio: 6 % is told, 1 % counts as equal."""
    contents = campaign(default=0.06, binomial=0.0, chain=0.01)
    measured = points(contents.frame, "bcast")
    (choice,) = choices(measured)
    assert {choice.best, *choice.ties} == {"default", "binomial", "chain"}
    (choice,) = choices(measured, visits_of(contents, "bcast", "completion"))
    assert {choice.best, *choice.ties} == {"binomial", "chain"}
    assert choice.is_default_slower
    assert choice.reach is not None
    assert 1 < choice.reach[0] <= 1.06 <= choice.reach[1] < 1.1, "the interval shown is the one that decides"
    # Of another statistic, and of visits in launches of their own, nothing is known in pairs.
    assert visits_of(contents, "bcast", "max_over_ranks") == {}
    apart = [one.model_copy(update={"launch": one.algorithm + one.launch}) for one in contents.records]
    alone = dataclasses.replace(contents, records=apart)
    assert choices(measured, visits_of(alone, "bcast", "completion")) == choices(measured)


def test_a_median_of_other_launches_does_not_make_an_algorithm_the_fastest() -> None:
    """The chain takes 5 % longer in each launch, but was not at the level in the 12 slowest of 24."""
    contents = campaign(binomial=0.0, chain=0.05)
    slow = sorted((one for one in contents.records if one.algorithm == "chain"), key=lambda one: one.value)[12:]
    records = [record for record in contents.records if record not in slow]
    contents = Contents(Path("c"), rows_of(settle(records, {}).records), records)
    measured = points(contents.frame, "bcast")
    assert choices(measured)[0].best == "chain"
    (choice,) = choices(measured, visits_of(contents, "bcast", "completion"))
    assert (choice.best, choice.ties) == ("binomial", ()), "its visits beside the other are slower"


def test_visits_of_one_schedule_count_together() -> None:
    """On two ranks a chain and a binomial tree are one message: neither is told from the other, both are told."""
    contents = campaign(default=0.06, binomial=0.0, chain=0.0)
    two = [record.model_copy(update={"ranks": 2}) for record in contents.records]
    contents = Contents(Path("c"), rows_of(settle(two, {}).records), two)
    (choice,) = choices(points(contents.frame, "bcast"), visits_of(contents, "bcast", "completion"))
    assert {choice.best, *choice.ties} == {"binomial", "chain"}
