"""What is refused in a machine file whose fields all have the right type, each by its path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hockney.errors import RequestError
from hockney.machine.file import loads

HERE = Path("machine.json")


def one_line() -> dict[str, Any]:
    """A machine file with a fit of one regime, an effect with one point, and a collective."""
    seconds = {"value": 1e-6, "low": 9e-7, "high": 2e-6, "unit": "s"}
    regime = {
        "min_B": 0,
        "max_B": None,
        "alpha_s": seconds,
        "beta_s_per_B": {"value": 1e-9, "low": None, "high": None, "unit": "s/B"},
    }
    entry = {
        "operation": "pingpong",
        "fits": {"hockney": {"model": "hockney", "regimes": [regime]}},
        "measurements": {"points": [{"size_B": 8, "time_s": 2.5e-7}]},
    }
    row = {"way": "hand", "blocks": 1, "lines": 1.0, "time_s": 1e-6, "low_s": 0, "high_s": None}
    data = {
        "schema_version": 5,
        "hockney_version": "0.1",
        "created": "2026-11-20T22:30:00Z",
        "system": {},
        "mpi": [],
        "point_to_point": [entry],
        "effects": [{"effect": "datatypes", "parameters": {"copy_s": {**seconds, "value": -1}}, "points": [row]}],
        "collectives": [{"operation": "bcast", "parameters": {"a": seconds}}],
        "provenance": {},
    }
    # So that no part is shared.
    copy: dict[str, Any] = json.loads(json.dumps(data))
    return copy


FIT = r"point_to_point\.0\.fits\.hockney\."
ROW = r"effects\.0\.points\.0\."


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("fit.regimes", [], FIT + "regimes: empty"),
        ("regime.min_B", 1, FIT + r"regimes\.0\.min_B: 1 is not 0, where the regime before ends"),
        ("regime.max_B", 8, FIT + r"regimes\.0\.max_B: 8; the last regime has no end"),
        ("regime.max_B", -8, FIT + r"regimes\.0\.max_B: -8 is not above min_B, 0 \(and 1 more\)"),
        ("alpha.value", -1e-6, FIT + r"regimes\.0\.alpha_s\.value: -1e-06 is negative"),
        ("alpha.value", 1e11, FIT + r"regimes\.0\.alpha_s\.value: 1e\+11 is beyond 1e\+10 s"),
        ("beta.value", -1e-9, FIT + r"regimes\.0\.beta_s_per_B\.value: -1e-09 is negative"),
        ("alpha.low", 5, FIT + r"regimes\.0\.alpha_s: low 5 is above high 2e-06"),
        ("alpha.value", 5, FIT + r"regimes\.0\.alpha_s: the value 5 is not between low and high"),
        ("fit.parameters", {"L": {"value": 0, "low": 5, "high": -5, "unit": "s"}}, FIT + r"parameters\.L: low 5"),
        ("fit.n_half_B", {"value": 0, "low": 5, "high": -5, "unit": "B"}, FIT + "n_half_B: low 5"),
        ("point.high_s", 1e-9, r"measurements\.points\.0: low_s 1e-08 is above high_s 1e-09"),
        (
            "measured.points",
            [{"size_B": size_B, "time_s": 1e-6} for size_B in (0, 8, 8)],
            r"measurements\.points\.2: size_B 8 follows 8, but sizes increase",
        ),
        (
            "effect.parameters",
            {"a": {"value": 0, "low": 5, "high": -5, "unit": "s"}},
            r"effects\.0\.parameters\.a",
        ),
        ("row.time_s", 0, ROW + r"time_s: 0 is no time of 1e-15 to 1e\+10 s"),
        ("row.time_s", -1, ROW + "time_s: -1 is"),
        ("row.time_s", None, ROW + "time_s: None is"),
        ("row.time_s", "long", ROW + "time_s: 'long' is"),
        ("row.time_s", True, ROW + "time_s: True is"),
        ("row.low_s", -1, ROW + "low_s: -1 is no time"),
        ("row.lines", "many", ROW + r"lines: 'many' is no whole number of 0 to 2\^63 - 1"),
        ("row.lines", 1.5, ROW + r"lines: 1\.5 is no whole number"),
        ("row.blocks", 0, ROW + "blocks: 0 is no whole number of 1 to"),
        ("row.bytes", 1e19, ROW + "bytes: 1e\\+19 is"),
        ("collective.high", -1, r"collectives\.0\.parameters\.a: low 9e-07 is above high -1"),
    ],
)
def test_what_no_fit_writes_is_refused_by_its_path(path: str, value: object, message: str) -> None:
    data = one_line()
    loads(json.dumps(data), HERE)
    entry = data["point_to_point"][0]
    fit, point = entry["fits"]["hockney"], entry["measurements"]["points"][0]
    point["low_s"] = 1e-8
    regime, effect = fit["regimes"][0], data["effects"][0]
    parts = {
        "fit": fit,
        "regime": regime,
        "alpha": regime["alpha_s"],
        "beta": regime["beta_s_per_B"],
        "measured": entry["measurements"],
        "point": point,
        "effect": effect,
        "row": effect["points"][0],
        "collective": data["collectives"][0]["parameters"]["a"],
    }
    part, _, name = path.partition(".")
    parts[part][name] = value
    if name == "value" and isinstance(value, float):
        parts[part]["low"] = None
    with pytest.raises(RequestError, match=message):
        loads(json.dumps(data), HERE)


def test_a_prediction_factor_is_at_least_1() -> None:
    data = one_line()
    names = ("points", "median_relative_error", "p95_relative_error", "max_relative_error")
    rest = dict.fromkeys(("adjusted_r2", "leave_one_out_median", "leave_one_out_p95"))
    fit = data["point_to_point"][0]["fits"]["hockney"]
    fit["quality"] = {**dict.fromkeys(names, 0), **rest, "prediction_factor": 0}
    with pytest.raises(RequestError, match=FIT + r"quality\.prediction_factor: 0 is not between 1 and 1e\+09"):
        loads(json.dumps(data), HERE)


def test_a_fit_that_says_it_is_nonphysical_may_be_negative() -> None:
    data = one_line()
    fit = data["point_to_point"][0]["fits"]["hockney"]
    fit["nonphysical"] = True
    fit["regimes"][0]["alpha_s"] = {"value": -1e-6, "unit": "s"}
    assert loads(json.dumps(data), HERE).point_to_point[0].fits["hockney"].nonphysical
    fit["regimes"][0]["beta_s_per_B"]["value"] = -1e-9
    with pytest.raises(RequestError, match=FIT + r"regimes\.0: a message of any size takes a negative time"):
        loads(json.dumps(data), HERE)
