"""`hockney predict` of a collective, a verb for each: where its costs come from, and its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb
from hockney.cli._network_figures import NetworkBandwidth, NetworkLatency, network_figures
from hockney.cli.predict import MACHINE, MachineFile, Sizes, predict
from hockney.errors import RequestError
from hockney.records.keys import COLLECTIVES
from hockney.units import format_bytes, format_time, parse_bytes

if TYPE_CHECKING:
    import pandas as pd

    from hockney.predict.collective import Row
    from hockney.predict.estimators.base import Fitted, Progress
    from hockney.predict.machine_costs import MachineCosts
    from hockney.predict.network_figures import NetworkFigures
    from hockney.predict.scenario import Place

USUAL_SIZE = "1KiB"
"""Of a message where no size is asked for."""


@dataclass(frozen=True)
class Request:
    """What the options of `hockney predict` ask of a collective."""

    operation: str
    sizes: Sequence[str]
    ranks: int | None
    algorithm: str
    mapping: str
    nodes: int | None
    ppn: int | None
    root: int
    segment: str
    system: str
    machine: Path
    table: Path | None
    statistic: str
    network: NetworkFigures


def _enter(operation: str) -> Callable[..., None]:
    @verb(
        operation,
        examples=f"""
hockney predict {operation} --ranks 1048576 --algorithm all
hockney predict {operation} --ranks 128 --bytes 8 --bytes 1MiB --system orfeo-epyc --mapping core
hockney predict {operation} --ranks 200 --bytes 64KiB --table table.csv.gz --system orfeo-epyc --mapping core
""",
        of=predict,
    )
    def command(
        ranks: Annotated[int | None, typer.Option(help="How many ranks.")] = None,
        sizes: Sizes = None,
        algorithm: Annotated[
            str, typer.Option(help="Names with commas, `all`, or `best` for the fastest alone.")
        ] = "all",
        machine: MachineFile = MACHINE,
        system: Annotated[str, typer.Option(help="Description of the system, a known name or a JSON file.")] = "",
        mapping: Annotated[str, typer.Option(help="Where the system's mapping puts ranks.")] = "",
        nodes: Annotated[int | None, typer.Option(help="Nodes that are used.")] = None,
        ppn: Annotated[int | None, typer.Option(help="The most ranks on a node.")] = None,
        root: Annotated[int, typer.Option(help="The root.")] = 0,
        segment: Annotated[str, typer.Option(help="Segment size; `none`.")] = "none",
        network_latency: NetworkLatency = "",
        network_bandwidth: NetworkBandwidth = "",
        table: Annotated[
            Path | None,
            typer.Option(help="Calibrate on the collectives of this tidy table or campaign folder."),
        ] = None,
        statistic: Annotated[str, typer.Option(help="Which time of the table is predicted.")] = "",
        as_json: JsonOption = False,
    ) -> None:
        """The time of a collective by every algorithm.

        Each algorithm is simulated with the machine's point-to-point costs (or those of a description of the
        system, as a rough bound), or, with --table, calibrated on measured collectives, with intervals. Where
        ranks are symmetric one stands for all (`by_class`); where each further rank adds the same round, the line
        is used (`closed_form`). The best algorithm is named with its margin, or that it cannot be told apart.
        """
        if statistic and table is None:
            raise RequestError("--statistic needs --table", "leave it out, or give a table")
        request = Request(
            operation,
            sizes or [],
            ranks,
            algorithm,
            mapping,
            nodes,
            ppn,
            root,
            segment,
            system,
            machine,
            table,
            statistic,
            network_figures(network_latency, network_bandwidth),
        )
        _predict(request, as_json=as_json)

    return command


for _operation in COLLECTIVES:
    _enter(_operation)


def _predict(request: Request, *, as_json: bool) -> None:
    """Print every algorithm asked for, for each size."""
    if request.ranks is None:
        raise RequestError(f"{request.operation} needs --ranks", "for example --ranks 64")
    if request.ranks < 1:
        raise RequestError(
            f"the number of ranks must be at least 1, not {request.ranks}", "for example --ranks 64"
        )
    if not 0 <= request.root < request.ranks:
        raise RequestError(f"root {request.root} is none of the {request.ranks} ranks", "ranks count from 0")
    sizes = (
        [parse_bytes(s) for s in request.sizes or [USUAL_SIZE]]
        if COLLECTIVES[request.operation].has_size
        else [0]
    )
    if request.table:
        from hockney.cli._progress import shown

        with shown(quiet=as_json) as progress:
            made = _calibrated(request, sizes, progress)
    else:
        made = [_mechanistic(request, size_B) for size_B in sizes]
    if as_json:
        emit_json({"operation": request.operation, "ranks": request.ranks, "predictions": made})
        return
    for one in made:
        _show(request, one)


def _names(request: Request, known: Sequence[str]) -> list[str]:
    if request.algorithm in ("all", "best"):
        return list(known)
    return list(dict.fromkeys(name.strip() for name in request.algorithm.split(",")))


def _mechanistic(request: Request, size_B: int) -> dict[str, Any]:
    """From point-to-point costs: no collective was measured."""
    from hockney.predict.collective import lower_bound, predict_one
    from hockney.schedule.catalogue import algorithms, ask

    costs, place = _costs(request)
    rows = _published(request, size_B)
    stated = [row.algorithm for row in rows]
    names = _names(request, [one.name for one in algorithms(request.operation)])
    names = [name for name in names if name not in stated]
    refused: dict[str, str] = {}
    bound: dict[str, float] = {}
    for name in names:
        try:
            asked = ask(
                request.operation,
                name,
                ranks=request.ranks or 1,
                root=request.root,
                size_B=size_B,
                segment_B=parse_bytes(request.segment) if request.segment not in ("", "none") else 0,
            )
        except RequestError as error:
            if len(names) == 1 and not rows:
                raise
            refused[name] = error.message
            continue
        bound = bound or lower_bound(asked, costs)
        rows.append(predict_one(asked, costs, place))
    if not rows:
        name, why = next(iter(refused.items()))
        raise RequestError(f"{name}: {why}", "the other algorithms of it refuse too")
    warnings = [*costs.warnings, *costs.assumptions(place, request.ranks or 1), *costs.beyond(size_B)]
    if any(row.method == "published" for row in rows):
        warnings.append(
            "a published model may use hardware that point-to-point messages do not: bounds are not its own"
        )
    return _answer(request, size_B, rows, costs.origin, warnings, refused, bound)


def _published(request: Request, size_B: int) -> list[Row]:
    """The models of this collective that the machine file brings with it, of those asked for."""
    from hockney.machine.file import load
    from hockney.predict.collective import published

    if request.machine == MACHINE and not MACHINE.exists():
        return []
    models = [one for one in load(request.machine).collectives if one.operation == request.operation]
    rows = [published(one, request.ranks or 1, size_B) for one in models]
    wanted = _names(request, [row.algorithm for row in rows])
    return [row for row in rows if row.algorithm in wanted]


def _costs(request: Request) -> tuple[MachineCosts, Place | None]:
    from hockney.machine.file import load
    from hockney.machine.system import find_system
    from hockney.predict.machine_costs import of_machine, of_system, placed, usual
    from hockney.predict.network_figures import with_network

    system = find_system(request.system) if request.system else None
    if request.machine.exists() or request.machine != MACHINE:
        costs = of_machine(load(request.machine), str(request.machine))
    else:
        costs = of_system(system) if system else usual()
    costs = with_network(costs, request.network, system)
    if system is None:
        if request.mapping or request.nodes is not None or request.ppn is not None:
            raise RequestError("--mapping, --nodes and --ppn need --system", "say which system the ranks are on")
        return costs, None
    described = request.network.of(system)
    return placed(costs, described, request.mapping, request.ranks or 1, request.nodes, request.ppn)


def _calibrated(request: Request, sizes_B: Sequence[int], progress: Progress) -> list[dict[str, Any]]:
    """From measured collectives: the estimator `simulated`, with intervals; calibrated once for all sizes."""
    from hockney.machine.system import find_system
    from hockney.predict.estimators.base import Training, estimators
    from hockney.predict.points import limits, points
    from hockney.predict.scenario import MOST_STEPS
    from hockney.records import table
    from hockney.records.keys import POINT_TO_POINT

    if (request.ranks or 1) > MOST_STEPS:
        raise RequestError(
            f"{request.ranks} ranks are more than the {MOST_STEPS} steps that are simulated",
            "ask for fewer, or leave out --table",
        )
    frame = table.load(request.table or Path())
    pooled = points(frame, request.operation, request.statistic)
    learn = pooled.frame
    if len(kinds := learn[["system", "mpi"]].drop_duplicates()) > 1:
        raise RequestError(
            f"{request.table} holds {len(kinds)} systems or MPIs", "keep the rows of one of them in a table"
        )
    asked = _asked(request, learn)
    system = find_system(request.system) if request.system else None
    pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
    training = Training(learn, pairs, system, request.operation, pooled.statistic, progress)
    progress(0.0, "calibrating")
    fitted = estimators.get("simulated")(training)
    told = [*pooled.warnings, *limits(learn)]
    origin = f"{request.table} ({pooled.statistic})"
    answers = []
    for size_B in sizes_B:
        rows, warnings = _of_size(asked.assign(bytes=size_B), learn, fitted)
        answers.append(_answer(request, size_B, rows, origin, [*told, *warnings], {}, {}))
    return answers


def _asked(request: Request, learn: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm as it was measured, with its segments and its radix, on the ranks asked for."""
    from hockney.predict.points import CHOICE

    known = sorted(set(learn["algorithm"]))
    wanted = _names(request, known)
    if strange := [name for name in wanted if name not in known]:
        raise RequestError(
            f"{request.table} has no {request.operation} by {strange[0]}", f"known: {', '.join(known)}"
        )
    asked = learn[learn["algorithm"].isin(wanted)].drop_duplicates(list(CHOICE)).reset_index(drop=True)
    if request.segment not in ("", "none"):
        asked = asked[asked["segment_bytes"] == parse_bytes(request.segment)].reset_index(drop=True)
        if asked.empty:
            raise RequestError(f"nothing was measured with segments of {request.segment}", "leave out --segment")
    asked = asked.assign(
        mapping=request.mapping or str(learn["mapping"].iloc[0]),
        ranks=request.ranks,
        nodes=request.nodes,
        ppn=request.ppn,
        root=request.root,
    )
    asked[["nodes", "ppn", "root"]] = asked[["nodes", "ppn", "root"]].astype("Int64")
    return asked


