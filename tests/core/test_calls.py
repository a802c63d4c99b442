"""No argument from Python makes the extension crash, take memory without end or, under sanitizers, err."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.processes import captured

ROOT = Path(__file__).parents[2]
SANITIZED = ROOT / "build" / "sanitized"
"""Where `make sanitize` builds the extension with sanitizers."""
MOST_B = 3 * 2**30
"""Address space of a process that must not take much memory: Python, numpy and the largest calls take half."""


def call(*words: str, preloaded: str = "") -> subprocess.CompletedProcess[str]:
    """Calls in a process of their own, which a fault ends."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "LD_PRELOAD": preloaded}
    if preloaded:
        # Python and numpy keep memory until they end, and do not mean to free it. A request for 4 GiB at once, or
        # 6 GiB in all, is one that some check should have refused.
        environment["ASAN_OPTIONS"] = "detect_leaks=0:max_allocation_size_mb=4096:hard_rss_limit_mb=6144"
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"

    def limit() -> None:
        # Sanitizers reserve terabytes for themselves.
        if not preloaded:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_B, MOST_B))

    command = [sys.executable, "-X", "faulthandler", "-m", "tests.core.calls", *words]
    return captured(command, cwd=ROOT, env=environment, preexec_fn=limit)


def test_hostile_arguments_are_refused_in_words() -> None:
    done = call("--accepted", "100")
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.skipif(
    not os.environ.get("HOCKNEY_SANITIZE"),
    reason=lacking("sanitizers of the extension", "HOCKNEY_SANITIZE is not set (make sanitize)"),
)
def test_sanitizers_find_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    (core,) = SANITIZED.glob("_core*.so")
    needed = captured(["ldd", core], check=True).stdout
    # Python has neither, and they must come before all else.
    libraries = re.findall(r"=> (\S*/(?:libasan|libstdc\+\+)\.so\S*)", needed)
    done = call("--accepted", "20000", "--core", str(core), preloaded=" ".join(libraries))
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode == 0, done.stderr[-8000:]
