"""Where the truth is known: SMPI's fat tree, trained on few ranks, asked for twice as many (see the bench)."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "simulated_truth"


@pytest.mark.skipif(shutil.which("smpicc") is None, reason="no SimGrid (smpicc)")
def test_twice_the_ranks_of_a_fat_tree_are_predicted() -> None:
    words = ["--platforms", "fat_tree", "--operations", "allreduce", "--most-ranks", "64", "--json"]
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], capture_output=True, text=True, check=False, timeout=300
    )
    # 1 says that the bars of the whole benchmark are missed, which this small part of it is not held to.
    assert done.returncode in (0, 1), done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["n_train"], row["n_test"]) == (36, 12)
    # Half as much again as the bar of the whole, 8 % from 128 to 1,024 ranks: 36 points of at most 32 ranks teach
    # less.
    assert row["median"] <= 0.12
