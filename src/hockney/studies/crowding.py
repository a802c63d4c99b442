"""Where ranks share cores: what a probe says of waiting there, before a study is planned.

A library that never gives its core away (MPICH 5.0: it calls no `sched_yield`, and has no setting for it) waits
for a time slice of the scheduler in every message: a broadcast among eight ranks on two cores takes 20 to 270 ms.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hockney.campaign import collectives
from hockney.campaign.offer import HANG_S
from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import by_threads, has_more_ranks_than_cores, launches, places
from hockney.campaign.visits_so_far import LEAST_BUDGET_S
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.keys import CollectiveKey
from hockney.runner.launchers.base import MapBy
from hockney.runner.session import LaunchFailed, NoAnswer, Session
from hockney.studies.files import Value
from hockney.units import counted, format_bytes, format_time

ONLY_CHECKS = "only correctness counts, times include waiting for a core"
BEFORE = f"they share cores: a probe of their waiting comes first, and sets the plan and its time; {ONLY_CHECKS}"
PROBED_B = 2
LONGEST_VISIT_S = 15.0
"""No more ranks are probed than those among which the shortest measurement takes so long: a study of hundreds of
points would take hours."""


class Crowding(BaseModel):
    """What ranks that share cores wait for each other, as a probe found it.

    `visit_s`: what the shortest measurement of a broadcast of 2 B takes, by its number of ranks.
    """

    model_config = ConfigDict(extra="forbid")

    ranks: int
    cores: int = Field(description="or hardware threads, each with as many OpenMP threads as a rank has")
    what: Literal["cores", "hardware threads"]
    placements: list[MapBy] = Field(description="at which ranks share them")
    start_s: float = Field(description="until a launch says hello")
    visit_s: dict[int, float]

    def least_s(self, ranks: int) -> float:
        """What a measurement among so many ranks takes at least, in seconds: that of the next number probed."""
        return next((self.visit_s[count] for count in sorted(self.visit_s) if count >= ranks > self.cores), 0.0)

    def at(self, placement: MapBy) -> Crowding | None:
        """The same at a placement; None where each rank has a core, or a hardware thread, of its own."""
        return self if placement in self.placements else None

    @property
    def caution(self) -> str:
        """What times of such ranks say, and what they do not."""
        return (
            f"{self.ranks} ranks share {self.cores} {self.what} here, and wait for them: among more than "
            f"{counted(self.cores, 'rank')}, {ONLY_CHECKS}."
        )

    @property
    def waiting(self) -> str:
        """What the probe found."""
        return f"The {_measurement(self.ranks)} ranks takes {format_time(self.least_s(self.ranks))}."


def crowded(launching: Mapping[str, Value | list[Value] | None], placements: Sequence[MapBy]) -> list[MapBy]:
    """The placements at which a launch of real ranks has more of them than this host has cores or threads."""
    launched = [Launching.model_validate({**launching, "map_by": placement}) for placement in placements]
    return [launch.map_by for launch in launched if launch.mpi != "smpi" and has_more_ranks_than_cores(launch)]


def probed(launching: Mapping[str, Value | list[Value] | None], placements: Sequence[MapBy]) -> Crowding | None:
    """What waiting costs at these crowded placements; None where nothing starts, of which the steps will tell.

    RequestError where ranks wait so long that no study would end, with the number that fits.
    """
    # Of several, at one where more ranks share a core.
    placement = min(placements, key=lambda one: one == "hwthread")
    plan = Plan.model_validate({**launching, "operations": ["bcast"], "map_by": placement})
    cores = max(1, places(plan) // (plan.threads or 1))
    visit_s: dict[int, float] = {}
    with ExitStack() as stack:
        try:
            launch, began_s = launches(plan)[0], time.monotonic()
            session = stack.enter_context(Session(launch.argv, launch.environment, plan.time_limit_s))
        except (EnvironmentLack, LaunchFailed):
            return None
        start_s = time.monotonic() - began_s
        counts = [count for count in collectives.rank_counts(plan) if count > cores]
        too_long = _probe(session, counts, visit_s)
    what: Literal["cores", "hardware threads"] = "hardware threads" if by_threads(plan) else "cores"
    if too_long:
        most = max([cores, *visit_s])
        raise RequestError(
            f"{plan.ranks} ranks cannot share {cores} {what}: {too_long}",
            f"--ranks {most} fits" if most > 1 else "no study fits here",
        )
    return Crowding(
        ranks=plan.ranks, cores=cores, what=what, placements=list(placements), start_s=start_s, visit_s=visit_s
    )


def _probe(session: Session, counts: Iterable[int], visit_s: dict[int, float]) -> str:
    """Fill `visit_s` with the counts that fit; why the first of the others does not, empty where all fit."""
    for count in counts:
        try:
            took_s = _visit_s(session, count)
        except NoAnswer:
            return f"a broadcast of {PROBED_B} B among {count} gave no answer within {HANG_S:.0f} s"
        except LaunchFailed as error:
            return f"among {count}, {error.message}"
        if took_s > LONGEST_VISIT_S:
            return f"the {_measurement(count)} takes {format_time(took_s)}"
        visit_s[count] = took_s
    return ""


def _measurement(ranks: int) -> str:
    return f"shortest measurement of a broadcast of {PROBED_B} B among {ranks}"


def _visit_s(session: Session, ranks: int) -> float:
    key = CollectiveKey("bcast", "default", ranks, 0, 0, 0, "warm", "window")
    began_s = time.monotonic()
    session.collective(
        HANG_S,
        **collectives.request(key, PROBED_B, "default"),
        budget_s=LEAST_BUDGET_S,
        tolerance=1.0,
        least_samples=6,
    )
    return time.monotonic() - began_s


def narrower(plan: Plan, kept_B: Sequence[int] = ()) -> Iterator[tuple[dict[str, str], Plan]]:
    """Options that make a plan of collectives shorter, one after another, each with the plan that comes of all.

    One visit of each point; the smallest and the largest number of ranks; the smallest and the largest size, and
    those of `kept_B`. All algorithms stay: whether each gives the right result is what can be learnt where ranks
    share cores.
    """
    sizes_B, counts = plan.sizes_B, collectives.rank_counts(plan)
    size_ends = [size_B for size_B in sizes_B if size_B in {sizes_B[0], sizes_B[-1], *kept_B}]
    count_ends = sorted({counts[0], counts[-1]})
    plan = plan.model_copy(update={"visits": 1, "rank_counts": count_ends})
    yield {"visits": "1", "rank-counts": ",".join(map(str, count_ends))}, plan
    if size_ends:
        plan = plan.model_copy(update={"sizes_B": size_ends})
        yield {"bytes": ",".join(format_bytes(size_B).replace(" ", "") for size_B in size_ends)}, plan
