"""`make demo` with a `hockney` that only writes down what it is asked: what ends the demo, and what does not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
VERBS = ["fit", "predict", "report", "evaluate"]


def demo(folder: Path, measure_exits: int, records: str, fit_exits: int = 0) -> tuple[int, list[str]]:
    """Make's exit code, and the verbs that were called."""
    program = folder / "bin" / "hockney"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/sh
echo "$1" >> asked
case "$1" in
measure) mkdir -p demo && printf '%s' '{records}' > demo/records.jsonl && exit {measure_exits} ;;
fit) exit {fit_exits} ;;
esac
"""
    )
    program.chmod(0o755)
    words = ["make", "-f", str(MAKEFILE), "-o", ".venv/.ready", "BIN=bin", "demo"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, (folder / "asked").read_text().split()


@pytest.mark.parametrize("measure_exits", [0, 4])
def test_points_that_are_missing_do_not_end_the_demo(tmp_path: Path, measure_exits: int) -> None:
    assert demo(tmp_path, measure_exits, "{}") == (0, ["measure", *VERBS])


@pytest.mark.parametrize(("measure_exits", "records"), [(4, ""), (3, "{}"), (2, ""), (70, "{}")])
def test_without_anything_measured_or_with_another_failure_it_ends(
    tmp_path: Path, measure_exits: int, records: str
) -> None:
    code, asked = demo(tmp_path, measure_exits, records)
    assert code != 0
    assert asked == ["measure"]


def test_a_fit_that_fails_ends_it(tmp_path: Path) -> None:
    code, asked = demo(tmp_path, 0, "{}", fit_exits=2)
    assert (code != 0, asked) == (True, ["measure", "fit"])