def _of_size(asked: pd.DataFrame, learn: pd.DataFrame, fitted: Fitted) -> tuple[list[Row], list[str]]:
    """A row for each point, and what limits them."""
    import numpy as np

    from hockney.predict.collective import Row
    from hockney.predict.points import POINT, beyond

    found = fitted.predict(asked[[*POINT, "time_s"]])
    rows = []
    for i, point in enumerate(asked.to_dict("records")):
        name = _title(point)
        if not np.isfinite(found.time_s[i]):
            reason = next(
                (one.partition(": ")[2] for one in found.note or () if one.startswith(f"{point['algorithm']}, ")),
                "not simulated",
            )
            rows.append(Row(name, "none", None, note=reason))
            continue
        time_s, low_s, high_s = (float(values[i]) for values in (found.time_s, found.low_s, found.high_s))
        rows.append(Row(name, "simulated, calibrated", time_s, low_s, high_s))
    return rows, [*(found.note or []), *beyond(learn, asked)]


def _title(point: Mapping[Any, Any]) -> str:
    """`chain, segments of 1 KiB, radix 4`."""
    parts = [str(point["algorithm"])]
    for name, words in (("segment_bytes", "segments of {}"), ("radix", "radix {}")):
        try:
            value = int(point[name])
        except (TypeError, ValueError):
            continue
        if value:
            parts.append(words.format(format_bytes(value) if name == "segment_bytes" else value))
    return ", ".join(parts)


