"""The runner's statistics and stopping rule on synthetic streams, compiled with sanitizers and -Werror."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.capabilities import lacking
from tests.factories import not_none

ROOT = Path(__file__).parents[2]
RUNNER = ROOT / "cpp" / "runner"
SOURCES = [
    Path(__file__).with_name("harness.cpp"),
    RUNNER / "statistics.cpp",
    RUNNER / "json.cpp",
    RUNNER / "stopping.cpp",
]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

Ask = Callable[[str], Any]


def compiler() -> str:
    """The C++ compiler; the test skips where there is none."""
    found = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    if found is None:
        pytest.skip(lacking("a C++ compiler", "neither g++ nor c++ is on the PATH"))
    return found


def compiled(folder: Path, options: Sequence[str]) -> Path:
    """The harness, made with these options."""
    program = folder / "harness"
    command = [compiler(), "-std=c++17", *options, *WARNINGS, f"-I{RUNNER}", *map(str, SOURCES)]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    program = compiled(tmp_path_factory.mktemp("cpp"), ["-O1", "-g", *SANITIZERS])
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        stdin, stdout = not_none(process.stdin), not_none(process.stdout)

        def send(line: str) -> Any:
            stdin.write(line + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield send
        stdin.close()
        assert process.wait(10) == 0, "the sanitizers found something"


def summarise(ask: Ask, values: Sequence[float], preempted: Sequence[bool] = ()) -> dict[str, Any]:
    flags = preempted or [False] * len(values)
    words = [f"{value:.9g}:{int(flag)}" for value, flag in zip(values, flags, strict=True)]
    result: dict[str, Any] = ask("summarise " + " ".join(words))
    return result


def test_median_and_interval_of_a_known_stream(ask: Ask) -> None:
    # 1 … 99 shuffled: median 50; ranks ⌊(99 − 2.05·√99)/2⌋ = 39 and ⌈1 + (99 + 2.05·√99)/2⌉ = 61 (Le Boudec).
    values = np.random.default_rng(3).permutation(np.arange(1.0, 100.0))
    result = summarise(ask, values.tolist())
    assert result["median_s"] == 50
    # Neighbours of a shuffled stream are all but uncorrelated, but its nine batches do not say so: Student's t of
    # 8 degrees and the correlation that may hide behind 99 samples widen by a few ranks.
    assert 32 <= result["low_s"] <= 39
    assert 61 <= result["high_s"] <= 68
    assert result["used"] == 99


@given(st.lists(st.floats(1.0, 1000.0), min_size=1, max_size=300), st.integers(0, 2**32))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_properties_of_any_stream(ask: Ask, values: list[float], seed: int) -> None:
    flags = (np.random.default_rng(seed).random(len(values)) < 0.1).tolist()
    result = summarise(ask, values, flags)
    assert min(values) * (1 - 1e-6) - 1e-6 <= result["low_s"] <= result["median_s"] <= result["high_s"]
    assert result["high_s"] <= max(values) * (1 + 1e-6) + 1e-6
    assert result["used"] + len(result["disturbed"]) == len(values)
    assert result["used"] * 4 >= len(values), "at least a quarter always remains"
    assert result["quantiles_s"] == sorted(result["quantiles_s"])


@pytest.mark.parametrize("n", [10, 30, 200])
def test_interval_covers_the_true_median(ask: Ask, n: int) -> None:
    # A skewed distribution like real timings: 1 + exponential tail; true median 1 + 0.1·ln 2.
    rng = np.random.default_rng(n)
    true = 1 + 0.1 * np.log(2)
    trials = 400
    covered = 0
    for _ in range(trials):
        result = summarise(ask, (1 + 0.1 * rng.exponential(size=n)).tolist())
        covered += result["low_s"] <= true <= result["high_s"]
    # 95 % less three standard deviations of 400 trials (1.1 % each).
    assert covered / trials > 0.95 - 0.033


def test_interval_widens_for_correlated_samples(ask: Ask) -> None:
    rng = np.random.default_rng(5)
    n, trials, covered = 300, 200, 0
    for _ in range(trials):
        noise = np.empty(n)
        noise[0] = rng.normal()
        for i in range(1, n):
            noise[i] = 0.7 * noise[i - 1] + rng.normal() * np.sqrt(1 - 0.49)
        result = summarise(ask, (100 + noise).tolist())
        covered += result["low_s"] <= 100 <= result["high_s"]
    # Without the correction for correlation the coverage is about 60 %; it is approximate, hence 85 %.
    assert covered / trials > 0.85


def test_preempted_samples_are_set_aside(ask: Ask) -> None:
    rng = np.random.default_rng(1)
    values = 10 + 0.1 * rng.random(100)
    flags = np.zeros(100, bool)
    flags[[5, 50, 77]] = True
    values[flags] *= 100
    result = summarise(ask, values.tolist(), flags.tolist())
    assert set(result["disturbed"]) >= {5, 50, 77}
    assert result["high_s"] < 10.2


def test_samples_that_fall_after_a_preemption_are_set_aside(ask: Ask) -> None:
    # A busy neighbour takes the core for every seventh sample and leaves cold caches to the three after it.
    rng = np.random.default_rng(6)
    flags = np.arange(210) % 7 == 0
    values = 10 * (1 + 0.005 * rng.normal(size=210)) * np.tile([100, 1.5, 1.3, 1.15, 1, 1, 1], 30)
    result = summarise(ask, values.tolist(), flags.tolist())
    # 90 samples stand at 10, with a standard error of their median below 0.1 %; with the others it would be 10.8.
    assert result["median_s"] == pytest.approx(10, rel=0.003)
    assert set(np.flatnonzero(np.arange(210) % 7 < 4)) == set(result["disturbed"])


@pytest.mark.parametrize(("share", "noise"), [(0.05, 0.05), (0.3, 0.2)])
def test_noise_after_a_preemption_does_not_move_the_median(ask: Ask, share: float, noise: float) -> None:
    rng = np.random.default_rng(7)
    trials, errors, lost = 1000, [], 0
    for _ in range(trials):
        # Too few for stretches.
        values, flags = 10 * (1 + noise * rng.normal(size=60)), rng.random(60) < share
        result = summarise(ask, values.tolist(), flags.tolist())
        errors.append(result["median_s"] - np.median(values[~flags]))
        lost += len(result["disturbed"]) - int(flags.sum())
    # By chance every twentieth stream seems cold, and loses up to half of the samples after a preempted one.
    assert lost / (trials * 60) < 0.05 * share
    # Without asking whether they are cold, a third of those after a preempted one would go, the longest ones.
    assert abs(np.mean(errors)) < 0.02 * 10 * noise


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_a_busy_stretch_does_not_move_the_median(ask: Ask, share: float) -> None:
    rng = np.random.default_rng(2)
    n = 400
    values = 10 * (1 + 0.01 * rng.normal(size=n))
    stretch = slice(100, 100 + int(share * n))
    values[stretch] *= 1.3
    result = summarise(ask, values.tolist())
    # The undisturbed level is 10, with a standard error below 0.1 %; the windows of 8 on both edges may be mixed.
    assert result["median_s"] == pytest.approx(10, rel=0.005)
    assert len(result["disturbed"]) >= share * n - 2 * 8


def test_a_small_rise_that_lasts_is_recognised_as_a_stretch(ask: Ask) -> None:
    # 8 % above the level is within the reach of some single samples: the median of a whole window tells it apart.
    rng = np.random.default_rng(8)
    values = 10 * (1 + 0.01 * rng.normal(size=400))
    values[160:] *= 1.08
    result = summarise(ask, values.tolist())
    assert result["median_s"] == pytest.approx(10, rel=0.005)
    assert len(result["disturbed"]) >= 0.9 * 240


def test_quiet_streams_lose_almost_nothing(ask: Ask) -> None:
    rng = np.random.default_rng(4)
    set_aside = 0
    for _ in range(50):
        values = 10 * (1 + 0.01 * rng.normal(size=200))
        set_aside += len(summarise(ask, values.tolist())["disturbed"])
    # Nothing was disturbed; 1 % false alarms is the most that leaves the median where it is.
    assert set_aside / (50 * 200) < 0.01


def test_everything_preempted_is_still_a_result(ask: Ask) -> None:
    result = summarise(ask, [2.0] * 40, [True] * 40)
    assert result["median_s"] == 2
    assert result["used"] == 40
    assert result["disturbed_but_counted"] == 40


@pytest.mark.parametrize(("preempted", "counted"), [(31, 31), (30, 0), (0, 0)])
def test_disturbed_samples_that_count_are_told(ask: Ask, preempted: int, counted: int) -> None:
    """Of 40, at least ten must remain for the others to be set aside."""
    result = summarise(ask, [2.0] * 40, [True] * preempted + [False] * (40 - preempted))
    assert result["disturbed_but_counted"] == counted
    assert len(result["disturbed"]) == (0 if counted else preempted)


NEVER = 1000000


def stop(
    ask: Ask,
    samples: Sequence[float],
    *,
    tolerance: float = 0.0,
    least: int = 30,
    least_s: float = 0.0,
    budget_s: float = NEVER,
    most: int = NEVER,
) -> dict[str, Any]:
    """What stopped samples of a millisecond each, and after how many; six at least before the budget does."""
    words = " ".join(f"{value:.9g}" for value in samples)
    result: dict[str, Any] = ask(f"stop {tolerance} {least} {least_s} {budget_s} 6 {most} 0.001 {words}")
    return result


def test_interval_stops_when_narrow_and_not_before(ask: Ask) -> None:
    rng = np.random.default_rng(6)
    quiet = (10 * (1 + 0.001 * rng.normal(size=500))).tolist()
    noisy = (10 * (1 + 0.3 * rng.random(size=500))).tolist()
    # Two looks in a row, the second a quarter later, at forty independent samples or more.
    assert stop(ask, quiet, tolerance=0.01)["name"] == "interval"
    assert 48 <= stop(ask, quiet, tolerance=0.01)["after"] <= 80
    # Half-width of the 99 % interval of the median ≈ 1.29·√n ranks of a uniform spread of 30 %: n ≈ 1400 for 1 %.
    assert stop(ask, noisy, tolerance=0.01)["after"] == -1
    # 60 ms at 1 ms a sample.
    assert stop(ask, quiet, tolerance=0.01, least_s=0.06)["after"] >= 60


def test_equal_times_of_a_clock_that_has_come_far_stop(ask: Ask) -> None:
    """A simulated clock at 100 s tells 10 ms apart to 1e-14 s; a fourteenth digit is no spread."""
    stream = [0.01 * (1 + 1e-8 * (i % 3)) for i in range(100)]
    assert stop(ask, stream, tolerance=0.01) == {"name": "interval", "after": 30}
    assert stop(ask, [0.01 * (1 + 1e-4 * (i % 3)) for i in range(40)], tolerance=0.01)["after"] == -1


def test_budget_and_count_stop(ask: Ask) -> None:
    stream = [1.0] * 100
    assert stop(ask, stream, budget_s=0.05) == {"name": "budget", "after": 50}
    assert stop(ask, stream, budget_s=0.001)["after"] == 6, "never fewer than the least"
    assert stop(ask, stream, most=40) == {"name": "count", "after": 40}


def test_whatever_is_reached_first_stops(ask: Ask) -> None:
    stream = [1.0] * 100
    # Equal samples have an interval without width: it is narrow enough with the thirtieth.
    assert stop(ask, stream, tolerance=0.1, budget_s=0.05, most=40) == {"name": "interval", "after": 30}
    assert stop(ask, stream, tolerance=0.1, budget_s=0.02, most=40) == {"name": "budget", "after": 20}
    assert stop(ask, stream, tolerance=0.1, budget_s=0.05, most=10) == {"name": "count", "after": 10}
