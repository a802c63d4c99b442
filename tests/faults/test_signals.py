"""Signals that ask a campaign to end: a line on what is kept and how to go on, a table, and exit code 4."""

from __future__ import annotations

import os
import pty
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
from tests.command_line import run_hockney
from tests.faults.tool import LEFT_S, OPTIONS, SIZES_B, Tool, failures_of_the_rest, fake_launches
from tests.processes import left_after

from hockney.records import table
from hockney.records.folder import TABLE, Campaign
from hockney.runner.mpi import Mpi
from hockney.terminal.signals import ENDING
from hockney.writing import NotWritten

RECORDS = 3


def end_and_go_on(tool: Tool, number: signal.Signals) -> None:
    """Send the signal when a few records are there; judge what the tool says and leaves, and go on."""
    assert tool.wait_until(lambda: tool.whole_lines().count(b"\n") >= RECORDS)
    before = tool.whole_lines()
    tool.process.send_signal(number)
    # Batch systems repeat themselves.
    tool.process.send_signal(number)
    code, err = tool.ended()
    assert not left_after(tool.mark, LEFT_S)
    assert code == 4, err
    assert tool.whole_lines().startswith(before)
    campaign = Campaign.open(tool.folder)
    records = campaign.records()
    assert campaign.warnings == []
    error, hint = [line for line in err.splitlines() if line]
    assert error == (f"error: {number.name} ended the campaign; kept in {tool.folder}: {len(records)} records")
    assert hint.endswith(f"hockney measure -o {tool.folder} --resume` continues")
    assert len(table.load(campaign.table)) == len({record.bytes for record in records}) >= RECORDS
    assert failures_of_the_rest(tool) == []


@pytest.mark.thorough
@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_ends_a_campaign_in_good_order(tmp_path: Path, mark: str, number: signal.Signals) -> None:
    end_and_go_on(Tool(tmp_path / "c", mark, fake="stubborn"), number)


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=() if n == signal.SIGTERM else pytest.mark.thorough, id=n.name) for n in ENDING],
)
@pytest.mark.one_mpi
def test_a_signal_ends_a_real_launch(mpi: Mpi, tmp_path: Path, mark: str, number: signal.Signals) -> None:
    end_and_go_on(Tool(tmp_path / "c", mark, "--mpi", str(mpi.wrapper)), number)


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["*.o*", "*-I*runner*"], ids=["a trial", "the runner"])
def test_a_signal_ends_the_compilers(
    tmp_path: Path, mark: str, install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Before the runner is there, too: compiling it takes up to minutes."""
    compiles = tmp_path / "compiles"
    wrapper = install(tmp_path / "opt")
    compiler = wrapper.with_name("mpicxx")
    compiler.write_text(f"#!/bin/sh\ncase $* in {call}) touch {compiles}; sleep 1000;; esac\necho 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    tool = Tool(tmp_path / "c", mark, "--mpi", str(wrapper))
    assert tool.wait_until(compiles.exists)
    tool.process.terminate()
    code, err = tool.ended()
    assert code == 4
    assert err.endswith("error: interrupted\nhint: give the same command to run it again\n")
    assert not left_after(mark, LEFT_S)


@contextmanager
def before_the_table(strike: Callable[[], object]) -> Iterator[None]:
    """Within, something is done each time before a table is written."""
    write = table.write

    def struck(frame: pd.DataFrame, path: Path) -> None:
        strike()
        write(frame, path)

    with patch.object(table, "write", struck):
        yield


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
def test_a_signal_after_the_last_measurement_changes_nothing(tmp_path: Path, number: signal.Signals) -> None:
    with fake_launches(), before_the_table(lambda: os.kill(os.getpid(), number)):
        done = run_hockney("measure", "-o", str(tmp_path / "c"), "--ranks", "2", *OPTIONS)
    assert (done.returncode, "error" in done.stderr) == (0, False)
    assert len(table.load(tmp_path / "c" / TABLE)) == len(SIZES_B)


@pytest.mark.usefixtures("wide")
def test_what_is_not_written_at_the_end_is_said_with_who_writes_it(tmp_path: Path) -> None:
    def full() -> None:
        raise NotWritten("cannot write samples.csv: No space left on device")

    folder = tmp_path / "c"
    with fake_launches(), before_the_table(full):
        done = run_hockney("measure", "-o", str(folder), "--ranks", "2", *OPTIONS)
    error, hint = [line for line in done.stderr.splitlines() if line.startswith(("error", "hint"))]
    assert (done.returncode, error) == (
        4,
        "error: cannot write samples.csv: No space left on device; all is measured and kept in "
        f"{folder}: {len(SIZES_B)} records",
    )
    assert hint == f"hint: make room; `hockney measure -o {folder} --resume` writes it"
    records = (folder / "records.jsonl").read_bytes()
    with fake_launches():
        assert run_hockney("measure", "-o", str(folder), "--resume").returncode == 0
    assert (folder / "records.jsonl").read_bytes() == records
    assert len(table.load(folder / TABLE)) == len(SIZES_B)


def test_a_terminal_that_closes_ends_a_campaign_in_good_order(tmp_path: Path, mark: str) -> None:
    """It sends SIGHUP, and what is written to it from then on fails."""
    ours, theirs = pty.openpty()
    streams: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    tool = Tool(tmp_path / "c", mark, fake="good", under=("setsid", "--ctty", "--wait"), **streams)
    os.close(theirs)
    assert tool.wait_until(lambda: tool.whole_lines().count(b"\n") >= RECORDS)
    os.close(ours)
    assert tool.process.wait(60) == 4
    assert not left_after(mark, LEFT_S)
    campaign = Campaign.open(tool.folder)
    assert len(table.load(campaign.table)) == len(campaign.records()) >= RECORDS
