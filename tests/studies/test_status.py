"""How far a campaign is: done, running, waiting, or what is missing."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from socket import gethostname

import pytest
from tests.batch.conftest import command  # noqa: F401 - a fixture
from tests.batch.fake import Fake
from tests.campaign.fake_campaign import Silent, fake_launch, plan
from tests.command_line import answer, outcome, refused, succeeded
from tests.factories import not_none

from hockney.api.measuring import MeasureRequest, _joining
from hockney.batch.base import JobAllocation
from hockney.batch.jobs import Submitted
from hockney.campaign.loop import Loop
from hockney.campaign.measure import run
from hockney.campaign.plan import Plan
from hockney.campaign.prepare import default_ranks, expect_room
from hockney.campaign.share import WHOLE, Share, parse_share
from hockney.errors import EnvironmentLack, RequestError
from hockney.options.measure import MeasureOptions, Submission
from hockney.records.folder import Campaign
from hockney.studies.files import find
from hockney.studies.status import status

ASKED = plan(sizes_B=[8, 64, 512], launches=3)


def measured(path: Path, job: str, share: Share = WHOLE, job_s: float | None = None) -> Campaign:
    campaign = Campaign.create(path, ASKED.model_dump(), job)
    run(campaign, ASKED, [fake_launch("good")], Silent(), job_s=job_s, share=share)
    return campaign


def test_a_campaign_is_done_when_each_share_is(tmp_path: Path) -> None:
    one = measured(tmp_path / "c", "17", Share(1, 2))
    assert {record.repetition for record in one.records()} == {0, 2}
    found = status(tmp_path / "c")
    assert found.state == "incomplete"
    assert found.campaign is not None
    assert found.campaign.missing == "shares of other jobs"
    two = measured(tmp_path / "c", "18", Share(2, 2))
    assert {record.repetition for record in two.records()} == {0, 1, 2}
    found = status(tmp_path / "c")
    assert (found.state, found.campaign and found.campaign.records) == ("done", 9)


def test_a_job_without_time_leaves_it_to_the_next(tmp_path: Path) -> None:
    """No point is measured worse for it, and the next job measures what is missing, once."""
    campaign = Campaign.create(tmp_path / "c", ASKED.model_dump(), "17")
    outcome_ = run(campaign, ASKED, [fake_launch("good")], Silent(), job_s=0.0)
    assert outcome_.job_is_over
    assert not outcome_.is_whole
    found = status(tmp_path / "c")
    assert (found.state, found.campaign and found.campaign.missing) == ("not begun", "all of the plan")
    measured(tmp_path / "c", "18", job_s=600.0)
    found = status(tmp_path / "c")
    assert (found.state, found.campaign and found.campaign.records) == ("done", 9)


def test_the_time_of_a_job_is_no_reason_to_measure_worse() -> None:
    """Visits get less of a campaign's own time (--time) where it is short; a job's is not theirs to share."""
    of_job = Loop(None, ASKED, Silent(), None, job_s=100.0)
    assert of_job.own_left_s() == math.inf
    assert 0 < of_job.left_s() <= 100.0
    both = Loop(None, ASKED, Silent(), 1000.0, job_s=100.0)
    assert 100.0 < both.own_left_s() <= 1000.0
    assert both.left_s() <= 100.0


def test_jobs_are_asked_for(tmp_path: Path, command: Fake) -> None:  # noqa: F811
    command("squeue", "PENDING")
    Campaign.create(tmp_path / "c", ASKED.model_dump())
    (tmp_path / "c/jobs").mkdir()
    line = Submitted(name="measure", script="x", system="slurm", job="17", time="").model_dump_json()
    (tmp_path / "c/jobs/submitted.jsonl").write_text(line + "\n")
    waiting = answer("status", tmp_path / "c")
    assert (waiting["state"], waiting["jobs"][0]["state"]) == ("waiting", "waiting")
    command("squeue", "RUNNING")
    Campaign.open(tmp_path / "c", "17")
    assert json.loads(outcome("status", tmp_path / "c", "--json")[1])["state"] == "running"
    command("squeue", "slurm_load_jobs error: Invalid job id specified", code=1, to=2)
    out = succeeded("status", tmp_path / "c")
    assert "not begun" in out
    assert "ended" in out


def test_imports_and_merges_are_done_and_the_end_of_an_older_campaign_is_not_known(tmp_path: Path) -> None:
    campaign = measured(tmp_path / "c", "")
    (campaign.path / "ended.json").unlink()
    found = status(campaign.path)
    assert found.state == "incomplete"
    assert "not known how it ended" in not_none(found.campaign).missing
    for verb in ("imported", "merged"):
        (campaign.path / "plan.json").write_text(json.dumps({verb: []}))
        assert status(campaign.path).state == "done"


def test_a_part_is_found_by_an_id_that_no_file_may_have(tmp_path: Path, command: Fake) -> None:  # noqa: F811
    command("flux", "RUN")
    campaign = Campaign.create(tmp_path / "c", ASKED.model_dump(), JobAllocation(system="flux", job="ƒM7").part)
    (campaign.path / "jobs").mkdir()
    line = Submitted(name="measure", script="x", system="flux", job="ƒM7", time="").model_dump_json()
    (campaign.path / "jobs/submitted.jsonl").write_text(line + "\n")
    found = status(campaign.path)
    assert [(part.job, part.running) for part in not_none(found.campaign).parts] == [("-M7", True)]


def test_the_same_command_from_another_node_joins(tmp_path: Path) -> None:
    words = ("measure", "-o", tmp_path / "c", "--operation", "bcast", "--ranks", "2", "--submit", "slurm")
    succeeded(*words)
    path = tmp_path / "c/plan.json"
    stored = {**json.loads(path.read_text()), "system": "another-node"}
    path.write_text(json.dumps(stored))
    succeeded(*words)
    assert json.loads(path.read_text()) == stored
    err = refused(*words, "--system", "other")
    assert "another plan: system" in err


def test_a_campaign_of_an_older_version_is_joined(tmp_path: Path) -> None:
    """Its plan lacks the choices that came later: by submitting again, and from a job."""
    words = ("measure", "-o", tmp_path / "c", "--operation", "bcast", "--ranks", "2")
    succeeded(*words, "--submit", "slurm")
    path = tmp_path / "c/plan.json"
    stored = {name: value for name, value in json.loads(path.read_text()).items() if name != "mappings"}
    path.write_text(json.dumps(stored))
    succeeded(*words, "--submit", "slurm")
    assert "another plan: ranks 3, not 2" in refused(*words[:-1], "3", "--submit", "slurm")
    campaign = Campaign.open(tmp_path / "c")
    asked = MeasureRequest(MeasureOptions(output=campaign.path, ranks=2), Submission(), {}, None)
    _, said = _joining(campaign, Plan.stored(campaign.plan(), campaign.path), asked)
    part = Campaign.create(campaign.path, said.model_dump(), "17").own
    assert json.loads((part / "plan.json").read_text()) == stored


def test_a_study_in_jobs_is_of_one_system_and_its_jobs_have_plain_names(tmp_path: Path) -> None:
    (tmp_path / "my study.toml").write_text(find("ring").text)
    words = ("study", tmp_path / "my study.toml", "-o", tmp_path / "s", "--nodes", "1,2", "--ranks", "4")
    succeeded(*words, "--submit", "slurm")
    asked = json.loads((tmp_path / "s/study.json").read_text())["asked"]
    assert asked["launching"]["system"] == gethostname()
    assert {path.name for path in (tmp_path / "s/jobs").iterdir()} == {"my-study-1n.sh", "my-study-2n.sh"}


def test_a_study_of_parts_is_one_chain_of_jobs(tmp_path: Path, command: Fake) -> None:  # noqa: F811
    """As many as its steps need; each waits for the one before, on more nodes, too."""
    program = command("sbatch", "Submitted batch job 17")
    words = (
        "study",
        "assignment",
        "-o",
        tmp_path / "s",
        "--nodes",
        "1,2",
        "--ranks",
        "4",
        "--parts",
        "ring,sum3d",
    )
    succeeded(*words, "--submit", "slurm", "--site", "walltime=20min", "--now")
    written = sorted(path.name for path in (tmp_path / "s/jobs").glob("*.sh"))
    assert written[0] == "assignment-1n-2.sh"
    assert len(written) > 3
    lines = (tmp_path / "s/jobs/submitted.jsonl").read_text().splitlines()
    assert [json.loads(line)["name"] for line in lines][:2] == ["assignment-1n", "assignment-1n-2"]
    last = program.with_suffix(".words").read_text()
    assert "--dependency=afterany:17" in last
    assert "assignment-2n" in last
    (tmp_path / "s/study.json").unlink()
    said = succeeded("study", "assignment", "-o", tmp_path / "t", *words[4:], "--submit", "slurm")
    assert "sbatch --dependency=afterany:JOB " in " ".join(said.split())


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    refused("status", tmp_path / "nothing")


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/2/3", "-1/2"])
def test_what_is_no_share_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is no share"):
        parse_share(text)


@pytest.mark.parametrize(
    ("asked", "hosts", "cpus", "fits"),
    [
        ({"ranks": 8, "nodes": 4}, 4, 2, True),
        ({"ranks": 8, "nodes": 4}, 3, 8, False),
        ({"ranks": 8}, 3, 8, True),
        ({"ranks": 8}, 3, 2, False),
        ({"ranks": 4, "nodes": 1}, 4, 2, False),
        ({"ranks": 8}, 0, 0, True),
    ],
)
def test_an_allocation_has_room_or_not(asked: dict[str, int], hosts: int, cpus: int, fits: bool) -> None:
    given = JobAllocation(system="slurm", job="17", hosts=tuple(map(str, range(hosts))), cpus=(cpus,) * hosts)
    if fits:
        expect_room(plan(**asked), given)
        return
    with pytest.raises(EnvironmentLack, match=f"the plan has {asked['ranks']} ranks.* more than job 17 of slurm"):
        expect_room(plan(**asked), given)


def test_ranks_on_other_nodes_than_asked_for_are_not_measured(tmp_path: Path) -> None:
    """The fake launch is on one node."""
    asked = plan(sizes_B=[8], nodes=2)
    campaign = Campaign.create(tmp_path / "c", asked.model_dump())
    with pytest.raises(EnvironmentLack, match="the ranks are on 1 node, not on 2"):
        run(campaign, asked, [fake_launch("good")], Silent())
    assert campaign.records() == []
    one = plan(sizes_B=[8], nodes=1)
    run(Campaign.create(tmp_path / "d", one.model_dump()), one, [fake_launch("good")], Silent())
    assert Campaign.open(tmp_path / "d").records()


def test_a_job_has_as_many_ranks_as_tasks(monkeypatch: pytest.MonkeyPatch, command: Fake) -> None:  # noqa: F811
    command("squeue", "")
    for name, value in {"SLURM_JOB_ID": "17", "SLURM_JOB_CPUS_PER_NODE": "4(x2)", "SLURM_NTASKS": "6"}.items():
        monkeypatch.setitem(os.environ, name, value)
    assert default_ranks([]) == 6
    monkeypatch.delitem(os.environ, "SLURM_NTASKS")
    assert default_ranks([]) == 8


def test_two_submissions_of_different_plans_are_told_apart(tmp_path: Path, command: Fake) -> None:  # noqa: F811
    command("sbatch", "Submitted batch job 17")
    words = ("measure", "-o", tmp_path / "c", "--operation", "bcast", "--nodes", "2", "--submit", "slurm")
    succeeded(*words, "--ranks", "4", "--now")
    before = (tmp_path / "c/plan.json").read_bytes()
    err = refused(*words, "--ranks", "8", "--now")
    assert "another plan: ranks 8, not 4" in err
    assert (tmp_path / "c/plan.json").read_bytes() == before
    assert len((tmp_path / "c/jobs/submitted.jsonl").read_text().splitlines()) == 1
    # The same plan again is the same campaign.
    succeeded(*words, "--ranks", "4", "--now")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--now",), "--now is about jobs: add --submit"),
        (("--submit", "slurm", "--nodes", "2", "--ranks", "3"), "3 ranks are not as many on each of 2 nodes"),
        (("--submit", "slurm"), "the cores of the nodes are not known here"),
        (("--submit", "slurm", "--ranks", "2", "--jobs", "2"), "2 jobs cannot share 1 launch"),
        (("--submit", "slurm", "--ranks", "2", "--variant", "all-transports"), "tries transports where it runs"),
        (("--submit", "slurm", "--ranks", "2", "--site", "nowhere"), "there is no site 'nowhere'"),
    ],
)
def test_what_no_job_can_be_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    err = refused("measure", "-o", tmp_path / "c", "--operation", "bcast", *words)
    assert said in err.splitlines()[0]
