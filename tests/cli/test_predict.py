"""`hockney predict`: one answer, or one line that says what there is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.command_line import Run, refused, succeeded
from tests.factories import VERSION_1 as MACHINE
from tests.factories import verb, written
from typer.main import get_command

from hockney.errors import Incomplete
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.terminal import application
from hockney.terminal.main import report

run = verb("predict")


def test_json_with_several_sizes(run: Run) -> None:
    code, out, err = run("pingpong", "--bytes", "0", "--bytes", "4MiB", "--machine", MACHINE, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert [each["size_B"] for each in data["predictions"]] == [0, 4194304]
    assert [each["extrapolated"] for each in data["predictions"]] == [False, True]
    assert [each["factor"] for each in data["predictions"]] == [None, 4]
    # 1 µs + 4 MiB / 12.5 GB/s
    assert data["predictions"][1]["time_s"] == pytest.approx(1e-6 + 4194304 / 12.5e9)
    assert data["warnings"] == ["4 MiB: 4 × beyond the largest measured size"]


def test_locality_where_and_model_are_obeyed(run: Run) -> None:
    _, out, err = run(
        "pingpong", "--bytes", "0", "--machine", MACHINE, "--locality", "network", "--where", "variant=tcp"
    )
    assert "0 B: 12 µs" in out
    assert "measured with more ranks than cores: not a latency" in err
    _, out, _ = run(
        "pingpong", "--bytes", "0", "--machine", MACHINE, "--where", "cache=off", "--model", "hockney"
    )
    assert "0 B: 0.4 µs" in out
    assert "for n ≥ 0" in out


def test_where_tells_windows_apart(run: Run) -> None:
    err = run.refuses("bandwidth", "--bytes", "1MiB", "--machine", MACHINE)
    assert "window: 1, 64" in err
    assert run("bandwidth", "--bytes", "1MiB", "--machine", MACHINE, "--where", "window=64")[0] == 0


def test_options_stand_before_or_after_the_operation(run: Run) -> None:
    after = run("pingpong", "--bytes", "8", "--machine", MACHINE, "--json")
    assert after[0] == 0
    assert run("--json", "--machine", MACHINE, "pingpong", "--bytes", "8") == after
    # The name of a verb that is an option's word is no verb.
    _, out, _ = run("--machine", "bluegene_p", "--algorithm", "ring", "allgather", "--ranks", "4")
    assert "allgather of 1 KiB on 4 ranks" in out
    assert run("--machine", MACHINE)[0] == 2


def test_every_message_and_collective_is_an_operation_of_predict() -> None:
    words = get_command(application()).commands["predict"].words  # type: ignore[attr-defined]
    assert {name: tuple(said.split()) for name, said in words.items()} == {
        "message": POINT_TO_POINT,
        "collective": tuple(COLLECTIVES),
    }
    assert "name one: bcast" in refused("predict", "collective", "--ranks", "8")


def test_the_machine_defaults_to_machine_json(run: Run) -> None:
    err = run.refuses("pingpong", "--bytes", "8")
    assert "no machine file machine.json" in err
    assert "hockney fit CAMPAIGN -o machine.json" in err
    Path("machine.json").write_bytes(MACHINE.read_bytes())
    assert run("pingpong", "--bytes", "8")[0] == 0


@pytest.mark.usefixtures("wide")
def test_effects_are_shown_with_their_sources(run: Run) -> None:
    """13 entries of at most 100 ns each, as published; nothing is assumed of a busy sender."""
    words = ("pingpong", "--bytes", "16KiB", "--machine", "bluegene_p", "--queue", "13")
    out = run.prints(*words)
    assert "≤ 1.3 µs" in out
    assert "Hoefler et al. 2010, section 3" in " ".join(out.split())
    assert "at most" in out.splitlines()[-1]
    err = run.refuses(*words, "--busy-sender")
    assert "overlap is not known" in err
    err = run.refuses("bandwidth", "--bytes", "8", "--machine", "bluegene_p", "--queue", "1")


def test_fft_of_one_rank_is_no_contest(run: Run) -> None:
    out = run.prints("fft", "--size", "1", "--ranks", "1", "--machine", "bluegene_p")
    assert "1-D alone is possible" in out
    assert "told apart" not in out


def test_each_request_of_a_file_is_answered_as_alone(run: Run, tmp_path: Path) -> None:
    requests = [
        {"operation": "pingpong", "machine": str(MACHINE), "bytes": [0, "4MiB"], "where": "cache=off"},
        {"operation": "pingpong", "machine": "nowhere", "bytes": 8},
        {"operation": "bcast", "machine": str(MACHINE), "ranks": 8, "bytes": 8},
        {"operation": "bcast", "help": True},
    ]
    file = tmp_path / "requests.jsonl"
    lines = [*(json.dumps(request).encode() for request in requests), b"", b"[1]", b"\xff", b"[" * 99_999]
    file.write_bytes(b"\n".join(lines))
    code, out, err = run("--each", file)
    answers = [json.loads(line) for line in out.splitlines()]
    alone = run("pingpong", "--machine", MACHINE, "--bytes", "0,4MiB", "--where", "cache=off", "--json")
    assert answers[0] == json.loads(alone[1])
    assert "nowhere" in answers[1]["error"]["message"]
    assert answers[2]["operation"] == "bcast"
    wrong = [answer["error"]["message"].rpartition("requests.jsonl:")[2] for answer in answers[3:]]
    assert wrong[:2] == ["4: help is no answer", "6: this is no request"]
    assert [text[0] for text in wrong[2:]] == ["7", "8"]
    assert (code, err) == (2, "")


def test_an_interrupt_ends_all_requests_of_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "requests.jsonl", '{"operation": "bcast"}\n' * 2)
    asked: list[Sequence[str]] = []

    def interrupted(words: Sequence[str]) -> int:
        asked.append(words)
        return report(Incomplete("interrupted"), as_json=True)

    monkeypatch.setattr("hockney.terminal.requests.call", interrupted)
    code, out, err = run("--each", file)
    assert (code, out, len(asked)) == (4, "", 1)
    assert err.startswith("error: interrupted")


@pytest.mark.parametrize(("operation", "judged"), [("reduce", "reduce"), ("allgather", "bcast")])
def test_how_far_off_ping_pongs_alone_were_is_said_once(operation: str, judged: str) -> None:
    words = (operation, "--machine", "orfeo_thin", "--ranks", "48", "--bytes", "8,64KiB")
    said = " ".join(succeeded("predict", *words).split())
    assert said.count(f"How far off {judged} was on orfeo-epyc, where constants were chosen") == 1
    assert said.count("from ping-pongs alone") == 1
    assert said.count(f"hockney measure --operation {operation} --time 10min") == 1
