"""Ranks that share cores: what a probe changes of a study's plan and of its estimate."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.command_line import outcome

from hockney.errors import RequestError
from hockney.runner.inventory import inventory
from hockney.runner.mpi import Mpi
from hockney.runner.session import LaunchFailed
from hockney.studies import crowding
from hockney.studies.crowding import Crowding, probed
from hockney.studies.files import find
from hockney.studies.steps import Asked, Step, first_pass_s, steps

NEVER_YIELDS = {3: 0.3, 4: 0.5, 6: 1.0, 8: 1.8}
YIELDS = dict.fromkeys(NEVER_YIELDS, 0.05)


def planned(name: str, visit_s: dict[int, float] | None) -> list[Step]:
    of_probe = None if visit_s is None else Crowding(ranks=8, cores=2, start_s=0.5, visit_s=visit_s)
    asked = Asked(name=name, quick=True, ranks=8, placements=["core"], crowding=of_probe)
    return steps(find(name), asked, Path("s"))


def test_fewer_ranks_than_were_probed_wait_as_long_as_the_next_number_and_those_with_a_core_do_not() -> None:
    found = Crowding(ranks=8, cores=2, start_s=0.5, visit_s=NEVER_YIELDS)
    assert [found.least_s(ranks) for ranks in (2, 3, 5, 8)] == [0.0, 0.3, 1.0, 1.8]


def test_where_a_library_never_yields_fewer_points_are_planned_and_every_algorithm() -> None:
    usual, crowded = planned("collectives", None)[1], planned("collectives", NEVER_YIELDS)[1]
    assert crowded.command.endswith(" --quick --visits 1 --rank-counts 2,8")
    assert usual.plan is not None
    assert crowded.plan is not None
    assert crowded.plan.algorithms == usual.plan.algorithms
    assert (crowded.plan.rank_counts, crowded.plan.sizes_B) == ([2, 8], [2, 2**20])
    of_probe = crowded.crowding
    # A fifth of the points takes a quarter of the time; that is more than the minute of the file.
    needed_s = first_pass_s(crowded.plan, of_probe)
    assert 60 < needed_s < first_pass_s(usual.plan, of_probe) / 3
    assert crowded.plan.time_s == pytest.approx(1.2 * needed_s, abs=1)
    assert crowded.estimate_s > 1.2 * needed_s


def test_where_it_yields_the_plan_stays() -> None:
    assert [step.command for step in planned("collectives", YIELDS)] == [
        step.command for step in planned("collectives", None)
    ]


def test_runs_of_applications_that_wait_are_estimated_longer() -> None:
    slow = dict.fromkeys(NEVER_YIELDS, 12.0)
    # Sixteen runs of at least a third of 12 s.
    assert planned("ring", slow)[1].estimate_s > 16 * 4
    assert planned("ring", YIELDS)[1].estimate_s == planned("ring", None)[1].estimate_s


class Answering:
    """A launch whose broadcasts take as long as a table says; None: they never end."""

    def __init__(self, visit_s: dict[int, float | None], clock: SimpleNamespace) -> None:
        self._visit_s, self._clock = visit_s, clock

    def collective(self, _limit_s: float, **request: Any) -> None:
        took_s = self._visit_s[request["ranks"]]
        if took_s is None:
            raise LaunchFailed("no answer", "")
        self._clock.now_s += took_s


@pytest.mark.parametrize(("last_s", "fits"), [(40.0, 6), (None, 6)])
def test_ranks_that_wait_too_long_are_refused_with_the_number_that_fits(
    last_s: float | None, fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now_s=0.0)
    monkeypatch.setattr(crowding, "inventory", lambda: SimpleNamespace(cores=2, cpus=2))
    monkeypatch.setattr(crowding, "launches", lambda _: [SimpleNamespace(argv=[], environment={})])
    monkeypatch.setattr(time, "monotonic", lambda: clock.now_s)
    answering = Answering({**NEVER_YIELDS, 8: last_s}, clock)
    monkeypatch.setattr(crowding, "Session", lambda *_: nullcontext(answering))
    with pytest.raises(RequestError) as caught:
        probed({"ranks": 8})
    assert f"--ranks {fits} fits" in caught.value.hint


@pytest.mark.one_mpi
def test_a_study_on_shared_cores_says_so_before_and_first_of_its_answers(mpi: Mpi, tmp_path: Path) -> None:
    study = tmp_path / "few.toml"
    study.write_text(
        'question = "?"\ncompares = "-"\nshows = "-"\nneeds = ["bcast"]\n'
        '[[steps]]\nverb = "measure"\noptions = { operation = "bcast", bytes = "2", time = "2s", visits = 1 }\n',
        encoding="utf-8",
    )
    ranks = inventory().cores + 1
    words: list[str | Path] = ["study", study, "--ranks", str(ranks), "--mpi", mpi.wrapper]
    words += ["-o", tmp_path / "s", "--json"]
    code, out, err = outcome(*words, "--dry-run")
    assert code == 0, err
    code, out, err = outcome(*words)
    assert code == 0, err
    said = json.loads(out)
    assert said["crowding"]["cores"] == inventory().cores
    assert said["findings"][0]["text"].startswith("Ranks shared cores in 1 of 1 launch:")
