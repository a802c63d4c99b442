"""How much of a transfer proceeds while its host computes: both sides, a few sizes, with and without MPI_Test."""

from __future__ import annotations

from hockney.campaign.effects.base import Asking, Here, NotMeasurable, Question, effects

SIZES_B = (8, 256, 1024, 4096, 16 * 1024, 64 * 1024, 256 * 1024, 1024**2, 4 * 1024**2)
FACTOR = 2.0
"""Computation lasts this many times the transfer: whatever can proceed has done so."""
TESTS = 8
SHARE = 0.25
"""Of a point's time for each of the four ways to measure a size."""
REPETITIONS = 101
NOTHING_PLANTED = {"planted_call_s": 0, "planted_byte_s": 0, "planted_transfer_s": 0, "planted_share": 0}


@effects.register("overlap")
def ask(here: Here) -> Asking:
    """One pair of each locality; nothing where the ranks share cores, as one's computation stops the other."""
    for locality, a, b in here.pairs:
        if here.oversubscribed:
            yield NotMeasurable(f"computation of one rank stops the other ({here.oversubscribed})", locality)
            continue
        for size_B in (size for size in SIZES_B if size <= here.largest_B):
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
        yield NotMeasurable("MPI_Test in a simulation takes the time that the simulator is told to charge")
