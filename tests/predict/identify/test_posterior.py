"""Times made by a planted decision table and noise: its switches come back, and from noise alone nothing does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import draws

from hockney.predict.identify import posterior as posterior_module
from hockney.predict.identify.chains import ChainCell, _both_ways, _changes, _counted, _told
from hockney.predict.identify.naming import SURE, alike, names
from hockney.predict.identify.posterior import (
    FIRST,
    PIECES,
    STRANGE,
    STRANGE_DEVIATION,
    SWITCH,
    Evidence,
    Run,
    posterior,
    rank_weights,
)

SIZES = 21
ALL_B = [2**power for power in range(SIZES)]
NOISE = 0.05


def laws(candidates: int) -> np.ndarray:
    """ln times of candidates at sizes that double: latencies grow with their number, bandwidths fall with it, so
    that each pair crosses once and is apart by 20 % or more in most places."""
    size_B = 2.0 ** np.arange(SIZES)
    return np.array([np.log(1e-6 * 1.5**k + size_B * 1e-9 * 1.5**-k) for k in range(candidates)]).T


def evidence(ln_s: np.ndarray, measured_ln: np.ndarray, model: float, noise: float = NOISE) -> Evidence:
    missed = measured_ln[:, None] - ln_s
    return Evidence(missed, np.full(missed.shape, model), np.full(missed.shape, noise))


def told(*series: Evidence, size_B: list[int] = ALL_B) -> np.ndarray:
    """Probabilities of the states of one number of ranks, shape (sizes, candidates + 1)."""
    (share,) = posterior([Run(8, size_B, series)]).shares
    return share


def test_planted_switches_come_back() -> None:
    """Counted over many tables: in one of them noise may well move a switch by two sizes."""
    generator, ln_s = np.random.default_rng(1), laws(4)
    right, answered = [], []
    tables = draws(300)
    for _ in range(tables):
        before, after = generator.permutation(4)[:2]
        truth = np.where(np.arange(SIZES) < generator.integers(4, SIZES - 4), before, after)
        measured = ln_s[np.arange(SIZES), truth] + generator.normal(0, NOISE, SIZES)
        share = told(evidence(ln_s, measured, 0.0))
        # Where two candidates are within four deviations of noise of each other, either may be named.
        far = np.abs(ln_s[:, before] - ln_s[:, after]) > 4 * NOISE
        right += list((share.argmax(axis=1) == truth)[far])
        sets = [names(row, np.eye(4, dtype=np.bool_)) for row in share]
        answered += [[truth[i]] in called for i, called in enumerate(sets) if called is not None]
    # One time alone takes the wrong one of two four deviations apart with 2.3 %; its neighbours only help.
    assert np.mean(right) >= 0.977
    # Sets are made to hold the truth with 95 %.
    assert np.mean(answered) >= 0.95
    assert len(answered) >= 0.9 * tables * SIZES


@settings(max_examples=40)
@given(truth=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_an_error_that_all_sizes_share_is_no_switch(truth: int, seed: int) -> None:
    """A simulator that is wrong by up to 20 % about its candidate is so at all sizes."""
    ln_s, generator = laws(4), np.random.default_rng(seed)
    measured = ln_s[:, truth] + generator.uniform(-0.2, 0.2) + generator.normal(0, 0.02, SIZES)
    path = told(evidence(ln_s, measured, 0.2, 0.02)).argmax(axis=1)
    assert np.count_nonzero(np.diff(path)) <= 1


def test_an_error_that_hardly_changes_is_likelier_than_one_that_does() -> None:
    """One candidate is off by 25 % at all sizes, the other by as much at most, up and down: the first one ran."""
    truth = laws(1)[:, 0]
    wave = 0.25 * np.sin(np.arange(SIZES) * np.pi / 3)
    ln_s = np.stack([truth, truth + 0.25 + wave], axis=1)
    share = told(evidence(ln_s, truth + 0.25, 0.25, 0.02))
    assert share[:, 0].min() > 0.9


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_from_noise_alone_nothing_can_be_told(seed: int) -> None:
    """Candidates that all are as far off as the simulator usually is: five names remain, which is no answer."""
    generator = np.random.default_rng(seed)
    ln_s = generator.normal(0, 0.1, (1, 5)) + np.zeros((SIZES, 5))
    measured = generator.normal(0, 0.3, SIZES)
    share = told(evidence(ln_s, measured, 0.3, 0.3))
    assert np.mean([names(row, np.eye(5, dtype=np.bool_)) is not None for row in share]) <= 0.2


def test_an_algorithm_that_is_none_of_the_candidates_is_not_named() -> None:
    ln_s = laws(3)
    measured = ln_s.max(axis=1) + STRANGE_DEVIATION
    share = told(evidence(ln_s, measured, 0.05))
    assert [names(row, np.eye(3, dtype=np.bool_)) for row in share] == [None] * SIZES


@pytest.mark.parametrize(("slower", "is_named"), [(2.0, True), (40.0, False)])
def test_a_shape_alone_names_no_candidate_that_is_far_too_slow(slower: float, is_named: bool) -> None:
    """A network may double all times; no error of a simulation makes them forty times as long."""
    ln_s = laws(3)
    measured = ln_s[:, 1] + np.log(slower)
    share = told(replace(evidence(ln_s, measured, 0.25), ln_s=measured, is_rough=True))
    assert (share[:, -1].max() < 0.5) == is_named
    assert (share[:, 1].min() > 0.3) == is_named


def test_a_candidate_that_cannot_run_is_not_named() -> None:
    ln_s = laws(3)
    measured = ln_s[:, 1].copy()
    ln_s[5:, 1] = np.nan
    share = told(evidence(ln_s, measured, 0.1))
    assert share[5:, 1] == pytest.approx(0.0)
    assert share[0, 1] > share[5:, 1].max()


def test_a_single_size_has_a_posterior() -> None:
    ln_s = laws(3)[:1]
    share = told(evidence(ln_s, ln_s[:, 2], 0.0), size_B=[8])
    assert share.shape == (1, 4)
    assert share.sum() == pytest.approx(1.0)
    assert share.argmax() == 2


def test_a_series_without_a_time_says_nothing() -> None:
    ln_s = laws(3)
    whole = evidence(ln_s, ln_s[:, 1], 0.1)
    empty = Evidence(np.full(ln_s.shape, np.nan), whole.model, whole.noise)
    assert told(whole, empty) == pytest.approx(told(whole))


def test_what_two_ranks_ran_is_told_together_and_a_switch_between_ranks_is_seen() -> None:
    """One run is so noisy that alone it says little; those beside it ran the same. Others, far away, did not."""
    ln_s, generator = laws(3), np.random.default_rng(2)
    runs = []
    for ranks in (34, 38, 42, 46, 130, 138, 146, 154):
        noise = 0.5 if ranks == 42 else NOISE
        measured = ln_s[:, 0 if ranks < 64 else 2] + generator.normal(0, noise, SIZES)
        runs.append(Run(ranks, ALL_B, [evidence(ln_s, measured, 0.05, noise)]))
    shares = posterior(runs).shares
    for run, share in zip(runs, shares, strict=True):
        assert share[:, 0 if run.ranks < 64 else 2].mean() > 0.9
    (alone,) = posterior(runs[2:3]).shares
    assert alone[:, 0].mean() < shares[2][:, 0].mean()


def test_runs_need_not_have_the_same_sizes() -> None:
    ln_s = laws(3)
    whole = Run(8, ALL_B, [evidence(ln_s, ln_s[:, 1], 0.1)])
    every_third = Run(10, ALL_B[::3], [evidence(ln_s[::3], ln_s[::3, 1], 0.1)])
    shares = posterior([whole, every_third]).shares
    assert [share.shape[0] for share in shares] == [SIZES, 7]
    assert all((share.argmax(axis=1) == 1).all() for share in shares)


def test_pairs_of_states_are_those_of_all_paths_written_out() -> None:
    """Three sizes and two candidates have 27 paths, each with its probability; a run may lack the middle size."""
    generator = np.random.default_rng(4)
    errors = generator.normal(0, 0.2, (3, 2))
    run = Run(8, [1, 2, 4], [Evidence(errors, np.full((3, 2), 0.2), np.full((3, 2), NOISE))])
    enter, stay = run.pieces.sum(axis=0)
    arrives = np.log([(1 - STRANGE) / 2, (1 - STRANGE) / 2, STRANGE]) + enter
    weight = np.zeros((3, 3, 3))
    for path in np.ndindex(weight.shape):
        total = np.exp(arrives[0, path[0]])
        for at in (1, 2):
            stays = (1 - SWITCH) * np.exp(stay[at, path[at]]) * (path[at] == path[at - 1])
            total *= stays + SWITCH * np.exp(arrives[at, path[at]])
        weight[path] = total
    weight /= weight.sum()
    made = posterior([run])
    assert made.joints[0] == pytest.approx(np.stack([weight.sum(axis=2), weight.sum(axis=0)]))
    assert made.shares[0] == pytest.approx(
        np.stack([weight.sum(axis=(1, 2)), weight.sum(axis=(0, 2)), weight.sum(axis=(0, 1))])
    )
    assert posterior_module._between(made.joints[0], np.array([0, 2]))[0] == pytest.approx(weight.sum(axis=1))


def test_a_switch_from_what_cannot_be_told_is_seen() -> None:
    """Which of three ran at the first size is open; that another one runs at the second is not."""
    simulated_s = np.array([[1.0, 1.0, 2.0, 3.0]])
    same = alike(simulated_s, np.log(simulated_s), np.full((1, 4), 0.1))
    cells = [ChainCell(8, size_B, np.zeros(5), None, 0, simulated_s, same) for size_B in (1, 2)]
    joint = np.zeros((1, 5, 5))
    joint[0, [0, 2, 3], 4], joint[0, 0, 1] = (0.1, 0.15, 0.3), 0.45
    (change,) = _changes(cells, joint)
    # From the first candidate to the second the name stays.
    assert (change.at, change.before, change.after) == (1, 3, 4)
    assert change.share == pytest.approx(0.55)
    joint[0, 3, 4], joint[0, 0, 0] = 0.2, 0.1
    assert _changes(cells, joint) == []


def test_runs_on_other_nodes_are_told_together_unless_they_ran_another_decision() -> None:
    """On one node nothing tells two candidates apart; on two nodes times do."""
    ln_s = laws(3)
    like = ln_s.copy()
    like[:, 2] = ln_s[:, 1] + 0.01
    here = [Run(ranks, ALL_B, [evidence(like, like[:, 1], 0.05)]) for ranks in (8, 16)]
    for ran, is_same in ((1, True), (0, False)):
        there = [Run(ranks, ALL_B, [evidence(ln_s, ln_s[:, ran], 0.05)]) for ranks in (8, 16)]
        shares = [share for share, _ in _told([here, there])]
        assert all(share[:, ran].min() > 0.9 for share in shares[2:])
        # Alone both remain; what ran on two nodes decides only where one decision can explain both.
        assert (shares[0][:, 1].mean() > 0.8) == is_same
        assert shares[0][:, 0].max() < 0.1


def on_two_nodes(layout: tuple[range, range], ran: tuple[int, int], scale: float = 1.0) -> list[list[Run]]:
    """Runs on one node and on two, and which of three candidates ran there; all that is in ln times `scale`."""
    ln_s, generator = laws(3), np.random.default_rng(3)
    return [
        [
            Run(
                ranks,
                ALL_B,
                [
                    evidence(
                        ln_s * scale,
                        (ln_s[:, state] + generator.normal(0, NOISE, SIZES)) * scale,
                        0.05 * scale,
                        NOISE * scale,
                    )
                ],
            )
            for ranks in part
        ]
        for part, state in zip(layout, ran, strict=True)
    ]


def ln_odds(on_nodes: list[list[Run]]) -> float:
    """Of one decision for all nodes against one for each."""
    together, apart = _both_ways(on_nodes, np.ones((sum(map(len, on_nodes)), PIECES)))
    return together.evidence - sum(one.evidence for one in apart)


UNEQUAL = [
    (range(8, 49, 8), range(56, 97, 8)),
    (range(8, 49, 8), range(8, 97, 8)),
    (range(8, 9), range(10, 31, 2)),
]


@pytest.mark.parametrize("layout", UNEQUAL)
def test_one_decision_for_all_nodes_is_judged_by_ratios_alone(
    layout: tuple[range, range], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In which unit errors are counted says nothing: densities of the same times have the same powers."""
    odds = ln_odds(on_two_nodes(layout, (1, 1)))
    for scale in (10.0, 0.1):
        monkeypatch.setattr(posterior_module, "STRANGE_DEVIATION", STRANGE_DEVIATION * scale)
        assert ln_odds(on_two_nodes(layout, (1, 1), scale)) == pytest.approx(odds, abs=1e-6)