def _answer(
    request: Request,
    size_B: int,
    rows: Sequence[Row],
    origin: str,
    warnings: Sequence[str],
    refused: dict[str, str],
    bound: dict[str, float],
) -> dict[str, Any]:
    from hockney.predict.collective import verdict

    decided = verdict(rows)
    ordered = sorted(rows, key=lambda row: (row.time_s is None, row.time_s or 0.0))
    if request.algorithm == "best":
        ordered = ordered[:1]
    return {
        "bytes": size_B,
        "origin": origin,
        **decided,
        "bounds": bound,
        "algorithms": [{**vars(row), "dominant": row.dominant} for row in ordered],
        "refused": refused,
        "warnings": list(dict.fromkeys(warnings)),
    }


def _show(request: Request, made: dict[str, Any]) -> None:
    from rich.table import Table

    size = f" of {format_bytes(made['bytes'])}" if COLLECTIVES[request.operation].has_size else ""
    shown = Table(title=f"{request.operation}{size} on {request.ranks} ranks, from {made['origin']}", box=None)
    for heading in ("algorithm", "time", "95 % interval", "method", "exact", "asymptotic", "dominant"):
        shown.add_column(
            heading, justify="right" if heading == "time" else "left", no_wrap=heading == "algorithm"
        )
    for row in made["algorithms"]:
        known = row["time_s"] is not None
        interval = "–"
        if row["low_s"]:
            low, high = format_time(row["low_s"]), row["high_s"]
            interval = f"{low} to {format_time(high)}" if high else f"≥ {low}"
        shown.add_row(
            row["algorithm"],
            format_time(row["time_s"]) if known else "–",
            interval,
            row["method"],
            row["formula"] or row["note"],
            row["asymptotic"],
            row["dominant"],
        )
    out.print(shown)
    out.print(_verdict(made), markup=False, soft_wrap=True)
    if made["bounds"]:
        latency, volume = (format_time(made["bounds"][name]) for name in ("latency_s", "volume_s"))
        out.print(f"no algorithm is faster than {latency} (latency) or {volume} (bytes)", markup=False)
    for name, why in made["refused"].items():
        out.print(f"{name}: {why}", markup=False, soft_wrap=True)
    for warning in made["warnings"]:
        err.print(f"[yellow]warning:[/yellow] {warning}", soft_wrap=True)


def _verdict(made: dict[str, Any]) -> str:
    if made["best"] is None:
        return "no time is known, only what it takes at least"
    if sum(row["time_s"] is not None for row in made["algorithms"]) > 1 and made["margin"] is None:
        return "nothing is sent"
    if made["margin"] is None:
        return f"only {made['best']} was predicted"
    if made["told_apart"]:
        return f"{made['best']} wins by {_by(made['margin'])} over the next"
    rivals = ", ".join(made["not_told_apart_from"])
    return f"{made['best']} is predicted fastest, by {_by(made['margin'])}, but cannot be told from {rivals}"


def _by(margin: float) -> str:
    return f"{margin:.0%}" if margin < 1 else f"a factor of {1 + margin:.3g}"
