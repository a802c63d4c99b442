"""`hockney evaluate`: how well each model predicts sizes it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, err, out, verb


@verb(
    "evaluate",
    examples="""
hockney evaluate campaign --operation pingpong
hockney evaluate table.csv.gz --operation pingpong --model piecewise --model hockney --json
""",
)
def evaluate(
    path: Annotated[Path, typer.Argument(help="Tidy table (.csv, .csv.gz, .parquet) or campaign folder.")],
    operation: Annotated[str, typer.Option(help="Operation to evaluate.")] = "pingpong",
    statistic: Annotated[
        str, typer.Option(help="Which time of the operation; empty: the first of those in the table.")
    ] = "",
    model: Annotated[list[str] | None, typer.Option(help="Only this model (repeatable).")] = None,
    as_json: JsonOption = False,
) -> None:
    """Hold out every second size of each series, fit the others, and print the errors on what was held out.

    A series is one source, system, MPI, mapping and rank pair. Its sizes are sorted; those at odd positions are
    held out, the first and the last never. The error of a size is |predicted − measured| / measured; quantiles
    are over the held-out sizes of all series. `nonphysical` counts fits with a negative parameter, `coverage`
    is the share of held-out sizes inside the 95 % prediction interval. Interpolation between the neighbouring
    sizes stands beside the models as the floor.
    """
    from hockney.models._evaluate import evaluate as evaluate_models
    from hockney.samples import table
    from hockney.samples.series import default_statistic, series

    frame = table.load(path)
    for warning in frame.attrs.get("warnings", []):
        err.print(f"[yellow]warning:[/yellow] {warning}", soft_wrap=True)
    statistic = statistic or default_statistic(frame, operation)
    result = evaluate_models(series(frame, operation, statistic), model or ())
    if as_json:
        emit_json({"operation": operation, "statistic": statistic, **result})
        return

    from rich.table import Table

    shown = Table(title=f"{operation}, {statistic}: errors on {result['n_test']} held-out points", box=None)
    for heading in ("model", "median", "P90", "P95", "coverage", "nonphysical", "failed"):
        shown.add_column(heading, justify="left" if heading == "model" else "right")
    for name, row in [*result["models"].items(), ("interpolation", result["interpolation"])]:
        shares = (f"{part}_relative_error" for part in ("median", "p90", "p95"))
        shown.add_row(
            name,
            *("–" if row[key] is None else f"{row[key]:.1%}" for key in (*shares, "coverage_95")),
            str(row["nonphysical"]),
            str(row["series_failed"]),
        )
    out.print(shown)
    skipped = f", {result['n_skipped']} with fewer than three sizes skipped" if result["n_skipped"] else ""
    out.print(f"{result['n_series']} series{skipped}; {result['n_train']} points to fit")
