"""A Slurm of this test's own: the hosts of a lab are its nodes, gone afterwards.

Debian's slurmctld, slurmd and munge on one machine. Each slurmd runs in the network namespace of its host and
under the host's name; cgroups are not used (`proctrack/linuxproc`, `task/none`). The nodes share the file system,
and the cores: what is measured between them is oversubscribed, and says so.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.capabilities import lacking
from tests.cluster.fixture import made

from hockney.runner import lab
from hockney.runner.lab import Lab

NODES = 4
DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
PATIENCE_S = 60.0

CONF = """ClusterName=hockney
SlurmctldHost={first}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
KillWait=1
MinJobAge=3600
ReturnToService=2
SlurmdParameters=config_overrides
{nodes}
PartitionName=short Nodes=ALL Default=YES MaxTime=60 State=UP
PartitionName=closed Nodes=ALL MaxTime=60 State=DOWN
"""


@dataclass(frozen=True)
class Slurm:
    """A Slurm that is up."""

    folder: Path
    hosts: Lab

    def environment(self) -> dict[str, str]:
        """Variables of its users: MPIs keep to TCP and yield while they wait, as in a lab."""
        return {
            **os.environ,
            **self.hosts.environment(with_hosts=False),
            "SLURM_CONF": str(self.folder / "slurm.conf"),
        }

    def run(self, *words: str, host: int = 0, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command on one of its hosts, to its end."""
        return subprocess.run(
            self.hosts.inside(words, host=host),
            env=self.environment(),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def said(self, *words: str) -> str:
        """What a command prints; it must succeed."""
        done = self.run(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def wait(self, job: str, states: Sequence[str], limit_s: float = 300.0) -> str:
        """The state of a job once it is one of these."""
        end_s = time.monotonic() + limit_s
        while (state := self.said("squeue", "-h", "-j", job, "-t", "all", "-o", "%T").strip()) not in states:
            assert time.monotonic() < end_s, f"job {job} is {state}"
            time.sleep(0.5)
        return state


def _begin(slurm: Slurm) -> None:
    folder, hosts = slurm.folder, slurm.hosts
    (folder / "state").mkdir()
    (folder / "own").mkdir()
    # PMIx makes folders of one name on each node, which here have one file system: each slurmd mounts its own.
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/own\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    nodes = [
        f"NodeName={name} NodeHostname={name} NodeAddr={address} "
        "CPUs=2 Sockets=1 CoresPerSocket=2 ThreadsPerCore=1"
        for name, address in zip(hosts.names, hosts.addresses, strict=True)
    ]
    text = CONF.format(first=hosts.names[0], address=hosts.addresses[0], folder=folder, nodes="\n".join(nodes))
    (folder / "slurm.conf").write_text(text)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    known = Path("/etc/hosts").read_text() + "".join(
        f"{address} {name}\n" for name, address in zip(hosts.names, hosts.addresses, strict=True)
    )
    for name in hosts.names:
        (folder / f"spool-{name}").mkdir()
        # `ip netns exec` mounts this over /etc/hosts.
        own = Path("/etc/netns", name)
        own.mkdir(parents=True)
        (own / "hosts").write_text(known)
    names = ("socket", "key-file", "pid-file", "log-file", "seed-file")
    files = [f"--{name}={folder}/munge.{name.removesuffix('-file')}" for name in names]
    subprocess.run(["munged", "--force", *files], check=True, capture_output=True, timeout=PATIENCE_S)
    conf = str(folder / "slurm.conf")
    slurm.said("slurmctld", "-f", conf)
    for number in range(hosts.hosts):
        mount = f"mount -t tmpfs none {folder}/own && exec slurmd -f {conf}"
        done = slurm.run("sh", "-c", mount, host=number)
        assert done.returncode == 0, done.stderr + (folder / f"slurmd-{hosts.names[number]}.log").read_text()
    end_s = time.monotonic() + PATIENCE_S
    while slurm.run("sinfo", "-h", "-p", "short", "-t", "idle", "-o", "%D").stdout.strip() != str(hosts.hosts):
        assert time.monotonic() < end_s, (folder / "slurmctld.log").read_text()
        time.sleep(0.2)


def _end(slurm: Slurm) -> None:
    slurm.run("scancel", "--user", "root")
    pids = []
    for file in (*slurm.folder.glob("slurmd-*.pid"), slurm.folder / "slurmctld.pid", slurm.folder / "munge.pid"):
        if file.is_file():
            pids.append(int(file.read_text()))
            os.kill(pids[-1], signal.SIGTERM)
    end_s = time.monotonic() + 10
    while time.monotonic() < end_s and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.1)
    lab._end(slurm.hosts.name)
    for name in slurm.hosts.names:
        shutil.rmtree(Path("/etc/netns", name), ignore_errors=True)
    lab.down(slurm.hosts.name)


@pytest.fixture(scope="session")
def slurm() -> Iterator[Slurm]:
    """Four nodes of two CPUs each; skips by name without root, namespaces, or Debian's packages."""
    if missing := [name for name in DAEMONS if shutil.which(name) is None]:
        pytest.skip(lacking("Slurm", f"no {', '.join(missing)} on the PATH"))
    hosts = made("slurm", NODES, None)
    # Short: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        found = Slurm(Path(folder), hosts)
        Path(folder).chmod(0o755)
        try:
            _begin(found)
            yield found
        finally:
            _end(found)
