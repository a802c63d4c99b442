"""`hockney predict ring`, as a user runs it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.command_line import Run
from tests.factories import VERSION_1 as MACHINE
from tests.factories import verb

FILE = ("--machine", str(MACHINE))
SOCKETS = (
    "--link", "0.34us,6372.991MB/s:12:0.57us,5530.801MB/s",
)  # fmt: skip
"""Latencies and bandwidths of a node with two sockets of 12 cores."""
CORE_S, SOCKET_S = 0.34e-6 + 4 / 6372.991e6, 0.57e-6 + 4 / 5530.801e6

run = verb("predict", "ring")


def asked(run: Run, *words: str) -> Any:
    code, out, err = run(*words, "--json")
    assert (code, err) == (0, ""), out
    return json.loads(out)


def test_the_forms_of_two_links(run: Run) -> None:
    made = asked(run, "--ranks", "1,2,12-14,24", *SOCKETS, "--model", "two-links")
    times_s = {point["ranks"]: point["time_s"] for point in made["points"]}
    mixed_s = CORE_S + SOCKET_S
    assert times_s.pop(1) is None
    assert times_s == pytest.approx(
        {2: 4 * CORE_S, 12: 24 * CORE_S, 13: 26 * SOCKET_S, 14: 14 * mixed_s, 24: 24 * mixed_s}
    )
    assert [point.get("slowest") for point in made["points"]] == [None, *["within"] * 2, *["across"] * 3]
    assert made["links"]["across"]["time_s"] == pytest.approx(SOCKET_S)
    assert (made["message_B"], made["machine"], made["model"]) == (4, None, "two-links")


def test_one_latency_is_for_all_neighbours(run: Run) -> None:
    made = asked(run, "--ranks", "48", "--link", "1us")
    assert made["points"][0]["time_s"] == pytest.approx(96e-6)
    assert list(made["links"]) == ["within"]


def test_a_machine_file_gives_an_interval(run: Run) -> None:
    made = asked(run, "--ranks", "2-4", *FILE)
    # The file's 1.5 µs and 10 GB/s, the farthest that it has.
    assert [point["time_s"] for point in made["points"]] == pytest.approx(
        [2 * ranks * (1.5e-6 + 4 / 10e9) for ranks in (2, 3, 4)]
    )
    for point in made["points"]:
        assert point["low_s"] < point["time_s"] < point["high_s"]
        assert point["slowest"] == "network"
    assumed = "nothing says where neighbours are: network is taken, not package"
    assert made["notes"] == [assumed, "network: PingPing was not measured, PingPong is taken"]
    network = asked(run, "--ranks", "2", *FILE, "--locality", "network")
    assert network["points"][0]["time_s"] == pytest.approx(4 * (1.5e-6 + 4 / 10e9))
    slow = asked(run, "--ranks", "2", *FILE, "--locality", "network", "--where", "variant=tcp")
    assert slow["points"][0]["time_s"] == pytest.approx(4 * (12e-6 + 4 / 1e9))


def test_a_system_says_where_the_ring_crosses(run: Run) -> None:
    # ORFEO's EPYC nodes have 128 cores in two packages.
    inside, across = (
        asked(run, "--ranks", ranks, *FILE, "--system", "orfeo-epyc", "--mapping", "core")
        for ranks in ("64", "129")
    )
    assert "network" not in inside["links"]
    assert inside["points"][0]["time_s"] == pytest.approx(2 * 64 * (0.2e-6 + 4 / 10e9))
    assert "network" in across["links"]
    assert across["points"][0]["time_s"] == pytest.approx(2 * 129 * (1.5e-6 + 4 / 10e9))


def test_text_has_the_formula_and_a_row_for_each_number(run: Run) -> None:
    code, out, err = run("--ranks", "1-2", *FILE)
    assert (code, err) == (0, "")
    assert "ring, sendrecv — slowest-link: t(P) = 2P (λ + n/b)" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["1", *["—"] * 4] in rows
    assert "PingPing was not measured" in out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "needs --ranks"),
        (["--ranks", "1-65537", *SOCKETS], "65537 is none of 1 to 65536"),
        (["--ranks", "1-60000", *SOCKETS], "processes in all, more than"),
        (["--ranks", "4", *SOCKETS, "--exchange", "smoke"], "unknown --exchange 'smoke'"),
        (["--ranks", "4", *SOCKETS, "--model", "guess"], "unknown --model 'guess'"),
        (["--ranks", "4", "--link", "fast"], "fast"),
        (["--ranks", "4", "--link", "-1us"], "-1us"),
        (["--ranks", "4", "--link", "1us,0MB/s"], "'0MB/s' moves nothing"),
        (["--ranks", "4", "--link", "1us,1e-300B/s"], "too little"),
        (["--ranks", "4", "--link", "1GB/s"], "--link needs a latency"),
        (["--ranks", "4", "--link", "1us:2"], "is no link"),
        (["--ranks", "4", "--link", "1us:2:1GB/s"], "--link needs a latency"),
        (["--ranks", "4", "--link", "1us:0:2us"], "domain of 0 ranks"),
        (["--ranks", "4", *SOCKETS, *FILE], "--machine means nothing with --link"),
        (["--ranks", "4", *SOCKETS, "--locality", "node"], "--locality means nothing with --link"),
        (["--ranks", "4", *SOCKETS, "--system", "orfeo-epyc"], "--system means nothing with --link"),
        (["--ranks", "4", *FILE, "--mapping", "core"], "need --system"),
        (["--ranks", "4", *FILE, "--system", "atlantis"], "no system 'atlantis'"),
        (["--ranks", "4", *FILE, "--system", "orfeo-epyc", "--locality", "node"], "means nothing with --system"),
        (["--ranks", "4", *FILE, "--locality", "rack"], "unknown --locality 'rack'"),
        (["--ranks", "4"], "machine.json"),
    ],
)
def test_wrong_requests_are_refused(run: Run, words: list[str], what: str) -> None:
    code, out, _ = run(*words, "--json")
    assert code == 2, out
    assert what in json.loads(out)["error"]["message"]
