"""Where the truth is known: SMPI's fat tree, trained on few ranks, asked for twice as many (see the bench)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "simulated_truth"


@pytest.mark.simulated
def test_twice_the_ranks_of_a_fat_tree_are_predicted() -> None:
    words = ["--platforms", "fat_tree", "--operation", "allreduce", "--most-ranks", "64", "--json"]
    done = subprocess.run(
        [sys.executable, str(BENCH), *words], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    assert (row["n_train"], row["n_test"]) == (36, 12)
    # The bar of the whole, from 128 to 1,024 ranks.
    assert row["median"] <= 0.08
