"""Where ranks share cores: what a probe says of waiting there, before a study is planned.

A library that never gives its core away (MPICH 5.0: it calls no `sched_yield`, and has no setting for it) waits
for a time slice of the scheduler in every message: a broadcast among eight ranks on two cores takes 20 to 270 ms.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from hockney.campaign import collectives
from hockney.campaign.measure import LEAST_BUDGET_S
from hockney.campaign.offer import HANG_S
from hockney.campaign.plan import Launching, Plan
from hockney.campaign.prepare import has_more_ranks_than_cores, launches
from hockney.errors import EnvironmentLack, RequestError
from hockney.records.keys import CollectiveKey
from hockney.runner.inventory import inventory
from hockney.runner.session import LaunchFailed, Session
from hockney.units import format_bytes, format_time

BEFORE = (
    "they share cores: a probe of what they wait comes first, and the plan and its time follow from it; "
    "their times say that results are right, not what anything takes"
)
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
    cores: int
    start_s: float = Field(description="until a launch says hello")
    visit_s: dict[int, float]

    def least_s(self, ranks: int) -> float:
        """What a measurement among so many ranks takes at least, in seconds: that of the next number probed."""
        return next((self.visit_s[count] for count in sorted(self.visit_s) if count >= ranks > self.cores), 0.0)

    @property
    def caution(self) -> str:
        """What times of such ranks say, and what they do not."""
        return (
            f"{self.ranks} ranks share {self.cores} cores here, and wait for them: times among more than "
            f"{self.cores} ranks say that results are right, not what a message, an algorithm or a program takes."
        )

    @property
    def waiting(self) -> str:
        """What the probe found."""
        return (
            f"The shortest measurement of a broadcast of {PROBED_B} B among {self.ranks} ranks takes "
            f"{format_time(self.least_s(self.ranks))}."
        )


def shares_cores(launching: Mapping[str, Any]) -> bool:
    """Whether a launch has more ranks than this host has cores, and is of real ones."""
    given = Launching.model_validate(launching)
    return given.mpi != "smpi" and has_more_ranks_than_cores(given)


def probed(launching: Mapping[str, Any]) -> Crowding | None:
    """What waiting costs among ranks that share cores; None where nothing starts, of which the steps will tell.

    RequestError where ranks wait so long that no study would end, with the number that fits.
    """
    plan = Plan.model_validate({**launching, "operations": ["bcast"]})
    cores = max(1, inventory().cores // (plan.threads or 1))
    visit_s: dict[int, float] = {}
    start_s = 0.0
    try:
        launch, began_s = launches(plan)[0], time.monotonic()
        with Session(launch.argv, launch.environment, plan.time_limit_s) as session:
            start_s = time.monotonic() - began_s
            for count in (count for count in collectives.rank_counts(plan) if count > cores):
                visit_s[count] = _visit_s(session, count)
                if visit_s[count] > LONGEST_VISIT_S:
                    break
    except (EnvironmentLack, LaunchFailed):
        if not visit_s:
            return None
    fitting = [count for count in visit_s if visit_s[count] <= LONGEST_VISIT_S]
    if plan.ranks not in fitting:
        most = max(visit_s)
        raise RequestError(
            f"{plan.ranks} ranks would wait too long for the {cores} cores that they share: among {most} the "
            f"shortest measurement of a broadcast of {PROBED_B} B takes {format_time(visit_s[most])}",
            f"--ranks {max([2, cores, *fitting])} fits",
        )
    return Crowding(ranks=plan.ranks, cores=cores, start_s=start_s, visit_s=visit_s)


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


def narrower(plan: Plan) -> Iterator[tuple[dict[str, object], Plan]]:
    """Options that make a plan of collectives shorter, one after another, each with the plan that comes of all.

    One visit of each point; the smallest and the largest number of ranks; the smallest and the largest size. All
    algorithms stay: whether each gives the right result is what can be learnt where ranks share cores.
    """
    sizes_B, counts = plan.sizes_B, collectives.rank_counts(plan)
    size_ends, count_ends = sorted({*sizes_B[:1], *sizes_B[-1:]}), sorted({counts[0], counts[-1]})
    plan = plan.model_copy(update={"visits": 1, "rank_counts": count_ends})
    yield {"visits": "1", "rank-counts": ",".join(map(str, count_ends))}, plan
    if size_ends:
        plan = plan.model_copy(update={"sizes_B": size_ends})
        yield {"bytes": ",".join(format_bytes(size_B).replace(" ", "") for size_B in size_ends)}, plan
