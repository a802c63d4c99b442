"""What is told of a launch that ended while it was talked to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hockney.runner.session import LaunchFailed, Session


def test_of_a_rank_that_crashed_the_signal_is_named(tmp_path: Path) -> None:
    """Open MPI prints a heading first, then which signal it was."""
    program = tmp_path / "launcher.py"
    lines = ["*** Process received signal ***", "Signal: Segmentation fault (11)", "Signal code:  (128)"]
    said = "".join(f"[n1:18614] {line}\n" for line in lines)
    program.write_text(f"import sys\nsys.stderr.write({said!r})\nsys.exit(143)\n", encoding="utf-8")
    with pytest.raises(
        LaunchFailed, match=r"exit code 143\) .*: \[n1:18614\] Signal: Segmentation fault \(11\)$"
    ):
        Session([sys.executable, "-S", str(program)], {}, 20.0)
