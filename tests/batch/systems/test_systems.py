"""Each batch system: its script has the directives of its documentation, its commands are asked as that says."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from tests.batch.fake import Fake
from tests.command_line import refused
from tests.factories import not_none, refusing, written

from hockney.batch import jobs
from hockney.batch.base import Partition, allocation, batch_systems, partitions
from hockney.batch.jobs import Job
from hockney.batch.site import Site
from hockney.errors import EnvironmentLack, RequestError
from hockney.units import host_list

JOB = Job(
    name="nodes", what="8 ranks on 4 nodes", nodes=4, per_node=2, command=["hockney", "measure", "-o", "a b"]
)
SITE = Site(
    partition="fast",
    account="proj",
    walltime=5400.5,
    options=["--of-the-site"],
    modules=["openmpi/5"],
    environment={"UCX_TLS": "rc,self; true"},
    setup=["ulimit -l unlimited"],
)
DIRECTIVES = {
    # sbatch(1).
    "slurm": "--job-name=nodes --nodes=4 --ntasks-per-node=2 --exclusive --time=01:30:01 --partition=fast "
    "--account=proj --output=/out/nodes-%j.out --of-the-site",
    # qsub(1B), pbs_resources(7B): chunks, and how they are placed.
    "pbs": "-N nodes -S /bin/bash -l select=4:ncpus=2:mpiprocs=2 -l place=scatter:excl -l walltime=01:30:01 "
    "-q fast -A proj -j oe -o /out/ --of-the-site",
    # bsub: slots, and as many of them on each host; -W [hour:]minute, rounded up.
    "lsf": '-J nodes -n 8 -R "span[ptile=2]" -x -W 1:31 -q fast -P proj -o /out/nodes-%J.out --of-the-site',
    # flux-batch(1); a duration of RFC 23.
    "flux": "--job-name=nodes --nodes=4 --nslots=8 --exclusive --time-limit=5401s --queue=fast --bank=proj "
    "--output=/out/nodes-{{id}}.out --of-the-site",
}
"""In their order, each on a line of its own."""
SENTINEL = {"slurm": "#SBATCH ", "pbs": "#PBS ", "lsf": "#BSUB ", "flux": "#flux: "}
SUBMITTED = {
    # What each command prints, and the id in it.
    "slurm": ("sbatch", "Submitted batch job 17", "17"),
    "pbs": ("qsub", "17.server.example.org", "17.server.example.org"),
    "lsf": ("bsub", "Job <17> is submitted to queue <fast>.", "17"),
    "flux": ("flux", "ƒM7Zq9AKHno", "ƒM7Zq9AKHno"),
}


def test_every_system_is_tested_here() -> None:
    assert set(batch_systems.names()) == set(DIRECTIVES) == set(SENTINEL) == set(SUBMITTED)


@pytest.mark.parametrize("system", DIRECTIVES)
def test_a_script_has_its_directives_first_and_ends_with_the_command(system: str) -> None:
    lines = jobs.script(JOB, system, SITE, Path("/out")).splitlines()
    assert lines[0].startswith("#!/bin/bash")
    found = [line.removeprefix(SENTINEL[system]) for line in lines if line.startswith(SENTINEL[system])]
    assert " ".join(found) == DIRECTIVES[system]
    # Directives after the first command are not read.
    assert all(line.startswith(SENTINEL[system]) for line in lines[1 : 1 + len(found)])
    body = [line for line in lines[1 + len(found) :] if line and not line.startswith("#")]
    assert body[:3] == ["module load openmpi/5", "export UCX_TLS='rc,self; true'", "ulimit -l unlimited"]
    assert shlex.split(body[-1]) == ["exec", "hockney", "measure", "-o", "a b"]


@pytest.mark.parametrize("system", DIRECTIVES)
def test_what_a_site_does_not_say_is_not_asked_for(system: str) -> None:
    text = jobs.script(JOB, system, Site(exclusive=False), Path("/out"))
    for word in ("fast", "proj", "excl", "-x", "module load", "export"):
        assert word not in text


@pytest.mark.parametrize("system", SUBMITTED)
def test_a_script_is_submitted_and_its_id_kept(system: str, command: Fake, tmp_path: Path) -> None:
    name, printed, job = SUBMITTED[system]
    program = command(name, printed)
    (path,) = jobs.write([JOB], system, SITE, tmp_path / "c")
    found = jobs.submit(path, "nodes", system, tmp_path / "c")
    assert found.job == job
    assert jobs.submitted(tmp_path / "c") == [found]
    words = program.with_suffix(".words").read_text().split()
    given = program.with_suffix(".input").read_text()
    if system == "lsf":
        # bsub reads the script.
        assert (words, given) == ([], path.read_text())
    else:
        assert (words[-1], given) == (str(path), "")


@pytest.mark.parametrize(
    ("system", "option"),
    [
        # sbatch(1), qsub(1B), bsub(1), flux-batch(1).
        ("slurm", "--dependency=afterany:16"),
        ("pbs", "-W depend=afterany:16"),
        ("lsf", "-w ended(16)"),
        ("flux", "--dependency=afterany:16"),
    ],
)
def test_a_job_waits_for_the_one_before(system: str, option: str, command: Fake, tmp_path: Path) -> None:
    program = command(*SUBMITTED[system][:2])
    (path,) = jobs.write([JOB], system, SITE, tmp_path / "c")
    jobs.submit(path, "nodes", system, tmp_path / "c", after="16")
    assert option in program.with_suffix(".words").read_text().replace("\n", " ")


@pytest.mark.parametrize("system", SUBMITTED)
def test_a_refusal_is_told_in_the_words_of_the_system(system: str, command: Fake, tmp_path: Path) -> None:
    command(SUBMITTED[system][0], "error: no such queue fast", code=1, to=2)
    (path,) = jobs.write([JOB], system, SITE, tmp_path / "c")
    with pytest.raises(RequestError, match="no such queue fast"):
        jobs.submit(path, "nodes", system, tmp_path / "c")
    assert path.is_file()
    assert jobs.submitted(tmp_path / "c") == []


def test_without_the_command_the_script_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = jobs.write([JOB], "lsf", SITE, tmp_path / "c")
    monkeypatch.setenv("PATH", str(tmp_path))
    with refusing("no bsub", f"bsub < {path}", kind=EnvironmentLack):
        jobs.submit(path, "nodes", "lsf", tmp_path / "c")


@pytest.mark.parametrize(
    ("system", "program", "printed", "state"),
    [
        ("slurm", "squeue", "PENDING", "waiting"),
        ("slurm", "squeue", "RUNNING", "running"),
        ("slurm", "squeue", "TIMEOUT", "ended"),
        ("pbs", "qstat", "Job Id: 17\n    job_state = Q\n    queue = fast", "waiting"),
        ("pbs", "qstat", "Job Id: 17\n    job_state = R", "running"),
        ("pbs", "qstat", "Job Id: 17\n    job_state = F", "ended"),
        ("lsf", "bjobs", "PEND", "waiting"),
        ("lsf", "bjobs", "RUN", "running"),
        ("lsf", "bjobs", "EXIT", "ended"),
        ("flux", "flux", "SCHED", "waiting"),
        ("flux", "flux", "RUN", "running"),
        ("flux", "flux", "INACTIVE", "ended"),
    ],
)
def test_the_state_of_a_job(system: str, program: str, printed: str, state: str, command: Fake) -> None:
    command(program, printed)
    job = jobs.Submitted(name="nodes", script="", system=system, job="17", time="")
    assert jobs.states([job]) == {"17": state}


@pytest.mark.parametrize(
    ("system", "program", "printed", "told"),
    [
        # sinfo(1): * marks the default, + nodes that differ, K a factor of 1024.
        (
            "slurm",
            "sinfo",
            "fast|up|1-00:00:00|4|128+\nold*|down|infinite|2K|24",
            [
                {"name": "fast", "takes_jobs": True, "nodes": 4, "cpus": 128, "limit_s": 86400},
                {"name": "old", "is_default": True, "takes_jobs": False, "nodes": 2048, "cpus": 24},
            ],
        ),
        # qstat(1B), pbs_queue_attributes(7B).
        (
            "pbs",
            "qstat",
            "Queue: fast\n    queue_type = Execution\n    resources_max.walltime = 24:00:00\n    enabled = True\n"
            "    started = True\n\nQueue: old\n    enabled = True\n    started = False",
            [{"name": "fast", "takes_jobs": True, "limit_s": 86400}, {"name": "old", "takes_jobs": False}],
        ),
        # The command reference of bqueues.
        (
            "lsf",
            "bqueues",
            "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP  RSV PJOBS\n"
            "fast             30  Open:Active       -    -    -    -     0     0     0     0    0     0\n"
            "old              20  Closed:Active     -    -    -    -     0     0     0     0    0     0\n"
            "night            10  Open:Inact        -    -    -    -     0     0     0     0    0     0",
            [
                {"name": "fast", "takes_jobs": True},
                {"name": "old", "takes_jobs": False},
                {"name": "night", "takes_jobs": False},
            ],
        ),
        # flux-queue(1); a duration of RFC 23. A queue without a name is no choice.
        (
            "flux",
            "flux",
            "|enabled|started|inf\nfast*|enabled|started|1.5h\nold|enabled|stopped|inf",
            [
                {"name": "fast", "is_default": True, "takes_jobs": True, "limit_s": 5400},
                {"name": "old", "takes_jobs": False},
            ],
        ),
    ],
)
def test_a_system_lists_its_partitions(
    system: str, program: str, printed: str, told: list[dict[str, Any]], only_command: Fake
) -> None:
    assert partitions() == []
    only_command(program, printed)
    assert partitions() == [Partition(system=system, **one) for one in told]


def test_a_partition_says_what_is_known_of_it() -> None:
    whole = Partition(
        system="slurm", name="fast", is_default=True, nodes=1, cpus=4, limit_s=5400, takes_jobs=False
    )
    assert whole.described() == "fast (default): 1 node of 4 CPUs, up to 01:30:00, takes no jobs now"
    assert Partition(system="lsf", name="old").described() == "old"


def test_slurm_says_what_a_job_has(command: Fake) -> None:
    """The variables are those of sbatch(1); the time left is the controller's word."""
    command("squeue", "1-02:00:30")
    found = allocation(
        {
            "SLURM_JOB_ID": "17",
            "SLURM_JOB_NODELIST": "n[01-03,7],login",
            "SLURM_JOB_CPUS_PER_NODE": "4(x4),2",
            "SLURM_NTASKS": "9",
        }
    )
    assert found is not None
    assert found.hosts == ("n01", "n02", "n03", "n7", "login")
    assert (found.cpus, found.room, found.tasks) == ((4, 4, 4, 4, 2), 18, 9)
    assert found.left_s == 26 * 3600 + 30
    assert found.described() == "job 17 of slurm: 5 nodes with 18 CPUs"


