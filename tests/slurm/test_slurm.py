"""Slurm for real: what is submitted runs, is killed, goes on, and comes to one campaign."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.capabilities import lacking
from tests.slurm.fixture import NODES, Slurm

from hockney.errors import EnvironmentLack, Incomplete, RequestError
from hockney.records.folder import Campaign

OPEN_MPI, MPICH = "mpicc.openmpi", "mpicc.mpich"
_BCAST = ("--operation", "bcast", "--algorithm", "binomial", "--bytes", "8", "--bind-to", "none")
QUICK = (*_BCAST, "--visits", "1", "--budget", "0.2s", "--tolerance", "0.5")
STUDY = """question = "How long does a broadcast take on more nodes?"
compares = "One algorithm on several numbers of nodes."
shows = "Times over ranks."
needs = ["bcast"]

[[steps]]
verb = "measure"
options = { operation = "bcast", algorithm = "binomial", bytes = "8,64,512,4KiB,32KiB", \
rank-counts = "{ranks}", visits = 1, budget = "30s", bind-to = "none" }
"""
ENDED = ("COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL")


def needs(wrapper: str) -> str:
    """The wrapper; skips by name without it."""
    if shutil.which(wrapper) is None:
        pytest.skip(lacking("Debian's MPI", f"{wrapper} is not on the PATH"))
    return wrapper


def hockney(slurm: Slurm, folder: Path, *words: str) -> tuple[int, str, str]:
    """A command on the first node, which stands for the login node; exit code, what it printed, what it said."""
    done = slurm.run(sys.executable, "-m", "hockney", *words, folder=folder)
    return done.returncode, done.stdout, done.stderr


def jobs_of(slurm: Slurm, folder: Path, *words: str) -> dict[str, str]:
    """Submit; the ids of the jobs by their names."""
    code, out, err = hockney(slurm, folder, *words, "--submit", "slurm", "--now", "--json")
    assert code == 0, out + err
    return {job["name"]: job["job"] for job in json.loads(out)["jobs"]}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def state_of(slurm: Slurm, folder: Path, name: str) -> Any:
    code, out, err = hockney(slurm, folder, "status", name, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    ("wrapper", "launcher", "word"),
    [
        (OPEN_MPI, "srun", "--mpi=pmix"),
        (OPEN_MPI, "openmpi", "--map-by"),
        (MPICH, "srun", "--mpi=pmi2"),
        (MPICH, "hydra", "-ppn"),
    ],
)
def test_each_launcher_starts_the_ranks_of_a_job(
    slurm: Slurm, tmp_path: Path, wrapper: str, launcher: str, word: str
) -> None:
    measure = ["measure", "-o", "c", *QUICK, "--nodes", "2", "--ranks", "2", "--mpi", needs(wrapper)]
    (job,) = jobs_of(slurm, tmp_path, *measure, "--launcher", launcher).values()
    slurm.wait(job, ENDED)
    part = tmp_path / "c/parts" / job
    said = (tmp_path / f"c/jobs/measure-{job}.out").read_text()
    assert part.is_dir(), said
    (launch,) = lines(part / "launches.jsonl")
    assert any(argument.startswith(word) for argument in launch["argv"]), said
    assert len({rank["host"] for rank in launch["ranks"]}) == 2
    assert launch["launcher"] == launcher
    assert state_of(slurm, tmp_path, "c")["state"] == "done"


def test_a_study_over_1_2_and_4_nodes_of_which_one_is_killed_comes_to_a_whole(
    slurm: Slurm, tmp_path: Path
) -> None:
    """The limit of the job on four nodes is shortened while it measures, so that Slurm ends it in the middle."""
    (tmp_path / "tiny.toml").write_text(STUDY)
    words = ["study", "./tiny.toml", "-o", "s", "--nodes", "1,2,4", "--ranks", "8", "--mpi", needs(OPEN_MPI)]
    jobs = jobs_of(slurm, tmp_path, *words, "--site", "walltime=20min")
    assert sorted(jobs) == ["tiny-1n", "tiny-2n", "tiny-4n"]
    killed = jobs["tiny-4n"]
    half = tmp_path / "s/steps/1-measure-core-4n/parts" / killed / "records.jsonl"
    slurm.wait(killed, ("RUNNING",), limit_s=900)
    # It asks for its time when it begins: with the shorter limit it would end before.
    end_s = time.monotonic() + 300
    while not half.is_file():
        assert time.monotonic() < end_s, (tmp_path / f"s/jobs/tiny-4n-{killed}.out").read_text()
        time.sleep(0.2)
    slurm.said("scontrol", "update", f"JobId={killed}", "TimeLimit=1")
    assert slurm.wait(killed, ENDED) == "TIMEOUT"
    before = half.read_bytes()
    found = state_of(slurm, tmp_path, "s")
    assert [step["state"] for step in found["steps"]] == ["done", "done", "incomplete"]
    (again,) = jobs_of(
        slurm, tmp_path, "study", "tiny", "-o", "s", "--resume", "--site", "walltime=20min"
    ).items()
    assert again[0] == "tiny-4n"
    assert slurm.wait(again[1], ENDED, limit_s=900) == "COMPLETED"
    found = state_of(slurm, tmp_path, "s")
    assert found["state"] == "done"
    # What was measured before the kill stands as it was, and no point was measured in both jobs as a whole.
    assert half.read_bytes() == before
    assert (tmp_path / "s/report.html").is_file()
    rows = lines(tmp_path / "s/campaign/records.jsonl")
    points = {(row["ranks"], row["nodes"], row["bytes"]) for row in rows if row["statistic"] == "completion"}
    sizes_B = (8, 64, 512, 4096, 32768)
    assert points == {(2 * nodes, nodes, size_B) for nodes in (1, 2, 4) for size_B in sizes_B}
    # Whichever nodes the jobs had: the curves over nodes are of one system.
    assert len({row["system"] for row in rows}) == 1
    assert all(row["oversubscribed"] for row in rows if row["ranks"] > 2)


def test_a_campaign_ends_before_its_job_does(slurm: Slurm, tmp_path: Path) -> None:
    words = ["measure", "-o", "c", "--operation", "bcast", "--algorithm", "binomial", "--bind-to", "none"]
    words += ["--budget", "1min", "--tolerance", "1e-6", "--nodes", "1", "--ranks", "2", "--mpi", needs(OPEN_MPI)]
    (job,) = jobs_of(slurm, tmp_path, *words, "--site", "walltime=1min").values()
    # By itself, with exit code 4, and not by Slurm.
    assert slurm.wait(job, ENDED) == "FAILED"
    assert f"ExitCode={Incomplete.exit_code}:0" in slurm.said("scontrol", "show", "job", job)
    found = state_of(slurm, tmp_path, "c")
    assert found["state"] == "incomplete"
    assert "the job's time was over" in found["campaign"]["missing"]
    assert found["campaign"]["records"] > 0


def test_jobs_share_the_launches_of_a_campaign(slurm: Slurm, tmp_path: Path) -> None:
    measure = ["measure", "-o", "c", *QUICK, "--nodes", "1", "--ranks", "2", "--launches", "3", "--jobs", "2"]
    jobs = jobs_of(slurm, tmp_path, *measure, "--mpi", needs(OPEN_MPI))
    for job in jobs.values():
        slurm.wait(job, ENDED)
    of_job = {
        name: {line["index"] for line in lines(tmp_path / "c/parts" / job / "launches.jsonl")}
        for name, job in jobs.items()
    }
    assert of_job == {"measure-1": {0, 2}, "measure-2": {1}}
    assert state_of(slurm, tmp_path, "c")["state"] == "done"
    assert not (tmp_path / "c/records.jsonl").exists()
    written = [len(lines(tmp_path / "c/parts" / job / "records.jsonl")) for job in jobs.values()]
    assert len(Campaign.open(tmp_path / "c").records()) == sum(written)


def test_a_refused_job_loses_nothing(slurm: Slurm, tmp_path: Path) -> None:
    words = ["measure", "-o", "c", *QUICK, "--nodes", "1", "--ranks", "2"]
    code, out, err = hockney(
        slurm, tmp_path, *words, "--submit", "slurm", "--now", "--site", "partition=nosuch", "--json"
    )
    assert code == RequestError.exit_code, err
    assert "Invalid partition" in json.loads(out)["error"]["message"]
    assert (tmp_path / "c/jobs/measure.sh").is_file()
    assert jobs_of(slurm, tmp_path, *words, "--mpi", "auto")  # the same plan, another partition


def test_an_allocation_that_is_smaller_than_the_plan_is_refused_in_a_line(slurm: Slurm, tmp_path: Path) -> None:
    words = ["measure", "-o", "c", *QUICK, "--nodes", "4", "--ranks", "8", "--mpi", needs(OPEN_MPI)]
    code, out, err = hockney(slurm, tmp_path, *words, "--submit", "slurm", "--json")
    assert code == 0, out + err
    script = str(tmp_path / "c/jobs/measure.sh")
    job = slurm.said("sbatch", "--parsable", "--nodes=2", script).strip()
    assert slurm.wait(job, ENDED) == "FAILED"
    assert f"ExitCode={EnvironmentLack.exit_code}:0" in slurm.said("scontrol", "show", "job", job)
    said = (tmp_path / f"c/jobs/measure-{job}.out").read_text()
    assert "the plan has 8 ranks on 4 nodes" in said
    assert "2 nodes with 4 CPUs" in said


def test_what_was_allocated_is_used(slurm: Slurm, tmp_path: Path) -> None:
    """As many ranks as the job was submitted for, on its nodes, without a word of them."""
    measure = [sys.executable, "-m", "hockney", "measure", "-o", "c", *QUICK, "--mpi", needs(OPEN_MPI), "--json"]
    done = slurm.run("salloc", "-N2", "-n3", *measure, folder=tmp_path)
    answer = json.loads(done.stdout)
    assert answer["plan"]["ranks"] == 3
    (part,) = (tmp_path / "c/parts").iterdir()
    (launch,) = lines(part / "launches.jsonl")
    assert len({rank["host"] for rank in launch["ranks"]}) == 2


def test_doctor_lists_its_partitions(slurm: Slurm, tmp_path: Path) -> None:
    code, out, err = hockney(slurm, tmp_path, "doctor", "--json")
    assert code in (0, EnvironmentLack.exit_code), err
    told = {one["name"]: one for one in json.loads(out)["partitions"]}
    alike = {"system": "slurm", "nodes": NODES, "cpus": 2, "limit_s": 3600.0}
    assert told == {
        "short": {**alike, "name": "short", "is_default": True, "takes_jobs": True},
        "closed": {**alike, "name": "closed", "is_default": False, "takes_jobs": False},
    }
