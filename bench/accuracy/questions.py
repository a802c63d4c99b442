"""Which points of published tables are learned from, and which judge.

Every question is asked of `hockney evaluate` as it stands, with all of its baselines. Splits at random have the
seeds 1 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SEEDS = tuple(range(1, 11))
CALM = 'mapping in ["core", "node"] or (mapping == "socket" and ranks <= 126)'
"""Without the points of `orfeo-epyc` whose repetitions differ by a factor of 50: see the page."""
SPREAD = 'mapping in ["core", "socket", "node"]'
JUDGES = "sample(0.1, seed=100)"
"""Of up to 20,000 points left these judge: all of them would take most of the time."""
PARTS = {
    'without "socket" above 126 ranks': CALM,
    **{f'"{mapping}" alone': f'mapping == "{mapping}"' for mapping in ("core", "node")},
}


@dataclass(frozen=True)
class Question:
    """A split of a collective of a table: `{seed}` in expressions is replaced; `parts` are judged apart, too."""

    table: str
    operation: str
    train: str
    test: str
    system: str = ""
    statistic: str = ""
    seeds: tuple[int, ...] = (1,)
    parts: Mapping[str, str] = field(default_factory=dict)


def _orfeo(operation: str, train: str, test: str, **more: object) -> Question:
    fixed = {"system": "orfeo-epyc", "statistic": "mean_over_ranks"}
    return Question("orfeo-epyc/tidy.csv.gz", operation, train, test, **fixed, **more)  # type: ignore[arg-type]


def _sample(operation: str, among: str, seeds: tuple[int, ...] = SEEDS, **more: object) -> Question:
    drawn = "sample(0.05, seed={seed})"
    return _orfeo(
        operation,
        f"{drawn} and ranks <= 254 and ({among})",
        f"not {drawn} and {JUDGES} and ranks <= 254 and ({among})",
        seeds=seeds,
        **more,
    )


def _pico(system: str, operation: str) -> Question:
    drawn = "sample(0.3, seed={seed})"
    chosen = f'system == "{system}"'
    return Question(
        "pico/tidy.csv.gz",
        operation,
        f"{chosen} and {drawn}",
        f"{chosen} and not {drawn}",
        system=system,
        statistic="max_over_ranks",
        seeds=SEEDS,
    )


QUESTIONS: dict[str, Question] = {
    **{f"{operation} 5 %": _sample(operation, CALM) for operation in ("bcast", "reduce")},
    **{
        f"{operation} {name}": _orfeo(
            operation,
            f"ranks <= {few} and {SPREAD}",
            f"{JUDGES} and ranks > {few} and ranks <= {many} and {SPREAD}",
            parts=PARTS if many > 126 else {},
        )
        for operation in ("bcast", "reduce")
        for name, few, many in (("32 to 64", 32, 64), ("64 to 254", 64, 254), ("one node to two", 128, 254))
    },
    **{
        f"{operation} 5 %, all": _sample(operation, SPREAD, (1,), parts=PARTS)
        for operation in ("bcast", "reduce")
    },
    **{
        f"{operation} marenostrum5": _pico("marenostrum5", operation)
        for operation in ("bcast", "reduce", "allreduce", "allgather", "alltoall")
    },
}

PAIRS = {"IMB and OSU": "stackhpc/alaska", "OSU": "orfeo-epyc/tidy.csv.gz"}
"""Ping-pongs: every second size is held out, and half of the inner sizes at random."""
