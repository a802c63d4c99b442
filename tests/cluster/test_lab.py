"""The lab: hosts that an MPI takes for hosts, links of the rate that was asked for, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cluster.fixture import HOSTS, LINK_BIT_PER_S, made
from tests.command_line import campaign_answer, outcome, refused
from tests.factories import not_none
from tests.processes import captured

from hockney.errors import EnvironmentLack, RequestError
from hockney.runner import lab
from hockney.runner.lab import Lab
from hockney.runner.mpi import Mpi

PAYLOAD = 1448 / 1514
"""Of a frame of 1,514 bytes a message gets 1,448."""


def hockney(*words: str) -> list[str]:
    return [sys.executable, "-m", "hockney", *words]


def test_ranks_are_on_hosts_of_their_own_and_a_broadcast_takes_what_the_link_does(
    mpi: Mpi, cluster: Lab, tmp_path: Path
) -> None:
    """No algorithm brings 1 MiB to another host sooner than its link carries it."""
    size_B = 2**20
    campaign = str(tmp_path / "c")
    measure = hockney("measure", "--mpi", str(mpi.wrapper), "--ranks", str(HOSTS), "--rank-counts", str(HOSTS))
    measure += ["--bind-to", "none", "--operation", "bcast", "--bytes", str(size_B), "--visits", "1"]
    measure += ["--budget", "1.5s", "-o", campaign, "--json"]
    command = hockney("lab", "run", "--", *measure)
    done = captured(command, timeout=300)
    campaign_answer(done)
    (launch,) = [json.loads(line) for line in (tmp_path / "c/launches.jsonl").read_text().splitlines()]
    assert [place["host"] for place in launch["ranks"]] == cluster.names
    records = [json.loads(line) for line in (tmp_path / "c/records.jsonl").read_text().splitlines()]
    (record,) = [one for one in records if one["statistic"] == "completion"]
    # The bucket's content passes at once.
    least_s = (size_B - not_none(cluster.burst_B)) * 8 / (LINK_BIT_PER_S * PAYLOAD)
    # Above three times as long it would not be the link that rules; binomial is three sends in a row at most.
    assert least_s < record["value"] < 9 * least_s


@pytest.mark.parametrize(
    ("slots", "said"), [((1, 1, 1), "share several nodes"), ((2, 1), "as many ranks on each")]
)
def test_an_algorithm_that_passes_calls_on_is_not_measured(
    mpi: Mpi, cluster: Lab, tmp_path: Path, slots: tuple[int, ...], said: str
) -> None:
    """What Open MPI's han would be called there is another component's own choice."""
    if mpi.kind != "openmpi":
        pytest.skip("Open MPI alone has han")
    hosts = ",".join(f"{name}:{count}" for name, count in zip(cluster.names, slots, strict=False))
    measure = hockney(
        "measure", "--mpi", str(mpi.wrapper), "--hosts", hosts, "--ranks", "3", "--rank-counts", "3"
    )
    measure += ["--bind-to", "none", "--operation", "bcast", "--algorithm", "default,han:simple"]
    measure += ["--bytes", "8", "--visits", "1", "--budget", "0.1s", "-o", str(tmp_path / "c"), "--json"]
    command = hockney("lab", "run", "--", *measure)
    done = captured(command, timeout=300)
    campaign_answer(done)
    records = [json.loads(line) for line in (tmp_path / "c/records.jsonl").read_text().splitlines()]
    assert {one.get("algorithm", "default") for one in records} == {"default"}
    (left,) = [json.loads(line) for line in (tmp_path / "c/failures.jsonl").read_text().splitlines()]
    assert said in left["limitation"]


def test_links_are_shaped_in_both_directions(cluster: Lab) -> None:
    """What leaves a host, and what leaves the switch for it: a broadcast or a ring shows only one of them."""
    switch = f"hockney-{cluster.name}-switch"
    for number, host in enumerate(cluster.names, start=1):
        for namespace, device in ((host, lab.DEVICE), (switch, f"port{number}")):
            command = ["tc", "-n", namespace, "qdisc", "show", "dev", device]
            said = captured(command, check=True).stdout
            assert "qdisc tbf" in said
            assert f"rate {LINK_BIT_PER_S / 1e6:.0f}Mbit" in said


def test_a_bare_launcher_starts_a_rank_on_each_host(mpi: Mpi, cluster: Lab) -> None:
    """As a person writes it: no host, and no leave to run as root, is named."""
    bare = [str(mpi.launcher), "-n", str(HOSTS), "hostname"]
    command = hockney("lab", "run", "--", *bare)
    done = captured(command, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(cluster.names)


@pytest.mark.parametrize(("rate_bit_per_s", "most_s"), [(1e5, 20), (1e8, 20), (1e11, 20)])
def test_an_exchange_ends_and_goes_beyond_the_bucket(rate_bit_per_s: float, most_s: float) -> None:
    burst_B = max(2 * lab.FRAME_B, round(lab.LATE_S * rate_bit_per_s / 8))
    sizes_B = lab._sizes_B(rate_bit_per_s, burst_B)
    # 15 rounds of each size pass one link.
    assert 15 * sum(sizes_B) * 8 / rate_bit_per_s <= most_s
    assert max(sizes_B) > burst_B


def test_it_says_from_which_size_on_the_links_rule(cluster: Lab) -> None:
    """A size counts where the links need half of the time; times are no less than what the links need."""
    largest_B, time_s = max(cluster.exchange_s.items())
    assert time_s > 0.9 * largest_B * 8 / LINK_BIT_PER_S
    assert not_none(cluster.burst_B) < not_none(cluster.rules_from_B) <= largest_B


@pytest.mark.parametrize(
    ("exchange_s", "expected_B"),
    [
        # 1 MB/s: the links need 1 ms for 1 kB.
        ({1000: 1.9e-3, 4000: 4.1e-3}, 1000),
        ({1000: 2.1e-3, 4000: 4.1e-3}, 4000),
        ({1000: 2.1e-3, 4000: 8.1e-3}, None),
        # One that is ruled by chance below one that is not does not count, nor what the bucket lets pass.
        ({1000: 1.1e-3, 4000: 8.1e-3, 16000: 16.1e-3}, 16000),
        ({50: 0.05e-3, 1000: 1.1e-3}, 1000),
    ],
)
def test_the_size_from_which_the_links_rule(exchange_s: dict[int, float], expected_B: int | None) -> None:
    known = Lab(name="x", hosts=2, link_bit_per_s=8e6, burst_B=100, exchange_s=exchange_s)
    assert known.rules_from_B == expected_B


def test_a_lab_is_there_until_it_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"life-{os.getpid()}"
    monkeypatch.setenv("HOCKNEY_LAB", name)
    made("life", 2, None)
    try:
        refused("lab", "up", "--json")
        ping = hockney("lab", "run", "--", "sh", "-c", "hostname; exit 7")
        done = captured(ping)
        assert (done.returncode, done.stdout) == (7, f"hockney-{name}-1\n")
        with subprocess.Popen(lab.find(name).inside(["sleep", "60"], host=1)) as sleeping:
            try:
                # The namespace has it once the shell in it has begun.
                while not subprocess.run(
                    ["ip", "netns", "pids", f"hockney-{name}-2"], capture_output=True, check=True
                ).stdout:
                    pass
                said = refused("lab", "down")
                assert "still run" in said
            finally:
                sleeping.kill()
    finally:
        code, out, _ = outcome("lab", "down", "--json")
    assert code == 0
    # Two hosts and the switch.
    assert json.loads(out)["namespaces_deleted"] == 3
    assert not [path for path in lab.NAMESPACES.glob("*") if name in path.name]
    assert not (lab.FOLDER / name).exists()


def test_what_fails_halfway_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"half-{os.getpid()}"
    made("half", 2, None)
    lab.down(name)
    with monkeypatch.context() as patched:
        patched.setattr(lab, "EXCHANGE", Path("/nothing/here"))
        with pytest.raises(EnvironmentLack, match="do not reach each other"):
            lab.up(name, 2, 1e8)
    assert not [path for path in lab.NAMESPACES.glob("*") if name in path.name]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("up", "--nodes", "1"), 2, "from 2 to 64 hosts, not 1"),
        (("up", "--nodes", "100000"), 2, "from 2 to 64 hosts"),
        (("up", "--link", "1bit/s"), 2, "is not between 100 kbit/s and 100 Gbit/s"),
        (("up", "--link", "1e30GB/s"), 2, ""),
        (("up", "--link", "fast"), 2, "'fast' is not a rate"),
        (("down",), 2, "no lab 'never-made' is up"),
        (("run", "--", "true"), 2, "no lab 'never-made' is up"),
        (("run",), 2, ""),
    ],
)
def test_what_cannot_be_is_refused(
    words: tuple[str, ...], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOCKNEY_LAB", "never-made")
    if words[0] in ("down", "run") and os.geteuid() != 0:
        pytest.skip("only root is told more than that it takes root")
    found, _, err = outcome("lab", *words)
    assert found == code, err
    assert said in err


@pytest.mark.parametrize("name", ["..", ".", "../victim", "{}/victim", "a/../../victim"])
def test_nothing_but_a_lab_is_taken_away(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(lab, "FOLDER", tmp_path / "labs")
    for folder in ("labs/other", "labs/a", "victim"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("HOCKNEY_LAB", name.format(tmp_path))
    code, _, err = outcome("lab", "down")
    assert code in (RequestError.exit_code, EnvironmentLack.exit_code), err
    assert {path.name for path in tmp_path.rglob("*")} == {"labs", "other", "a", "victim"}


def test_a_lab_that_a_signal_ends_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"killed-{os.getpid()}"
    monkeypatch.setenv("HOCKNEY_LAB", name)
    made("killed", 2, None)
    lab.down(name)
    # The exchange over so slow a link takes seconds.
    with subprocess.Popen(
        hockney("lab", "up", "--nodes", "2", "--link", "100kbit/s"), stderr=subprocess.PIPE
    ) as making:
        while not (lab.NAMESPACES / f"hockney-{name}-2").exists() and making.poll() is None:
            time.sleep(0.01)
        making.terminate()
        making.communicate(timeout=60)
    assert making.returncode not in (0, 70)
    assert not [path for path in lab.NAMESPACES.glob("*") if name in path.name]
    assert not (lab.FOLDER / name).exists()


def test_half_a_lab_is_called_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lab, "FOLDER", tmp_path)
    (tmp_path / "half").mkdir()
    with pytest.raises(RequestError, match="never finished"):
        lab.find("half")


def test_only_root_makes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    for words in (("up",), ("down",), ("run", "--", "true")):
        code, _, err = outcome("lab", *words)
        assert code == EnvironmentLack.exit_code
        assert "only root" in err


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = outcome("lab", "up")
    assert code == EnvironmentLack.exit_code
    assert "no ip, tc" in err
