"""Progress threads, which do the library's work while a rank computes: who starts them, which cores they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.campaign.effects.base import Here
from hockney.records.answers import RankPlace
from hockney.units import counted

OWN = "HOCKNEY_PROGRESS_THREAD"
"""Asks the runner for a thread of its own beside the rank that computes (cpp/runner/effects/overlap)."""


def is_threaded(here: Here, rank: int) -> bool:
    """Whether the runner reports that a progress thread is switched on for this rank."""
    return bool(_place(here, rank).progress_threads)


def wants_own_thread(here: Here, rank: int) -> bool:
    """Whether this rank was started with the runner's own switch on."""
    return OWN in _place(here, rank).progress_threads


def library_threads(here: Here) -> str:
    """Why the library's progress threads lack cores; empty where there are no threads, or enough cores.

    A thread runs on its rank's processors, so a rank needs two cores, and a host one for each rank and thread.
    """
    threaded = [place for place in here.ranks if set(place.progress_threads) - {OWN}]
    for host in sorted({place.host for place in threaded}):
        on_host = _of_host(here, host)
        beside = [place for place in threaded if place.host == host]
        bound = [place for place in beside if _cores(on_host, place.affinity) < 2]
        if bound:
            return (
                f"rank {bound[0].rank} is bound to one core, which its progress thread would share; measure "
                "with --bind-to none"
            )
        cores = _cores(on_host, {cpu for place in on_host for cpu in place.affinity})
        if len(on_host) + len(beside) > cores:
            return (
                f"no core is left for progress threads: {len(on_host)} ranks and {len(beside)} threads on the "
                f"{cores} cores that they may use of {host}; measure fewer ranks"
            )
    return ""


def own_thread(here: Here, rank: int) -> tuple[list[int], str]:
    """Processors for a thread of the runner beside this rank, or the reason why there are none.

    If the rank is bound to one core, they share a cache with it, belong to no rank, and Hockney may use them. If
    it     may use several cores, they are its own, provided that its host's ranks leave one free.
    """
    place = _place(here, rank)
    host = place.host
    on_host = _of_host(here, host)
    taken = {cpu for neighbour in on_host for cpu in (*neighbour.affinity, *neighbour.siblings)}
    if _cores(on_host, place.affinity) > 1:
        if _cores(on_host, taken) > len(on_host):
            return sorted(place.affinity), ""
        return [], f"no core is left for a progress thread beside the {counted(len(on_host), 'rank')} of {host}"
    free = {cpu for cache in place.caches for cpu in cache.shared} - taken
    usable = free & here.usable_cpus.get(host, free)
    if usable:
        return sorted(usable), ""
    if free:
        why = f"processors for a progress thread beside rank {rank} are not Hockney's to use"
        return [], f"{why} (taskset, a batch system)"
    return [], f"no core that shares a cache with rank {rank} is free for a progress thread; measure fewer ranks"


def _place(here: Here, rank: int) -> RankPlace:
    return next(place for place in here.ranks if place.rank == rank)


def _of_host(here: Here, host: str) -> list[RankPlace]:
    return [place for place in here.ranks if place.host == host]


def _cores(places: Sequence[RankPlace], cpus: Iterable[int]) -> int:
    """How many cores these processors are, all cores having as many hardware threads as those of the ranks."""
    width = max((len(place.siblings) for place in places), default=1) or 1
    return len(set(cpus)) // width