@pytest.mark.parametrize("layout", UNEQUAL)
def test_one_decision_for_all_nodes_is_judged_rightly_whatever_their_ranks(
    layout: tuple[range, range],
) -> None:
    assert ln_odds(on_two_nodes(layout, (1, 1))) > 0
    assert ln_odds(on_two_nodes(layout, (0, 2))) < 0


def test_close_ranks_count_as_many_as_half_doublings_hold() -> None:
    """From 32 to 64 are two half doublings with three ends: all ranks between count as much as three."""
    assert rank_weights([32, 64, 128]) == {32: 1.0, 64: 1.0, 128: 1.0}
    assert sum(rank_weights(range(32, 65)).values()) == pytest.approx(3.0)
    assert rank_weights([8]) == {8: 1.0}


def test_the_first_rank_counts_beside_the_others_and_the_last_for_its_share() -> None:
    """Two candidates whose last ranks are done alike: when the first one is tells them apart."""
    ln_s = np.zeros((SIZES, 2))
    late = evidence(ln_s, ln_s[:, 0], 0.1)
    first = evidence(np.array([[0.0, 0.3]]) + ln_s, ln_s[:, 0], 0.1)
    assert told(late)[:, 0] == pytest.approx(told(late)[:, 1])
    assert told(late, late) == pytest.approx(told(late))
    assert told(late, Evidence(first.missed, first.model, first.noise, FIRST))[:, 0].min() > 0.9


