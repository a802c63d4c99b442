"""Expressions select what pandas' `query` selects; nothing else is evaluated; samples are stable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.errors import RequestError
from hockney.predict.split import select, split

FRAME = pd.DataFrame(
    [
        {"algorithm": algorithm, "mapping": mapping, "ranks": ranks, "bytes": size}
        for algorithm in ("linear", "binary", "default")
        for mapping in ("core", "socket", "node")
        for ranks in (2, 16, 64, 126, 200)
        for size in (1, 1024, 65536)
    ]
)
FRAME["ranks"] = FRAME["ranks"].astype("Int64")


@pytest.mark.parametrize(
    "expression",
    [
        "ranks <= 64 and algorithm == 'binary'",
        "ranks > 64 and (mapping != 'socket' or ranks <= 126)",
        "ranks > 64 & (mapping != 'socket' | ranks <= 126)",
        "ranks > 64 & mapping in ['core', 'node']",
        "2 < ranks <= 64",
        "mapping not in ['core']",
        "not (ranks > 16) and bytes >= 1024",
        "~(ranks > 16)",
        "bytes * ranks / 2 > 1024 + 2 * 3",
        "ranks % 4 == 0 and -ranks < -2",
        "16 < ranks",
        "bytes // 1000 == 1",
    ],
)
def test_as_pandas_query(expression: str) -> None:
    expected = FRAME.index.isin(FRAME.query(expression, engine="python").index)
    assert 0 < expected.sum() < len(FRAME)
    assert select(FRAME, expression).tolist() == expected.tolist()


def test_an_unknown_number_satisfies_no_comparison() -> None:
    frame = pd.DataFrame({"root": pd.array([0, pd.NA], dtype="Int64")})
    assert select(frame, "root == 0").tolist() == [True, False]
    assert select(frame, "root != 0").tolist() == [False, True]
    assert select(frame, "root < 5").tolist() == [True, False]


def test_truth_columns_and_constants_are_conditions() -> None:
    frame = pd.DataFrame({"oversubscribed": [True, False]})
    assert select(frame, "not oversubscribed").tolist() == [False, True]
    assert select(frame, "True").tolist() == [True, True]


@pytest.mark.parametrize(
    ("expression", "word", "hint"),
    [
        ("rnks <= 64", "unknown column 'rnks'", "did you mean 'ranks'"),
        ("mapping == core", "unknown column 'core'", "mapping == 'core'"),
        ("ranks <= 64 and", "cannot be read", ""),
        ("ranks = 64", "write ==", ""),
        ("", "cannot be read", ""),
        ("mapping < 3", "between instances of 'str' and 'int'", ""),
        ("ranks", "not a condition", ""),
        ("ranks and bytes", "cannot be read", ""),
        ("ranks is 3", "cannot be read", ""),
        ("ranks.values", "not allowed", ""),
        ("ranks[0] > 1", "not allowed", ""),
        ("9 ** 9 ** 9 > ranks", "not allowed", ""),
        ("@ranks > 1", "cannot be read", ""),
        ("[x for x in ranks]", "cannot be read", ""),
        ("__import__('os').system('true')", "not allowed", ""),
        ("sample(5)", "fraction between 0 and 1", "sample(0.05"),
        ("sample()", "fraction", ""),
        ("sample(0.5, seed=1.5)", "whole seed", ""),
        ("sample(0.5, 1, 2)", "3 were given", ""),
        ("sample(0.5, sed=1)", "unexpected keyword", ""),
        ("sample(ranks)", "fraction between 0 and 1", ""),
        ("ranks < " + "9" * 5000, "", ""),
        ("not " * 3000 + "True", "", ""),
        ("(" * 400, "", ""),
    ],
)
def test_a_mistake_is_told(expression: str, word: str, hint: str) -> None:
    with pytest.raises(RequestError) as error:
        select(FRAME, expression)
    assert word in error.value.message
    assert hint in error.value.hint
    assert error.value.hint


@given(st.floats(0.01, 0.99), st.integers(0, 2**31))
def test_a_sample_and_its_complement_are_everything(fraction: float, seed: int) -> None:
    chosen = select(FRAME, f"ranks <= 64 and sample({fraction}, seed={seed})")
    rest = select(FRAME, f"not sample({fraction}, seed={seed})")
    beyond = select(FRAME, f"ranks > 64 and sample({fraction}, {seed})")
    assert (chosen.astype(int) + rest + beyond == 1).all()


def test_a_sample_depends_on_the_points_alone() -> None:
    whole = select(FRAME, "sample(0.3)")
    shuffled = FRAME.sample(frac=1, random_state=3)
    assert select(shuffled, "sample(0.3)").tolist() == whole[shuffled.index].tolist()
    assert select(FRAME[:40], "sample(0.3)").tolist() == whole[:40].tolist()
    # A column that says nothing is as good as none.
    assert select(FRAME.assign(root=np.nan, variant=""), "sample(0.3)").tolist() == whole.tolist()


def test_the_seed_changes_a_sample() -> None:
    assert select(FRAME, "sample(0.5)").tolist() == select(FRAME, "sample(0.5, seed=1)").tolist()
    assert select(FRAME, "sample(0.5)", seed=7).tolist() == select(FRAME, "sample(0.5, seed=7)").tolist()
    assert select(FRAME, "sample(0.5, seed=7)").tolist() != select(FRAME, "sample(0.5, seed=1)").tolist()


def test_a_sample_has_the_share_asked_for() -> None:
    frame = pd.DataFrame({"ranks": np.arange(20_000)})
    # Five standard deviations of a binomial share: √(0.05 · 0.95 / 20 000) = 0.0015.
    assert select(frame, "sample(0.05)").mean() == pytest.approx(0.05, abs=0.0077)


def test_what_one_leaves_is_the_other() -> None:
    train, test = split(FRAME, "ranks <= 64", "")
    assert (train == (FRAME["ranks"] <= 64)).all()
    assert (test == ~train).all()
    train, test = split(FRAME, " ", "ranks > 64")
    assert (train == (FRAME["ranks"] <= 64)).all()


@pytest.mark.parametrize(
    ("train", "test", "word", "hint"),
    [
        ("ranks < 1", "", "--train selects none of the 135 points", "ranks: 2 to 200"),
        ("ranks > 1", "", "--test selects none", "ranks: 2 to 200"),
        ("ranks > 64", "mapping == 'sockt'", "--test selects none", "core, node, socket"),
        ("ranks <= 64", "ranks >= 64", "27 points are in both", "leave --test out"),
        ("", "", "neither", "ranks"),
    ],
)
def test_a_split_that_is_none(train: str, test: str, word: str, hint: str) -> None:
    with pytest.raises(RequestError) as error:
        split(FRAME, train, test)
    assert word in error.value.message
    assert hint in error.value.hint
