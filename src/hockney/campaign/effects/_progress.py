"""Threads that do the library's work while a rank computes: whose they are, and the cores that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hockney.campaign.effects.base import Here

OWN = "HOCKNEY_PROGRESS_THREAD"
"""Asks the runner for a thread of its own beside the rank that computes (cpp/runner/effects/overlap)."""
LIBRARIES = ("MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS")
"""The switches of MPICH, Cray's MPICH and Intel MPI for a thread in each process."""
OFF = ("", "0", "no", "off", "disable", "false")

Place = Mapping[str, Any]


def is_on(here: Here, *switches: str) -> bool:
    """Whether the launch's environment sets one of these to something other than 0."""
    return any(here.environment.get(name, "0").lower() not in OFF for name in switches)


def library_threads(here: Here) -> str:
    """Why the library's progress threads have no cores to themselves; empty where there are none, or they have.

    Each runs on the processors of its own rank, so those must be two cores at least, and of all ranks of a host
    two for each.
    """
    if not is_on(here, *LIBRARIES):
        return ""
    for host in {str(place["host"]) for place in here.ranks}:
        mine = _of_host(here, host)
        for place in mine:
            if _cores(mine, place["affinity"]) < 2:
                return (
                    f"rank {place['rank']} is bound to one core, which its progress thread would share; measure "
                    "with --bind-to none"
                )
        cores = _cores(mine, {cpu for place in mine for cpu in place["affinity"]})
        if 2 * len(mine) > cores:
            return (
                f"no core is left for progress threads: {len(mine)} ranks with one each on the {cores} cores "
                f"that they may use of {host}; measure fewer ranks"
            )
    return ""


def own_thread(here: Here, rank: int) -> tuple[list[int], str]:
    """Processors for a thread of the runner beside this rank, or why there are none.

    Of a rank that is bound to one core: others that share a cache with it and belong to no rank. Of one that may
    use several: these, where the ranks of its host leave one of them.
    """
    place = next(one for one in here.ranks if int(one["rank"]) == rank)
    mine = _of_host(here, str(place["host"]))
    taken = {cpu for one in mine for cpu in (*one["affinity"], *one["siblings"])}
    if _cores(mine, place["affinity"]) > 1:
        if _cores(mine, taken) > len(mine):
            return sorted(place["affinity"]), ""
        return [], f"no core is left for a progress thread beside the {len(mine)} ranks of {place['host']}"
    free = {cpu for cache in place["caches"] for cpu in cache["shared"]} - taken
    if free:
        return sorted(free), ""
    return [], f"no core that shares a cache with rank {rank} is free for a progress thread; measure fewer ranks"


def _of_host(here: Here, host: str) -> list[Place]:
    return [place for place in here.ranks if place["host"] == host]


def _cores(places: Sequence[Place], cpus: Iterable[int]) -> int:
    """How many cores these processors are, all cores having as many hardware threads as those of the ranks."""
    width = max((len(place["siblings"]) for place in places), default=1) or 1
    return len(set(cpus)) // width
