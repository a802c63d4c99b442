"""A curve as CSV, as in section 2 of Celoria's report (2021): the circumstances of its measurement, latency and
bandwidth of each model, then the points with the values of each fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hockney.machine.formula import latency
from hockney.models.base import predict
from hockney.records.journal import LaunchLine
from hockney.report.curves import MessageCurve
from hockney.report.provenance import command_line, hosts


def text(curve: MessageCurve, launches: Sequence[LaunchLine]) -> str:
    """The file's content. Lines that begin with `#` describe; one header line and one line a point follow.

    Times are in µs, throughput in MB/s (10⁶ bytes a second, as IMB prints them), all pairs and both directions
    together; `repetitions` are the timed samples of a point, empty if the source does not say.
    """
    own_launches = [launch for launch in launches if launch.id in curve.entry.measurements.launches]
    lines = [f"# configuration: {curve.operation}, {curve.label}"]
    lines += [
        f"# command line: {line}"
        for line in dict.fromkeys(command_line(launch) for launch in own_launches)
        if line
    ]
    lines += [f"# nodes: {', '.join(nodes)}" for nodes in [hosts(own_launches)] if nodes]
    for model, fit in curve.fits.items():
        rate = curve.bandwidth(fit)
        negative = ", nonphysical" if fit.nonphysical else ""
        lines.append(
            f"# {model}: latency {latency(fit).value * 1e6:.6g} us, "
            f"bandwidth {'unknown' if rate is None else f'{rate.value / 1e6:.6g} MB/s'}{negative}"
        )
    points = curve.entry.measurements.points
    measured = _columns(curve, "", np.array([point.time_s for point in points]))
    columns = {
        "bytes": [point.size_B for point in points],
        "repetitions": pd.array([point.samples for point in points], dtype="Int64"),
        "t_us": measured.pop("t_us"),
        "low_us": 1e6 * np.array([point.low_s for point in points], np.float64),
        "high_us": 1e6 * np.array([point.high_s for point in points], np.float64),
        **measured,
    }
    for model, fit in curve.fits.items():
        columns |= _columns(curve, f"_{model}", predict(fit, curve.size_B))
    comments = "".join(f"{' '.join(line.split())}\n" for line in lines)
    return comments + pd.DataFrame(columns).to_csv(index=False, float_format="%.6g")


def _columns(curve: MessageCurve, suffix: str, time_s: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Times and rates; a time of zero or less has no rate."""
    rate = curve.throughput(curve.size_B, np.where(time_s > 0, time_s, np.nan))
    return {f"t_us{suffix}": 1e6 * time_s, f"MB_per_s{suffix}": rate / 1e6}
