"""How much of a transfer proceeds while its host computes: both sides, a few sizes, with and without MPI_Test."""

from __future__ import annotations

from hockney.campaign.effects._progress import (
    OWN,
    is_threaded,
    library_threads,
    own_thread,
    wants_own_thread,
)
from hockney.campaign.effects.base import Here, NotMeasurable, Question, Questions, effects

SIZES_B = (8, 256, 1024, 4096, 16 * 1024, 64 * 1024, 256 * 1024, 1024**2, 4 * 1024**2)
FACTOR = 2.0
"""Computation lasts this many times the transfer: whatever can proceed has done so."""
TESTS = 8
SHARE = 0.25
"""Share of a point's time for each of the four ways to measure a size."""
REPETITIONS = 101
NOTHING_PLANTED = {"planted_call_s": 0, "planted_byte_s": 0, "planted_transfer_s": 0, "planted_share": 0}


@effects.register("overlap")
def ask(here: Here) -> Questions:
    """One pair of each locality; nothing where the ranks share cores, as one's computation stops the other."""
    for locality, a, b in here.pairs:
        if here.oversubscribed:
            yield NotMeasurable(f"computation of one rank stops the other ({here.oversubscribed})", locality)
            continue
        cpus, why = _thread(here, a)
        if why:
            yield NotMeasurable(why, locality)
            continue
        # A key that only questions with a thread have: the others are those of campaigns that knew of none.
        thread = {"thread_cpus": ",".join(map(str, cpus))} if cpus else {}
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
                        **thread,
                    }
                    yield Question((a, b), parameters, locality)
        if here.simulated:
            why = "a simulator charges for MPI_Test what its options say"
            yield NotMeasurable(why, locality)
        elif not is_threaded(here, a):
            why = own_thread(here, a)[1] or f"ask for it in a launch of its own, --variant 'thread: {OWN}=1'"
            yield NotMeasurable(f"with a progress thread: {why}", locality)


def _thread(here: Here, rank: int) -> tuple[list[int], str]:
    """Processors of the thread beside this rank, none where the launch wants none; or why it cannot be had."""
    if not wants_own_thread(here, rank):
        return [], library_threads(here)
    if here.simulated:
        return [], "a simulated process has no second thread"
    return own_thread(here, rank)
