"""`hockney predict` of a collective, a verb for each: where its costs come from, and its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from hockney.errors import RequestError
from hockney.options import Option
from hockney.predict.verb import MachineFile, NetworkOptions, Placing, Sizes, predict
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later
from hockney.units import format_bytes, format_time
from hockney.words import segment, written

with later():
    import numpy as np
    import pandas as pd

    from hockney.machine.file import load
    from hockney.machine.system import find_system
    from hockney.predict.collective import Row, lower_bound, predict_one, published, verdict
    from hockney.predict.estimators.base import FittedEstimator, Progress, Training, estimators
    from hockney.predict.machine_costs import MachineCosts, of_machine, of_system, placed, usual
    from hockney.predict.network_figures import with_network
    from hockney.predict.points import CHOICE, POINT, beyond, limits, points
    from hockney.predict.scenario import MOST_STEPS, Place
    from hockney.records import table
    from hockney.schedule.catalogue import algorithms, ask


USUAL_B = 1024
"""Of a message where no size is asked for."""


class CollectiveCase(NetworkOptions, Placing, MachineFile, Sizes):
    """Which collective is predicted, on which ranks, and from what."""

    operation: str = ""
    ranks: Annotated[int | None, Option("How many ranks.")] = None
    algorithm: Annotated[str, Option("Names with commas, `all`, or `best` for the fastest alone.")] = "all"
    root: Annotated[int, Option("The root.")] = 0
    segment_B: Annotated[
        int, Option("Segment size; `none`.", flags=("--segment",), read=segment, show=written)
    ] = 0
    table: Annotated[
        Path | None, Option("Calibrate on the collectives of this tidy table or campaign folder.")
    ] = None
    statistic: Annotated[str, Option("Which time of the table is predicted.")] = ""


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
    def command(case: CollectiveCase, as_json: JsonOption = False) -> None:
        """The time of a collective by every algorithm.

        Each algorithm is simulated with the machine's point-to-point costs (or those of a description of the
        system, as a rough bound), or, with --table, calibrated on measured collectives, with intervals. Where
        ranks are symmetric one stands for all (`by_class`); where each further rank adds the same round, the line
        is used (`closed_form`). The best algorithm is named with its margin, or that it cannot be told apart.
        """
        if case.statistic and case.table is None:
            raise RequestError("--statistic needs --table", "leave it out, or give a table")
        _predict(case.model_copy(update={"operation": operation}), as_json=as_json)

    return command


for _operation in COLLECTIVES:
    _enter(_operation)


def _predict(case: CollectiveCase, *, as_json: bool) -> None:
    """Print every algorithm asked for, for each size."""
    if case.ranks is None:
        raise RequestError(f"{case.operation} needs --ranks", "for example --ranks 64")
    if case.ranks < 1:
        raise RequestError(f"the number of ranks must be at least 1, not {case.ranks}", "for example --ranks 64")
    if not 0 <= case.root < case.ranks:
        raise RequestError(f"root {case.root} is none of the {case.ranks} ranks", "ranks count from 0")
    sizes = (case.sizes_B or [USUAL_B]) if COLLECTIVES[case.operation].has_size else [0]
    if case.table:
        with say.progress(quiet=as_json) as progress:
            made = _calibrated(case, sizes, progress)
    else:
        made = [_mechanistic(case, size_B) for size_B in sizes]
    if as_json:
        say.json({"operation": case.operation, "ranks": case.ranks, "predictions": made})
        return
    for one in made:
        _show(case, one)


def _names(case: CollectiveCase, known: Sequence[str]) -> list[str]:
    if case.algorithm in ("all", "best"):
        return list(known)
    return list(dict.fromkeys(name.strip() for name in case.algorithm.split(",")))


def _mechanistic(case: CollectiveCase, size_B: int) -> dict[str, Any]:
    """From point-to-point costs: no collective was measured."""
    costs, place = _costs(case)
    rows = _published(case, size_B)
    stated = [row.algorithm for row in rows]
    names = _names(case, [one.name for one in algorithms(case.operation)])
    names = [name for name in names if name not in stated]
    refused: dict[str, str] = {}
    bound: dict[str, float] = {}
    for name in names:
        try:
            asked = ask(
                case.operation,
                name,
                ranks=case.ranks or 1,
                root=case.root,
                size_B=size_B,
                segment_B=case.segment_B,
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
    warnings = [*costs.warnings, *costs.assumptions(place, case.ranks or 1), *costs.beyond(size_B)]
    if any(row.method == "published" for row in rows):
        warnings.append(
            "a published model may use hardware that point-to-point messages do not: bounds are not its own"
        )
    return _answer(case, size_B, rows, costs.origin, warnings, refused, bound)


def _published(case: CollectiveCase, size_B: int) -> list[Row]:
    """The models of this collective that the machine file brings with it, of those asked for."""
    if not case.is_there:
        return []
    models = [one for one in load(case.machine).collectives if one.operation == case.operation]
    rows = [published(one, case.ranks or 1, size_B) for one in models]
    wanted = _names(case, [row.algorithm for row in rows])
    return [row for row in rows if row.algorithm in wanted]


def _costs(case: CollectiveCase) -> tuple[MachineCosts, Place | None]:
    system = find_system(case.system) if case.system else None
    if case.is_there:
        costs = of_machine(load(case.machine), str(case.machine))
    else:
        costs = of_system(system) if system else usual()
    costs = with_network(costs, case.network, system)
    if system is None:
        if case.needs_system:
            raise RequestError("--mapping, --nodes and --ppn need --system", "say which system the ranks are on")
        return costs, None
    described = case.network.of(system)
    return placed(costs, described, case.mapping, case.ranks or 1, case.nodes, case.ppn)


def _calibrated(case: CollectiveCase, sizes_B: Sequence[int], progress: Progress) -> list[dict[str, Any]]:
    """From measured collectives: the estimator `simulated`, with intervals; calibrated once for all sizes."""
    if (case.ranks or 1) > MOST_STEPS:
        raise RequestError(
            f"{case.ranks} ranks are more than the {MOST_STEPS} steps that are simulated",
            "ask for fewer, or leave out --table",
        )
    frame = table.load(case.table or Path())
    pooled = points(frame, case.operation, case.statistic)
    learn = pooled.frame
    if len(kinds := learn[["system", "mpi"]].drop_duplicates()) > 1:
        raise RequestError(
            f"{case.table} holds {len(kinds)} systems or MPIs", "keep the rows of one of them in a table"
        )
    asked = _asked(case, learn)
    system = find_system(case.system) if case.system else None
    pairs = frame[frame["operation"].isin(POINT_TO_POINT)].reset_index(drop=True)
    training = Training(learn, pairs, system, case.operation, pooled.statistic, progress)
    progress(0.0, "calibrating")
    fitted = estimators.get("simulated")(training)
    told = [*pooled.warnings, *limits(learn)]
    origin = f"{case.table} ({pooled.statistic})"
    answers = []
    for size_B in sizes_B:
        rows, warnings = _of_size(asked.assign(bytes=size_B), learn, fitted)
        answers.append(_answer(case, size_B, rows, origin, [*told, *warnings], {}, {}))
    return answers


def _asked(case: CollectiveCase, learn: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm as it was measured, with its segments and its radix, on the ranks asked for."""
    known = sorted(set(learn["algorithm"]))
    wanted = _names(case, known)
    if strange := [name for name in wanted if name not in known]:
        raise RequestError(f"{case.table} has no {case.operation} by {strange[0]}", f"known: {', '.join(known)}")
    asked = learn[learn["algorithm"].isin(wanted)].drop_duplicates(list(CHOICE)).reset_index(drop=True)
    if case.segment_B:
        asked = asked[asked["segment_bytes"] == case.segment_B].reset_index(drop=True)
        if asked.empty:
            length = written(case.segment_B)
            raise RequestError(f"nothing was measured with segments of {length}", "leave out --segment")
    asked = asked.assign(
        mapping=case.mapping or str(learn["mapping"].iloc[0]),
        ranks=case.ranks,
        nodes=case.nodes,
        ppn=case.ppn,
        root=case.root,
    )
    asked[["nodes", "ppn", "root"]] = asked[["nodes", "ppn", "root"]].astype("Int64")
    return asked


