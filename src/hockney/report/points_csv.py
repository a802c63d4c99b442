"""A curve as CSV, as in section 2 of Celoria's report (2021): the circumstances of its measurement, latency and
bandwidth of each model, then the points with the values of each fit."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

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
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = [f"{what}_{model}" for model in curve.fits for what in ("t_us", "MB_per_s")]
    writer.writerow(["bytes", "repetitions", "t_us", "low_us", "high_us", "MB_per_s", *columns])
    for index, point in enumerate(curve.entry.measurements.points):
        size = curve.size_B[index]
        row: list[Any] = [
            point.size_B,
            "" if point.samples is None else point.samples,
            _number(point.time_s * 1e6),
        ]
        row += ["" if bound is None else _number(bound * 1e6) for bound in (point.low_s, point.high_s)]
        row.append(_number(curve.streams * size / point.time_s / 1e6))
        for fit in curve.fits.values():
            time_s = float(predict(fit, size))
            # A time of zero or less has no throughput.
            row += [_number(time_s * 1e6), _number(curve.streams * size / time_s / 1e6) if time_s > 0 else ""]
        writer.writerow(row)
    return "\n".join(_one_line(line) for line in lines) + "\n" + buffer.getvalue()


def _number(value: float) -> str:
    return f"{value:.6g}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