def contradicting(first: int, others: int) -> list[list[Run]]:
    """One number of ranks; when its first rank is done fits one of two candidates, when the others are the same
    one or the other."""
    ln_s = np.zeros((SIZES, 2)) + np.array([0.0, 0.3])
    mean = evidence(ln_s, ln_s[:, others], 0.05)
    early = evidence(ln_s, ln_s[:, first] + 0.04, 0.05)
    return [[Run(8, ALL_B, [mean, replace(early, statistic=FIRST)])]]


def test_what_one_kind_of_time_contradicts_is_not_certain() -> None:
    """All evidence together is certain of the candidate that fits a little more closely; its pieces are not."""
    runs = contradicting(first=0, others=1)
    ((whole, _),) = _counted(runs, np.ones((1, PIECES)))
    assert whole.max(axis=1).min() > SURE
    ((share, _),) = _told(runs)
    # Each of two pieces counts for more than the other as often as not: both remain, and nothing else.
    assert share[:, :2].min() > 1 - SURE
    assert share[:, :2].sum(axis=1).min() > SURE


def test_what_all_kinds_of_times_say_stays_certain() -> None:
    ((share, _),) = _told(contradicting(first=1, others=1))
    assert share[:, 1].min() > SURE


def test_that_another_one_runs_is_told_by_all_times() -> None:
    runs = contradicting(first=0, others=1)
    ((_, joint),) = _told(runs)
    ((_, whole),) = _counted(runs, np.ones((1, PIECES)))
    assert joint == pytest.approx(whole)


