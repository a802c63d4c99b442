"""Guidelines put to tables whose truth is known: what is planted is found, with what mends it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.check.planted import MPIS, RANKS, SIZES, Measured, frame, times, true_ratios, violating
from tests.factories import not_none, refusing

from hockney.check.cells import times_in
from hockney.check.study import bounds, study
from hockney.errors import RequestError

FAMILY_ERROR = 0.02
PLANTED = 1.3
NOISE = Measured(MPIS[0])


@pytest.mark.parametrize("seed", range(5))
def test_all_planted_violations_are_found_and_no_others(seed: int) -> None:
    noisy, true = violating(seed, noise=NOISE)
    found, exact = list(bounds(true)), true_ratios(true)
    planted = {found[index] for index in np.flatnonzero(exact >= PLANTED)}
    kept = {found[index] for index in np.flatnonzero(exact <= 1)}
    assert len(planted) > 20
    violated = {finding.identity for finding in study(noisy, family_error=FAMILY_ERROR).violations}
    assert planted <= violated
    assert not violated & kept


def test_a_violation_says_how_much_and_what_mends_it() -> None:
    table = frame(
        noise=NOISE, named={("bcast", "binomial"): 0.5, ("bcast", "pipeline"): 0.4, ("bcast", "theirs"): 0.1}
    )
    result = study(times_in(table), ["default_as_named"])
    assert result.launches == 5
    of_binomial = [f for f in result.violations if f.bound.fast[0].call.algorithm == "binomial"]
    assert len(of_binomial) == len(RANKS) * len(SIZES)
    for finding in of_binomial:
        assert finding.factor_low is not None
        assert finding.factor_high is not None
        assert finding.factor_low < not_none(finding.factor) < finding.factor_high
        # The fastest of ours, not the first, and not the library's own.
        assert finding.schedule is not None
        assert finding.schedule.algorithm == "pipeline"
        assert finding.schedule.time_s < finding.replacement_time_s < finding.time_s
    within = [
        finding.factor_low < 2 < finding.factor_high
        for finding in of_binomial
        if finding.factor_low and finding.factor_high
    ]
    # 30 intervals of 95 %, of which those of one number of ranks share what launches do to all sizes.
    assert sum(within) >= 20


def test_a_factor_that_is_sure_but_small_is_no_violation() -> None:
    table = frame(named={("bcast", "binomial"): 1 / 1.15})
    assert not study(times_in(table), ["default_as_named"], least_factor=1.2).violations
    assert study(times_in(table), ["default_as_named"], least_factor=1.1).violations


def test_a_factor_that_another_campaign_may_not_show_is_no_violation() -> None:
    # However well launches agree, a ratio moves by 2 % between campaigns.
    table = frame(named={("bcast", "binomial"): 1 / 1.06})
    assert not study(times_in(table), ["default_as_named"]).violations


def test_names_of_another_programs_table_are_no_schedules_of_ours() -> None:
    table = frame(named={("bcast", "binomial"): 0.5})
    table["source"] = "osu"
    assert {finding.schedule for finding in study(times_in(table)).violations} == {None}


def test_one_launch_tells_nothing_and_alarms_nobody() -> None:
    result = study(times(lambda *_: 1.0, launches=2))
    assert result.violations == []
    assert len(result.of("undecided")) == len(result.findings)


def test_rows_of_one_launch_are_one_launch() -> None:
    table = frame(launches=6)
    table["repetition"] %= 2
    assert times_in(table).launches == 2


def test_other_libraries_and_placements_are_not_compared() -> None:
    table = frame(named={("bcast", "binomial"): 0.5})
    for column, word in (("mpi", "Other MPI 2"), ("mapping", "node"), ("variant", "tcp"), ("cache", "off")):
        other = table.copy()
        other.loc[other["algorithm"] == "binomial", column] = word
        if column not in table:
            other[column] = other[column].fillna("")
        assert not list(bounds(times_in(other), ["default_as_named"])), column


def test_the_statistic_that_says_most_counts() -> None:
    table = frame(launches=1)
    mean = table.assign(statistic="mean_over_ranks", time_s=1.0)
    both = times_in(pd.concat([table, mean], ignore_index=True))
    assert {cell.call.statistic for cell in both.cells} == {"completion"}
    assert {cell.call.statistic for cell in times_in(mean).cells} == {"mean_over_ranks"}


def test_the_statistic_of_most_operations_counts_and_others_are_named() -> None:
    table = frame(launches=1)
    mean = table.assign(statistic="mean_over_ranks")
    one = pd.concat([table[table["operation"] == "bcast"], mean], ignore_index=True)
    assert {cell.call.statistic for cell in times_in(one).cells} == {"mean_over_ranks"}
    assert times_in(one).of_other_statistics == ()
    most = pd.concat(
        [table[table["operation"] != "bcast"], mean[mean["operation"] == "bcast"]], ignore_index=True
    )
    assert {cell.call.statistic for cell in times_in(most).cells} == {"completion"}
    checked = study(times_in(most))
    assert checked.of_other_statistics == ("bcast",)
    assert "another statistic than the rest: bcast" in "\n".join(checked.lines())
    # In part, too.
    some = pd.concat([table[table["ranks"] == RANKS[0]], mean[mean["ranks"] != RANKS[0]]], ignore_index=True)
    assert "bcast" in times_in(some).of_other_statistics


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(RequestError, match="no guideline applies"):
        study(times_in(frame(sizes=[8], ranks=[2]).query("operation == 'bcast'")))


def test_an_unknown_guideline_is_answered_with_the_nearest() -> None:
    with refusing("unknown guideline", "monotone_in_bytes"):
        study(times(), ["monotone_in_byte"])
