"""Tables of the same point: copies of each other, repetitions, or too far apart to be either."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.records.columns import RECORD, codes
from hockney.statistics import Array

SAME_SHARE = 0.9
"""Least share of equal values, among the points that two files share, at which one file counts as a copy.
Independent runs agree less often, even where they print few digits."""
UNLIKE = 1.3
"""Median ratio, over the sizes of two tables, beyond which they are asked about. Independent
runs of one configuration scatter by a tenth to a fifth, and a median of ratios by less."""
SAME_VALUE = 1e-9
"""Relative. Conversions of units change the last of sixteen digits."""


def copied(
    point: NDArray[np.int64], value: Array, own: NDArray[np.bool_], others: NDArray[np.bool_]
) -> list[int]:
    """The places of `own` records that are among `others` too, with the same value; none where merely similar.

    Shapes (records,). `point` is the same number for records of one point, whatever program measured it: a table
    need not name it. Each of `others` has one copy.
    """
    shared = own & np.isin(point, point[others])
    known: dict[int, list[float]] = defaultdict(list)
    for place in np.flatnonzero(others & np.isin(point, point[shared])).tolist():
        known[point[place]].append(value[place])
    matches: list[int] = []
    for place in np.flatnonzero(shared).tolist():
        of_point = known[point[place]]
        same = [other for other in of_point if math.isclose(other, value[place], rel_tol=SAME_VALUE)]
        if same:
            of_point.remove(same[0])
            matches.append(place)
    return matches if len(matches) >= SAME_SHARE * np.count_nonzero(shared) else []


def unlike(frame: pd.DataFrame, table: NDArray[np.intp], asked: NDArray[np.bool_]) -> list[tuple[int, str]]:
    """Tables that nothing tells apart from an earlier one, though their values do: a record's place, a question.

    `asked`: the records that are compared, shape (records,).
    """
    rows = pd.DataFrame({"table": table, "point": codes(frame, RECORD), "log": np.log(frame["value"])})[asked]
    rows = rows[rows["point"].duplicated(keep=False)].reset_index(names="place")
    first = rows.groupby("point")[["log", "table", "place"]].transform("first")
    rows = rows.assign(off=(rows["log"] - first["log"]).abs(), other=first["table"], there=first["place"])
    questions = []
    for _, both in rows[rows["table"] != rows["other"]].groupby(["table", "other"]):
        if (off := float(both["off"].median())) > math.log(UNLIKE):
            place, there = int(both["place"].iloc[0]), int(both["there"].iloc[0])
            option = "--variant" if pd.notna(frame["ranks"][place]) else "--ranks"
            said = f"{frame['origin'][place]}: this table of {frame['operation'][place]} counts as a repetition"
            far = f"of that at {frame['origin'][there]}, but differs from it by a factor of {math.exp(off):.2g}"
            asks = f"were they measured alike? if not, import them apart, with {option}"
            questions.append((place, f"{said} {far}: {asks}"))
    return questions
