"""Speaks the runner's protocol without MPI; its behaviour is chosen by argument, for tests of what can go wrong.

argv: KIND [AFTER], misbehaving at the AFTER-th point. Kinds: good, dies, hangs, garbage, refuses, silent, chatty,
shares, stillborn, once (starts where there is no file AFTER, and makes it), drifts (twice as slow until the
AFTER-th point), rises (twice as slow from there on), late FILE LAUNCHES (twice as slow in so many launches, which
the file counts; −n: in all but the first n), flips (every other point of AFTER bytes or more takes 1.4 times as
long, its references do not), vanishes SIZE VISITS [POINT] (so many visits of that size give no time; dies at that
point), stubborn (has a process in a session of its own that only SIGKILL ends, and does not end with its asker).
Its collectives `deadly`, `wrong` and `choosy` do what their names say; `stepped` has a jump at 40 ranks.
HOCKNEY_FAKE_RANKS: how many ranks there are.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def say(answer: dict[str, object]) -> None:
    """One answer line, as the C++ runner writes it."""
    print("@hockney " + json.dumps(answer), flush=True)


def hello() -> dict[str, object]:
    """Two ranks that share a cache."""
    count = int(os.environ.get("HOCKNEY_FAKE_RANKS", "2"))
    ranks = [
        {"rank": rank, "host": "h", "machine": "m", "cpu": rank, "affinity": [rank]} for rank in range(count)
    ]
    operations = [
        {"name": "bandwidth", "largest_B": 0, "windowed": True},
        {"name": "pingpong", "largest_B": 0, "windowed": False},
        {"name": "send_overhead", "largest_B": 64, "windowed": False},
    ]
    return {
        "type": "hello",
        "protocol": 1,
        "library": "Fake MPI 1",
        "standard": "4.0",
        "operations": operations,
        "algorithms": [
            {"operation": operation, "algorithm": name, "kind": kind, "segmented": segmented, "radix": 0}
            for operation in ("bcast", "allreduce", "barrier")
            for name, kind, segmented in (
                ("default", "default", False),
                ("binomial", "schedule", False),
                ("pipeline", "schedule", True),
                ("stepped", "schedule", False),
                ("lib:linear", "library", False),
                ("lib:choosy", "library", False),
                ("lib:wrong", "library", False),
                ("lib:deadly", "library", False),
            )
        ],
        "effects": ["probe", "second"],
        "mpi_t": True,
        "settings": {},
        "ranks": ranks,
        "clock_granularity_s": 1e-9,
    }


def measurement(request: dict[str, str], slower: float, unseen: float) -> dict[str, object]:
    """Latency 1 µs, 10 GB/s, 3 µs more above 4 KiB; all of it `slower` times, and `unseen` by its references."""
    size = int(request["bytes"])
    time_s = slower * unseen * (1e-6 + size / 1e10 + (3e-6 if size > 4096 else 0))
    return {
        "type": "measurement",
        "median_s": time_s,
        "low_s": time_s * 0.995,
        "high_s": time_s * 1.005,
        "quantiles_s": {"0.05": time_s * 0.99},
        "samples_s": [time_s] * 10,
        "reference_s": [abs(slower) * 0.16e-6] * 3,
        "reference_iqr_s": [abs(slower) * 0.002e-6] * 3,
        "group_begins": [0, 5],
        "references_took_s": 1e-4,
        "disturbed_at": [3],
        "batch": 7,
        "stop": "interval",
        "verified": True,
        "elapsed_s": 0.01,
        "same_cpu": 10 if sys.argv[1] == "shares" else 0,
    }


def collective(request: dict[str, str]) -> dict[str, object]:
    """1 µs a rank and 1 ns a byte; the misbehaving ones as their names say."""
    name, ranks, size = request["algorithm"], int(request["ranks"]), int(request["bytes"])
    if name == "lib:deadly":
        os._exit(9)
    if name == "lib:choosy":
        return {"type": "refused", "reason": "constraint", "message": f"lib:choosy refuses {ranks} ranks"}
    time_s = 1e-6 * ranks + 1e-9 * size + (40e-6 if name == "stepped" and ranks > 40 else 0)
    return {
        "type": "measurement",
        "median_s": time_s,
        "low_s": time_s * 0.995,
        "high_s": time_s * 1.005,
        "quantiles_s": {"0.05": time_s * 0.99},
        "samples_s": [time_s] * 10,
        "disturbed_at": [],
        "mean_over_ranks_s": time_s * 0.7,
        "min_over_ranks_s": time_s * 0.5,
        "max_over_ranks_s": time_s * 0.9,
        "clock_error_s": 1e-8,
        "late": 1,
        "batch": 1,
        "stop": "interval",
        "verified": name != "lib:wrong",
        "proved": name == "lib:linear",
        "elapsed_s": 0.001,
        "same_cpu": 0,
    }


def effect(request: dict[str, str]) -> dict[str, object]:
    """1 µs a number; numbers from 100 misbehave in turn, those from 1000 all like 100; 99 is slow, 98 hangs."""
    number = int(request["number"])
    if number == 100 or number >= 1000:
        os._exit(9)
    if number == 98:
        time.sleep(600)
    if number == 99:
        time.sleep(4)
    if number == 101:
        return {"type": "refused", "reason": "memory", "needed_B": 4e9, "available_B": 1e9}
    if number == 102:
        return {"type": "refused", "reason": "constraint", "message": "no such number"}
    return {"type": "record", "time_s": 1e-6 * number, "verified": number != 103}


def _leave_an_orphan() -> None:
    """A process without a parent, in a session of its own, that does not listen to SIGTERM."""
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    os.wait()


def main() -> bool:
    """Serve requests until told to quit, or misbehave; whether it was told."""
    kind = sys.argv[1]
    after = int(sys.argv[2]) if len(sys.argv) > 2 and kind not in ("once", "late") else 0
    if kind == "silent":
        time.sleep(600)
    if kind == "once" and Path(sys.argv[2]).exists():
        print("mpirun: error: gone", file=sys.stderr)
        sys.exit(213)
    if kind == "once":
        Path(sys.argv[2]).touch()
    if kind == "stubborn":
        _leave_an_orphan()
    if kind == "stillborn":
        print("mpirun: error: not enough slots available", file=sys.stderr)
        sys.exit(213)
    is_late = False
    if kind == "late":
        with Path(sys.argv[2]).open("a+") as launches:
            launches.write("launch\n")
            launches.seek(0)
            count, slow = len(launches.readlines()), int(sys.argv[3])
        is_late = count <= slow if slow >= 0 else count > -slow
    say(hello())
    gone = int(sys.argv[3]) if kind == "vanishes" else 0
    fatal = int(sys.argv[4]) if len(sys.argv) > 4 else -1
    for number, line in enumerate(sys.stdin):
        if line.strip() == "quit":
            return True
        words = dict(word.split("=", 1) for word in line.split()[1:])
        if kind == "chatty":
            print("[n1:123] warning from the library", flush=True)
        if (number == after and kind == "dies") or number == fatal:
            os._exit(9)
        if number == after and kind == "hangs":
            time.sleep(600)
        if number == after and kind == "garbage":
            print("@hockney {not json", flush=True)
            continue
        if line.startswith("effect"):
            say(effect(words))
            continue
        if line.startswith("collective"):
            time.sleep(0.001)
            say(collective(words))
            continue
        if kind == "refuses" and int(words["bytes"]) > 1000:
            say({"type": "refused", "reason": "memory", "needed_B": 4e9, "available_B": 1e9})
            continue
        if gone > 0 and int(words["bytes"]) == after:
            gone -= 1
            say(measurement(words, -1.0, 1.0))
            continue
        is_slow = is_late or (kind == "drifts" and number < after) or (kind == "rises" and number >= after)
        slower = 2.0 if is_slow else 1.0
        flips = kind == "flips" and int(words["bytes"]) >= after and number % 2
        say(measurement(words, slower, 1.4 if flips else 1.0))
    return False


is_told = False
try:
    is_told = main()
finally:
    # At the end of the input, or where nobody reads the answers.
    if sys.argv[1] == "stubborn" and not is_told:
        time.sleep(600)