def test_alike_are_those_within_three_per_cent_in_every_series() -> None:
    simulated_s = np.array([[1.0, 1.02, 1.5, np.nan], [2.0, 2.02, 2.0, np.nan]])
    same = alike(simulated_s, np.log(simulated_s), np.full((2, 4), 0.1))
    assert same.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, False, False, True],
    ]


def test_without_a_schedule_measured_times_within_three_per_cent_are_alike() -> None:
    simulated_s = np.array([[1.0, np.nan, np.nan, np.nan]])
    same = alike(simulated_s, np.log([[1.0, 1.02, 1.06, np.nan]]), np.full((1, 4), 0.1))
    # 1.06 is as near to 1.0 as noise reaches, but not within 3 %; nothing is known of the last.
    assert same.tolist() == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, False],
        [False, False, False, True],
    ]


def test_what_measured_times_tell_apart_is_not_alike() -> None:
    simulated_s = np.full((1, 3), 1.0)
    same = alike(simulated_s, np.log([[1.0, 1.5, 1.1]]), np.full((1, 3), 0.07))
    # ln 1.5 is beyond 2 · 0.07 · √2, ln 1.1 is not.
    assert same.tolist() == [[True, False, True], [False, True, False], [True, False, True]]


def test_names_are_the_fewest_that_reach_95_per_cent() -> None:
    nobody = np.eye(5, dtype=np.bool_)
    assert names(np.array([0.5, 0.46, 0.02, 0.01, 0.0, 0.01]), nobody) == [[0], [1]]
    assert names(np.array([0.3, 0.25, 0.2, 0.2, 0.05, 0.0]), nobody) is None
    # What nobody can tell apart is one name.
    pairs = np.eye(5, dtype=np.bool_)
    pairs[0, 1] = pairs[1, 0] = pairs[2, 3] = pairs[3, 2] = True
    assert names(np.array([0.3, 0.25, 0.2, 0.2, 0.05, 0.0]), pairs) == [[0, 1], [2, 3]]


def test_names_are_none_where_it_is_likely_none_of_them() -> None:
    assert names(np.array([0.5, 0.1, 0.4]), np.eye(2, dtype=np.bool_)) is None
