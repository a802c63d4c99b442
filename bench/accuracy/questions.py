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


def _sample(operation: str, among: str = CALM, seeds: tuple[int, ...] = SEEDS, **more: object) -> Question:
    drawn = "sample(0.05, seed={seed})"
    return _orfeo(
        operation,
        f"{drawn} and ranks <= 254 and ({among})",
        f"not {drawn} and {JUDGES} and ranks <= 254 and ({among})",
        seeds=seeds,
        **more,
    )


def _pico(system: str, operation: str, train: str, test: str) -> Question:
    """One rank per node; of PICO's tables other ranks per node have no run to learn from."""
    chosen = f'system == "{system}" and mapping == "node"'
    return Question(
        "pico/tidy.csv.gz",
        operation,
        f"{chosen} and {train}",
        f"{chosen} and {test}",
        system=system,
        statistic="max_over_ranks",
    )


WITHIN: dict[str, Question] = {
    **{f"{operation} 5 %": _sample(operation) for operation in ("bcast", "reduce")},
    **{
        f"{operation} 5 %, all": _sample(operation, SPREAD, (1,), parts=PARTS)
        for operation in ("bcast", "reduce")
    },
}
"""Inside the range of training: ten splits each; of all points, with those that differ by a factor of 50, one."""

BEYOND: dict[str, Question] = {
    f"{operation} {name}": _orfeo(
        operation,
        f"ranks <= {few} and {SPREAD}",
        f"{JUDGES} and ranks > {few} and ranks <= {many} and {SPREAD}",
        parts=PARTS if many > 126 else {},
    )
    for operation in ("bcast", "reduce")
    for name, few, many in (("32 to 64", 32, 64), ("64 to 254", 64, 254), ("one node to two", 128, 254))
}
"""Beyond the range of training, one fit each."""

ELSEWHERE: dict[str, Question] = {
    **{
        f"marenostrum5 {operation} 32 to 60": _pico("marenostrum5", operation, "ranks == 32", "ranks == 60")
        for operation in ("allgather", "allreduce")
    },
    "marenostrum5 reduce_scatter 32 and 60 to 64": _pico(
        "marenostrum5", "reduce_scatter", "ranks <= 60", "ranks == 64"
    ),
    "marenostrum5 reduce_scatter 32 and 64 to 60": _pico(
        "marenostrum5", "reduce_scatter", "ranks != 60", "ranks == 60"
    ),
    **{
        f"fugaku {operation} 8 and 64 to 512": _pico("fugaku", operation, "ranks <= 64", "ranks == 512")
        for operation in ("allgather", "allreduce", "bcast", "reduce", "reduce_scatter")
    },
}
"""Systems on which no constant was chosen: a number of ranks is held out."""

QUESTIONS: dict[str, Question] = {**WITHIN, **BEYOND, **ELSEWHERE}

PAIRS = {"IMB and OSU": "stackhpc/alaska", "OSU": "orfeo-epyc/tidy.csv.gz"}
"""Ping-pongs: every second size is held out, and half of the inner sizes at random."""
