"""Pairs of one locality at different places: by hops or packages they are told apart where their times differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from hockney.machine.file import Entry, Machine
from hockney.machine.levels import Fitted, Words
from hockney.machine.select import words
from hockney.network.topologies.base import Network
from hockney.network.traffic.measured import links_between
from hockney.records.record import Record
from hockney.records.series import completed
from hockney.units import grouped

if TYPE_CHECKING:
    from hockney.records.journal import LaunchLine

APART = 0.05
"""Places whose times differ by a smaller share are one series."""
PLACES = ("hops", "package")
"""Words of an entry that tell where its pairs are: links between their nodes, the package of both."""


def place_of(launches: Sequence[LaunchLine], network: Network | None) -> Callable[[Record], str]:
    """Where a record's pair is: between nodes its hops on `network`, inside one its package; "" where unknown."""
    at = {(launch.id, str(place.rank)): place for launch in launches for place in launch.ranks}
    links = None if network is None else links_between(launches, network)

    def place(record: Record) -> str:
        ends = [at[record.launch, end] for end in record.pair.split("-") if (record.launch, end) in at]
        if (
            record.locality == "network"
            and links is not None
            and len(ends) == 2
            and all(end.host for end in ends)
        ):
            return str(links(ends[0].host, ends[1].host))
        packages = sorted({end.package for end in ends} if record.locality != "network" else ())
        return "-".join(map(str, packages)) if packages and packages[0] >= 0 else ""

    return place


def populations(
    entries: Mapping[Words, Entry],
    records: Mapping[Words, Sequence[Record]],
    place: Callable[[Record], str],
    fitted: Fitted,
) -> Iterator[Entry]:
    """An entry of each place of an entry's pairs, where places differ: its word `hops` or `package` tells it."""
    for key, entry in entries.items():
        places = grouped(records.get(key, ()), place)
        if len(places) > 1 and "" not in places and _differ(places):
            for word, members in sorted(places.items(), key=lambda each: (len(each[0]), each)):
                one = fitted(members)[key]
                one.other[PLACES[entry.locality != "network"]] = word
                yield one


def _differ(places: Mapping[str, Sequence[Record]]) -> bool:
    """Whether the small or the large messages of places are further apart than those of pairs of one place."""
    rows = [(word, each.pair, each.bytes, each.value) for word, members in places.items() for each in members]
    frame = pd.DataFrame(rows, columns=["place", "pair", "size_B", "time_s"])
    frame = frame.pivot_table("time_s", ["place", "pair"], "size_B", "median")
    times = np.log(completed(frame.columns.to_numpy(float), frame.to_numpy()))
    times = times[:, ~np.isnan(times).any(axis=0)]
    labels = frame.index.get_level_values("place")
    part = max(1, times.shape[1] // 3)
    for mean in (times[:, :part].mean(axis=1), times[:, -part:].mean(axis=1)):
        of_places = [mean[labels == word] for word in places]
        within = max(np.ptp(values) for values in of_places)
        if np.ptp([np.median(values) for values in of_places]) > max(APART, within):
            return True
    return False


def apart(machine: Machine, entry: Entry) -> str:
    """What the pairs behind an entry differ by, with the option that takes those of one place; else ""."""
    for name in () if {*PLACES} & {*entry.other} else PLACES:
        places = [words(each) for each in machine.point_to_point if name in each.other]
        found = [other.pop(name) for other in places if {**other, name: ""} == {**words(entry), name: ""}]
        if found:
            return f"all pairs, which differ by {name}: --where {name}=WORD takes one of {', '.join(found)}"
    return ""
