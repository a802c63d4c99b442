"""Claims of growth: kept whatever the constants, violated from where times leave them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
from tests.factories import not_none

from hockney.check.cells import LaunchTimes, times_in
from hockney.check.claims import ClaimFinding, judge_claims, parse_claim
from hockney.check.shown import claims_lines
from hockney.errors import RequestError

RANKS = (2, 4, 8, 16, 32, 64, 128)
SIZES = tuple(4**power for power in range(1, 11))
Law = Callable[[int, int], float]


def times(
    law: Law,
    seed: int,
    *,
    noise: float = 0.02,
    shared: float = 0.0,
    ranks: Sequence[int] = RANKS,
    launches: int = 5,
) -> LaunchTimes:
    lot = np.random.default_rng(seed)
    # Another generator, so that the rest is the same without.
    lots = np.random.default_rng([seed, 1]).standard_normal(len(ranks))
    of_count = dict(zip(ranks, np.exp(shared * lots).tolist(), strict=True))
    rows = [
        {
            "system": "s", "mpi": "m", "operation": "bcast", "algorithm": "default", "mapping": "core",
            "nodes": 1, "ppn": count, "ranks": count, "bytes": size, "statistic": "completion",
            "time_s": law(count, size) * of_count[count] * float(np.exp(noise * lot.standard_normal())),
            "repetition": launch,
        }
        for count in ranks
        for size in SIZES
        for launch in range(launches)
    ]  # fmt: skip
    return times_in(pd.DataFrame(rows))


def judged(law: Law, text: str, seed: int = 1) -> list[ClaimFinding]:
    return judge_claims(times(law, seed), [parse_claim(text)])


def violated(findings: Sequence[ClaimFinding]) -> dict[int, int | None]:
    return {finding.bytes: finding.fails_from_ranks for finding in findings if finding.verdict == "violated"}


def circulant(ranks: int, size_B: int) -> float:
    return 2e-6 + 1e-6 * math.log2(ranks) + 1e-9 * size_B


def halves(ranks: int, size_B: int) -> float:
    """A scatter and an allgather: what a byte costs doubles as ranks grow, and no more than that."""
    return 2e-6 * math.log2(ranks) + 2 * (ranks - 1) / ranks * 1e-9 * size_B


def with_protocol(ranks: int, size_B: int) -> float:
    return circulant(ranks, size_B) + (20e-6 if size_B > 8192 else 0.0)


def tree(ranks: int, size_B: int) -> float:
    return (1e-6 + 1e-9 * size_B) * math.log2(ranks)


def linear_from_32(ranks: int, size_B: int) -> float:
    return circulant(ranks, size_B) * (ranks / 16 if ranks >= 32 else 1)


@pytest.mark.parametrize("law", [circulant, halves, with_protocol])
def test_false_alarms_are_rare(law: Law) -> None:
    """A family-wise error of 5 %: of 20 campaigns, 4 alarms would come by chance once in 60 times."""
    assert sum(bool(violated(judged(law, "bcast: S + log P", seed))) for seed in range(20)) <= 3


@pytest.mark.parametrize("shared", [0.03, 0.1])
@pytest.mark.parametrize("law", [circulant, pytest.param(halves, marks=pytest.mark.thorough)])
def test_noise_that_all_sizes_share_is_no_growth(law: Law, shared: float) -> None:
    """As above, where each number of ranks was slower or faster as a whole, as on other nodes."""
    campaigns = [times(law, seed, shared=shared) for seed in range(20)]
    assert sum(bool(violated(judge_claims(each, [parse_claim("bcast: S + log P")]))) for each in campaigns) <= 3


def test_a_tree_fails_where_bytes_count() -> None:
    found = violated(judged(tree, "bcast: S + log P"))
    # At 1 KiB and less the messages of a tree are most of its time; from 64 KiB on, bytes are all of it.
    assert set(found) >= {size for size in SIZES if size >= 65536}
    assert not set(found) & {4, 16, 64}
    assert not violated(judged(tree, "bcast: S log P + log P"))


def test_the_ranks_from_which_a_claim_fails_are_named() -> None:
    findings = judged(linear_from_32, "bcast: S + log P")
    # At 16 ranks every time is as claimed, at 32 it is twice that.
    assert set(violated(findings).values()) == {32}
    assert set(violated(findings)) == set(SIZES)
    at = next(finding for finding in findings if finding.bytes == SIZES[-1])
    assert not_none(at.factor_low) <= 2 <= not_none(at.factor_high)
    assert any("fails from P = 32 on" in line for line in claims_lines(findings))


def test_too_few_ranks_tell_nothing() -> None:
    findings = judge_claims(times(tree, 1, ranks=(2, 4)), [parse_claim("bcast: S + log P")])
    assert {finding.verdict for finding in findings} == {"undecided"}
    assert all(finding.why for finding in findings)


@pytest.mark.parametrize(
    ("text", "says"),
    [("bcast", "no claim"), ("broadcast: S", "unknown collective"), ("bcast: S + Q", "no product"),
     ("bcast: S S", "no product"), ("bcast: ", "no product"), ("a b c: S", "no claim")],
)  # fmt: skip
def test_what_is_no_claim_is_refused(text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        parse_claim(text)


def test_what_was_not_measured_is_refused() -> None:
    measured = times(tree, 1)
    with pytest.raises(RequestError) as refused:
        judge_claims(measured, [parse_claim("bcast binomial: S")])
    assert refused.value.hint == "known: bcast default"


@pytest.mark.parametrize("text", ["bcast: S + log P", "bcast: n+log₂P", "bcast: 1·S + log2(P)"])
def test_a_claim_is_read_in_several_spellings(text: str) -> None:
    assert parse_claim(text).text == "bcast: Θ(S + log P)"
