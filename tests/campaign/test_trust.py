"""A folder from somebody else may name any program: it is resumed only by who says so."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_hockney

from hockney.campaign.plan import Plan
from hockney.campaign.trust import KEY_B, doubt, seal
from hockney.records.folder import PLAN, RECORDS, Campaign
from hockney.runner.find import canonical

SEAL = "plan.seal"
Begin = Callable[..., Path]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Make campaigns, sealed or not, as a user whose key is in a folder of the test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def make(name: str = "c", *, sealed: bool = True, **choices: Any) -> Path:
        path = Campaign.create(tmp_path / name, Plan.model_validate({"ranks": 2, **choices}).model_dump()).path
        if sealed:
            seal(path)
        return path

    return make


def doubt_of(path: Path) -> str:
    return doubt(path, Plan.stored(Campaign.open(path).plan(), path))


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """An MPI's wrapper that leaves a trace where it is run."""
    wrapper = tmp_path / "evil" / "bin" / "mpicc"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\nexit 1\n", encoding="utf-8")
    wrapper.chmod(0o755)
    return wrapper


FOREIGN: list[dict[str, Any]] = [
    {"variants": ["x: LD_PRELOAD=/tmp/evil.so"]},
    {"variants": ["x: --mca plm_rsh_agent /tmp/evil"]},
    {"hosts": ["-oProxyCommand=evil"]},
    {"hostfile": "/tmp/hosts"},
    {"mpi": "smpi", "platform": "/tmp/platform.xml"},
    {"launcher": "/tmp/evil/mpirun"},
    {"mpi": "/tmp/evil"},
    {"mpi": "/tmp/evil/bin/mpicc"},
]


@pytest.mark.parametrize("choices", FOREIGN, ids=str)
def test_what_a_plan_without_a_seal_would_run_is_told(begin: Begin, choices: dict[str, Any]) -> None:
    told = doubt_of(begin(sealed=False, **choices))
    for name, value in choices.items():
        assert name in told
        assert (value[0] if isinstance(value, list) else value) in told


@pytest.mark.parametrize("choices", FOREIGN, ids=str)
def test_a_plan_of_this_user_is_not_doubted_wherever_it_lies(begin: Begin, choices: dict[str, Any]) -> None:
    path = begin(**choices)
    assert doubt_of(path) == ""
    assert doubt_of(path.rename(path.with_name("moved"))) == ""


def test_a_plan_that_was_changed_is_doubted(begin: Begin) -> None:
    path = begin(variants=["x: A=1"])
    plan = path / PLAN
    plan.write_text(plan.read_text(encoding="utf-8").replace("A=1", "LD_PRELOAD=/tmp/e.so"), encoding="utf-8")
    assert "LD_PRELOAD=/tmp/e.so" in doubt_of(path)


def test_a_seal_of_another_user_or_plan_does_not_count(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = begin(variants=["x: A=1"]), begin("other", variants=["x: A=2"])
    shutil.copy(other / SEAL, path / SEAL)
    assert "A=1" in doubt_of(path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "another"))
    assert "A=2" in doubt_of(other)
    seal(path)
    assert doubt_of(path) == ""


def test_the_key_is_private_and_counts_only_while_it_is(begin: Begin, tmp_path: Path) -> None:
    path = begin(variants=["x: A=1"])
    (key,) = (tmp_path / "config" / "hockney").iterdir()
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o640)
    assert "A=1" in doubt_of(path)


def test_two_first_campaigns_at_once_are_sealed_with_one_key(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (begin(name, sealed=False, variants=["x: A=1"]) for name in ("first", "second"))
    drawn = iter([b"1" * KEY_B, b"2" * KEY_B])

    def draw(_: int) -> bytes:
        """Between the moment when the first finds no key and the one when it writes its own, the second comes."""
        key = next(drawn)
        if key[:1] == b"1":
            seal(second)
        return key

    monkeypatch.setattr(secrets, "token_bytes", draw)
    seal(first)
    assert [doubt_of(first), doubt_of(second)] == ["", ""]


def test_where_no_key_can_be_kept_a_campaign_begins_all_the_same(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    path = begin(variants=["x: A=1"])
    assert not (path / SEAL).exists()
    assert "A=1" in doubt_of(path)


def test_an_old_campaign_of_an_mpi_that_is_found_here_goes_on(
    begin: Begin, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, mpi in enumerate(("auto", "openmpi", "mpich")):
        assert doubt_of(begin(f"named{number}", sealed=False, mpi=mpi)) == ""
    wrapper, prefix = str(canonical(program)), str(program.parents[1])
    assert wrapper in doubt_of(begin("wrapper", sealed=False, mpi=wrapper))
    assert prefix in doubt_of(begin("prefix", sealed=False, mpi=prefix))
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert doubt_of(tmp_path / "wrapper") == ""
    assert doubt_of(tmp_path / "prefix") == ""
    assert not (tmp_path / "was-run").exists()


def test_links_are_doubted_even_beside_a_sealed_plan(begin: Begin, tmp_path: Path) -> None:
    path = begin()
    (path / RECORDS).symlink_to(tmp_path / "victim")
    assert RECORDS in doubt_of(path)


def test_a_plan_cannot_draw_on_the_terminal(begin: Begin) -> None:
    told = doubt_of(begin(sealed=False, mpi="/x\x1b[2K\r\u202emoc"))
    assert told.isascii()
    assert told.isprintable()


def test_the_verb_runs_nothing_before_it_is_allowed_to(begin: Begin, program: Path, tmp_path: Path) -> None:
    path = begin(sealed=False, mpi=str(program))
    done = run_hockney("measure", "-o", str(path), "--resume")
    assert done.returncode == 2
    assert str(program) in done.stderr
    assert "--trust" in done.stderr
    assert not (tmp_path / "was-run").exists()
    assert [entry.name for entry in path.iterdir()] == [PLAN]
    done = run_hockney("measure", "-o", str(path), "--resume", "--trust")
    assert done.returncode == 3
    assert (tmp_path / "was-run").exists(), "it is what was asked for"
    assert doubt_of(path) == "", "who has allowed it once is not asked again"


def test_to_trust_a_new_campaign_means_nothing(tmp_path: Path) -> None:
    done = run_hockney("measure", "-o", str(tmp_path / "c"), "--trust")
    assert done.returncode == 2
    assert "--trust means nothing without --resume" in done.stderr