@pytest.mark.parametrize("said", ["UNLIMITED", "NOT_SET", ""])
def test_a_job_without_a_limit_has_no_time_left_to_tell(said: str, command: Fake) -> None:
    command("squeue", said)
    found = not_none(allocation({"SLURM_JOB_ID": "17"}))
    assert (found.left_s, found.work_s, found.hosts, found.room) == (None, None, (), None)


def test_pbs_says_what_a_job_has(command: Fake, tmp_path: Path) -> None:
    """A line of the node file for each rank; the job began ten minutes ago."""
    nodes = written(tmp_path / "nodes", "a\na\nb\nb\n")
    began = time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(time.time() - 600))
    command("qstat", f"Job Id: 17.s\n    Resource_List.walltime = 01:00:00\n    stime = {began}")
    found = not_none(allocation({"PBS_JOBID": "17.s", "PBS_NODEFILE": str(nodes)}))
    assert (found.hosts, found.cpus, found.tasks, found.part) == (("a", "b"), (2, 2), 4, "17.s")
    # The clock of the start has whole seconds.
    assert not_none(found.left_s) == pytest.approx(3000, abs=5)


def test_lsf_says_what_a_job_has(command: Fake) -> None:
    command("bjobs", "0:25 L")
    found = not_none(allocation({"LSB_JOBID": "17", "LSB_MCPU_HOSTS": "a 4 b 2"}))
    assert (found.hosts, found.cpus, found.tasks, found.left_s) == (("a", "b"), (4, 2), 6, 1500.0)


