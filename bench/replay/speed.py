"""Time and memory of a replay by the number of events: a stencil of 64 ranks, each rank's iteration the same bytes.

An iteration of a rank has ten events: it receives from four neighbours and sends to them, waits for all, and adds
up 8 B with all ranks. `python bench/replay/speed.py` prints a row for 10⁵, 10⁶ and 10⁷ events, each in a process of
its own, and the growth from the first to the last.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.predict.replay.encoding import RankTrace

SIDE = 8
EVENTS = (100_000, 1_000_000, 10_000_000)
MOST_S, MOST_B, MOST_GROWTH = 10.0, 1.5e9, 1.3
"""Of 10⁷ events on one core, and beyond growth in proportion."""


def written(folder: Path, events: int) -> None:
    ranks = SIDE * SIDE
    for rank in range(ranks):
        one = RankTrace(rank, ranks)
        one.event(31, b"\0")  # names the call site
        before = one.events
        x, y = rank % SIDE, rank // SIDE
        near = [(x + dx) % SIDE + SIDE * ((y + dy) % SIDE) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        requests = []
        one.compute(1e-4)
        for tag, peer in enumerate(near):
            requests.append(one.irecv(peer, 4096, tag ^ 1))
        for tag, peer in enumerate(near):
            requests.append(one.isend(peer, 4096, tag))
        one.wait(*requests)
        one.collective("allreduce", 8, element_B=8)
        iteration, one.events = one.events[len(before) :], before
        with (folder / f"{rank}.events").open("wb") as file:
            file.write(one.header() + one.events + iteration * (events // ranks // 10))
            one.events = b""
            one.event(40)
            file.write(one.events)


def replayed(folder: Path) -> dict[str, float]:
    """Processor seconds of reading and looking through, of a replay, and of one with its critical path."""
    import numpy as np

    from hockney import _core
    from hockney.predict.costs import LoggopsParameters
    from hockney.predict.replay.algorithms import Algorithms
    from hockney.predict.replay.recorded import read

    def used_s() -> float:
        of = resource.getrusage(resource.RUSAGE_SELF)
        return of.ru_utime + of.ru_stime

    times, before = {}, used_s()
    run = read(folder)
    times["read_s"], before = used_s() - before, used_s()
    chosen = Algorithms(run.trace.mpi, 1, {}, lambda *_: None)
    replay = _core.Replay(run.trace, [chosen.parts(call) for call in run.calls])
    costs = LoggopsParameters(1e-6, 5e-7, 5e-7, 1e-10, rendezvous_above_B=1 << 16).at([0]).curves()
    around = {"levels": np.zeros((0, 0), np.int32), "network": _core.Network(node_of_rank=[])}
    for name, traced in (("replay_s", False), ("traced_s", True)):
        before = used_s()
        result = _core.simulate([replay], costs, trace=traced, **around)  # type: ignore[arg-type]
        times[name] = used_s() - before
        times[f"{name[:-2]}_B"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return times | {"events": run.events, "messages": result.messages, "run_s": float(result.finish_s.max())}


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for events in EVENTS:
            folder = Path(name) / str(events)
            folder.mkdir()
            written(folder, events)
            done = subprocess.run([sys.executable, __file__, str(folder)], capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout))
            print(json.dumps(rows[-1]))
    first, last = rows[0], rows[-1]
    growth = (last["replay_s"] / last["events"]) / (first["replay_s"] / first["events"])
    print(f"growth beyond proportion: {growth:.2f} (at most {MOST_GROWTH})")
    whole_s = last["read_s"] + last["replay_s"]
    print(f"10⁷ events: {whole_s:.1f} s (at most {MOST_S}), {last['replay_B'] / 1e9:.2f} GB (at most {MOST_B / 1e9})")


if __name__ == "__main__":
    print(json.dumps(replayed(Path(sys.argv[1])))) if len(sys.argv) > 1 else main()