def _of_size(asked: pd.DataFrame, learn: pd.DataFrame, fitted: FittedEstimator) -> tuple[list[Row], list[str]]:
    """A row for each point, and what limits them."""
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
    case: CollectiveCase,
    size_B: int,
    rows: Sequence[Row],
    origin: str,
    warnings: Sequence[str],
    refused: dict[str, str],
    bound: dict[str, float],
) -> dict[str, Any]:
    decided = verdict(rows)
    ordered = sorted(rows, key=lambda row: (row.time_s is None, row.time_s or 0.0))
    if case.algorithm == "best":
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


def _show(case: CollectiveCase, made: dict[str, Any]) -> None:
    size = f" of {format_bytes(made['bytes'])}" if COLLECTIVES[case.operation].has_size else ""
    shown = Table(title=f"{case.operation}{size} on {case.ranks} ranks, from {made['origin']}", box=None)
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
    say.table(shown)
    say.line(_verdict(made))
    if made["bounds"]:
        latency, volume = (format_time(made["bounds"][name]) for name in ("latency_s", "volume_s"))
        say.line(f"no algorithm is faster than {latency} (latency) or {volume} (bytes)")
    for name, why in made["refused"].items():
        say.line(f"{name}: {why}")
    for warning in made["warnings"]:
        say.warn(warning)


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