def test_flux_asks_the_instance_of_the_job(command: Fake) -> None:
    """flux-environment(7): the script of a job has FLUX_URI alone, and asks for the rest."""
    answers = 'case "$*" in "getattr jobid") echo ƒM7;; "getattr hostlist") echo n[1-2];; '
    answers += '"resource list -n -o {ncores}") printf "8\\n0\\n";; "job timeleft") echo 90.5;; *) exit 1;; esac'
    program = command("flux", "")
    program.write_text(f"#!/bin/sh\n{answers}\n")
    found = not_none(allocation({"FLUX_URI": "local:///run/x"}))
    assert (found.job, found.part, found.left_s) == ("ƒM7", "-M7", 90.5)
    assert (found.hosts, found.cpus) == (("n1", "n2"), (4, 4))
    # The system's own instance, on a login node, is no job.
    program.write_text("#!/bin/sh\nexit 1\n")
    assert allocation({"FLUX_URI": "local:///run/flux/local"}) is None


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("a", ("a",)),
        ("a,b", ("a", "b")),
        ("n[8-11]", ("n8", "n9", "n10", "n11")),
        ("n[08-10]-ib,x", ("n08-ib", "n09-ib", "n10-ib", "x")),
        ("", ()),
    ],
)
def test_lists_of_hosts(text: str, hosts: tuple[str, ...]) -> None:
    assert tuple(host_list(text)) == hosts


def test_a_list_of_too_many_hosts_is_refused_before_any_is_named() -> None:
    with pytest.raises(RequestError, match="1000000000 names, more than 9"):
        next(host_list("n[0-999999999],a", 9))


def test_a_word_that_is_no_batch_system_is_refused() -> None:
    err = refused("measure", "-o", "c", "--submit", "slrum")
    assert "did you mean 'slurm'?" in err
