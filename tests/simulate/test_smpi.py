"""Beside SimGrid's SMPI, which runs our runner on a simulated network: the same schedules, two simulators.

The platform is one wire of 2 µs and 10 GB/s that no two messages share (FATPIPE), so that nothing contends;
SMPI's factors that bend latency and bandwidth by size are set to 1, and TCP's and cross traffic's influence to
none. Overheads are SMPI's own: `smpi/os` and `smpi/ois` of sends, `smpi/or` of receives. All messages are eager
on both sides: `smpi/async-small-thresh` (the data goes before the receive is posted) and
`smpi/send-is-detached-thresh` (the sender does not wait for it) are above every size. In these terms a message
is o_s + L + m/B + o_r, and ports take no time, because SMPI knows no gap.

1 %: the runner times with `MPI_Wtime`, and each call of SMPI's clock and tests takes 10 ns of simulated time,
of which a completion has a few (0.02 to 0.05 µs of at least 6 µs).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.command_line import answer, succeeded
from tests.factories import written

from hockney import _core
from hockney._core import CostCurves, Network
from hockney.predict.costs import NOTHING, TERMS, protocols
from hockney.records import table
from hockney.schedule.catalogue import ask

RANKS = 16
LATENCY_US, SEND_US, RECEIVE_US, US_PER_B = 2.0, 1.0, 0.5, 1e-4
SETTINGS = {
    "smpi/bw-factor": "0:1",
    "smpi/lat-factor": "0:1",
    "network/TCP-gamma": "0",
    "network/weight-S": "0",
    "network/crosstraffic": "0",
    "smpi/os": f"0:{SEND_US}e-6:0",
    "smpi/ois": f"0:{SEND_US}e-6:0",
    "smpi/or": f"0:{RECEIVE_US}e-6:0",
    "smpi/async-small-thresh": "1000000000",
    "smpi/send-is-detached-thresh": "1000000000",
}
LATER_BY_A_RECEIVE = {("allreduce", "circulant", 5, 8)}
"""Here SMPI is one o_r later, 3 %; two receives that are waited for together come in the other order."""


def platform(path: Path) -> Path:
    hosts = "".join(f'<host id="node-{rank}" speed="10Gf"/>' for rank in range(RANKS))
    routes = "".join(
        f'<route src="node-{a}" dst="node-{b}"><link_ctn id="wire"/></route>'
        for a in range(RANKS)
        for b in range(a + 1, RANKS)
    )
    bandwidth = f'bandwidth="{1 / US_PER_B}MBps" latency="{LATENCY_US}us" sharing_policy="FATPIPE"'
    path.write_text(
        "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
        f'<platform version="4.1"><zone id="flat" routing="Full">{hosts}<link id="wire" {bandwidth}/>{routes}'
        "</zone></platform>",
        encoding="utf-8",
    )
    return path


def simulated_us(collective: str, algorithm: str, ranks: int, size_B: int) -> float:
    of_term = {
        "send": ([0.0], [SEND_US]),
        "receive": ([0.0], [RECEIVE_US]),
        "transfer": ([0.0, 1.0], [LATENCY_US, LATENCY_US + US_PER_B]),
        "handshake": protocols(),
    }

    costs = CostCurves([[of_term.get(term, NOTHING) for term in TERMS]], NOTHING, NOTHING)
    asked = ask(collective, algorithm, ranks=ranks, size_B=size_B)
    phase = (collective, algorithm, asked.problem)
    network = Network(node_of_rank=[])
    result = _core.simulate([phase], costs, levels=np.zeros((0, 0), np.int32), network=network)
    return float(result.finish_s.max())


@pytest.mark.simulated
def test_smpi_simulates_the_same_times(tmp_path: Path) -> None:
    variant = "exact: " + " ".join(f"--cfg={name}:{value}" for name, value in SETTINGS.items())
    asked = ["--operation", "bcast,allreduce,allgather,barrier,scatter", "--algorithm", "ours"]
    words = ["--rank-counts", "5,16", "--bytes", "8,64KiB", "--variant", variant, "--ranks", str(RANKS)]
    where = ["--mpi", f"smpi:{platform(tmp_path / 'flat.xml')}", "-o", str(tmp_path / "c")]
    assert answer("measure", *asked, *words, *where)["failures"] == []
    frame = table.load(tmp_path / "c")
    rows = frame[frame["statistic"] == "completion"]
    assert len(rows) > 100
    apart: dict[tuple[str, str, int, int], tuple[float, float]] = {}
    for _, row in rows.iterrows():
        case = (str(row["operation"]), str(row["algorithm"]), int(row["ranks"]), int(row["bytes"]))
        ours_us = simulated_us(*case)
        later_us = RECEIVE_US if case in LATER_BY_A_RECEIVE else 0.0
        if 1e6 * float(row["time_s"]) != pytest.approx(ours_us + later_us, rel=0.01):
            apart[case] = (1e6 * float(row["time_s"]), ours_us)
    assert apart == {}


SWITCH = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" radical="0-7" suffix="" speed="10Gf" bw="1GBps" lat="1us"/>
</platform>
"""
PIECE_B = 128 * 1024
"""SMPI's senders wait from 64 KiB on. Open MPI's pipeline there cuts 1 MiB so on 3 ranks, and 4 MiB on 8."""


@pytest.mark.simulated
def test_a_pipeline_of_calls_that_block_takes_as_many_rounds_as_are_counted(tmp_path: Path) -> None:
    """2 (S − 1) + P − 1 messages one after another; Open MPI's, which receives ahead, takes S + P − 2."""
    flat = written(tmp_path / "switch.xml", SWITCH)
    variant = "alone: --cfg=smpi/bcast:ompi_pipeline --cfg=network/crosstraffic:0"
    asked = ["--operation", "bcast", "--algorithm", "default,blocking_pipeline", "--segment", str(PIECE_B)]
    words = ["--rank-counts", "3,8", "--bytes", "128KiB,512KiB,1MiB,4MiB", "--variant", variant, "--ranks", "8"]
    where = ["--mpi", f"smpi:{flat}", "-o", str(tmp_path / "c")]
    succeeded("measure", *asked, *words, *where, "--json")
    frame = table.load(tmp_path / "c")
    rows = frame[frame["statistic"] == "completion"]
    time_s = {
        (str(row["algorithm"]), int(row["ranks"]), int(row["bytes"]) // PIECE_B): float(row["time_s"])
        for _, row in rows.iterrows()
    }
    round_s = time_s["blocking_pipeline", 8, 1] / 7
    for ranks in (3, 8):
        for pieces in (1, 4, 8, 32):
            rounds = 2 * (pieces - 1) + ranks - 1
            # The start of a measurement costs a fraction of a microsecond, a round 163 µs.
            assert time_s["blocking_pipeline", ranks, pieces] == pytest.approx(rounds * round_s, rel=0.005)
    for ranks, pieces in ((3, 8), (3, 32), (8, 32)):
        assert time_s["default", ranks, pieces] == pytest.approx((pieces + ranks - 2) * round_s, rel=0.005)
