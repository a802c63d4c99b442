"""How much of a transfer proceeds while its host computes: both sides, a few sizes, with and without MPI_Test."""

from __future__ import annotations

from collections import Counter

from hockney.campaign.effects.base import Asking, Here, NotMeasurable, Question, effects

SIZES_B = (8, 256, 1024, 4096, 16 * 1024, 64 * 1024, 256 * 1024, 1024**2, 4 * 1024**2)
FACTOR = 2.0
"""Computation lasts this many times the transfer: whatever can proceed has done so."""
TESTS = 8
SHARE = 0.25
"""Of a point's time for each of the four ways to measure a size."""
REPETITIONS = 101
NOTHING_PLANTED = {"planted_call_s": 0, "planted_byte_s": 0, "planted_transfer_s": 0, "planted_share": 0}


PROGRESS_THREADS = "MPIR_CVAR_ASYNC_PROGRESS"
"""MPICH's switch for a thread of each process that does the library's work."""


def without_core(here: Here) -> str:
    """Why progress threads have no cores to themselves; empty where there are none, or they have."""
    if here.settings.get(PROGRESS_THREADS, "0") in ("", "0"):
        return ""
    for host, ranks in Counter(place["host"] for place in here.ranks).items():
        cpus = next(int(place["cpus"]) for place in here.ranks if place["host"] == host)
        if 2 * ranks > cpus:
            return (
                f"no core is left for progress threads: {ranks} ranks with one each on the {cpus} cores of {host}"
            )
    return ""


@effects.register("overlap")
def ask(here: Here) -> Asking:
    """One pair of each locality; nothing where the ranks share cores, as one's computation stops the other."""
    for locality, a, b in here.pairs:
        if here.oversubscribed:
            yield NotMeasurable(f"computation of one rank stops the other ({here.oversubscribed})", locality)
            continue
        if no_core := without_core(here):
            yield NotMeasurable(no_core, locality)
            continue
        for size_B in [size for size in SIZES_B if size <= here.largest_B] or [here.largest_B]:
            for side in ("sender", "receiver"):
                for tests in (0,) if here.simulated else (0, TESTS):
                    parameters = {
                        "bytes": size_B,
                        "side": side,
                        "tests": tests,
                        "factor": FACTOR,
                        "repetitions": here.least_samples if here.simulated else REPETITIONS,
                        "least_samples": here.least_samples,
                        "budget_s": SHARE * here.budget_s,
                        **NOTHING_PLANTED,
                    }
                    yield Question((a, b), parameters, locality)
        if here.simulated:
            why = "MPI_Test in a simulation takes the time that the simulator is told to charge"
            yield NotMeasurable(why, locality)
