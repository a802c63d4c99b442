"""`hockney evaluate`: one JSON object, a table to read, one clear line for a mistake."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import Run
from tests.factories import record

from hockney.models.base import models
from hockney.records import table
from hockney.records.folder import Campaign
from hockney.records.record import Record

SIZES = [0, *(2**power for power in range(20))]
SUMMARY = {
    "median_relative_error",
    "p90_relative_error",
    "p95_relative_error",
    "nonphysical",
    "coverage_95",
    "series_failed",
    "why",
}


def records() -> list[Record]:
    return [
        record(size, 1e-6 + size * 1e-10, source=source, ranks=2) for source in ("osu", "imb") for size in SIZES
    ]


@pytest.fixture
def tidy(tmp_path: Path) -> Path:
    table.write(table.from_records(records()), tmp_path / "tidy.csv")
    return tmp_path / "tidy.csv"


run = hockney = Run("evaluate")


def test_json_has_the_promised_shape(tidy: Path) -> None:
    result = hockney.answers(str(tidy), "--operation", "pingpong")
    assert (result["operation"], result["statistic"]) == ("pingpong", "one_way")
    # 21 sizes: positions 1, 3 … 19 are held out of each of the two series.
    assert (result["n_series"], result["n_train"], result["n_test"]) == (2, 22, 20)
    assert list(result["models"]) == models.names()
    assert all(set(model) == SUMMARY for model in result["models"].values())
    assert result["models"]["piecewise"]["p95_relative_error"] < 1e-9
    assert result["models"]["loggp"]["series_failed"] == 2
    # Between 4-fold sizes a straight line is interpolated exactly.
    assert result["interpolation"]["p95_relative_error"] < 1e-9
    assert set(result["corrected"]) == SUMMARY | {"model"}
    assert result["best_baseline"]["median_relative_error"] < 1e-9


@pytest.mark.usefixtures("wide")
def test_the_best_baseline_comes_first_and_piecewise_never_stands_alone(tmp_path: Path) -> None:
    """A straight line with a jump: interpolation is off beside it only, a single line everywhere."""
    bent = [
        record.model_copy(update={"value": record.value + 4e-6 * (record.bytes > 1024)}) for record in records()
    ]
    table.write(table.from_records(bent), tmp_path / "bent.csv")
    _, out, _ = hockney(str(tmp_path / "bent.csv"), "--model", "piecewise")
    lines = out.splitlines()
    assert lines[0].startswith("piecewise, corrected: off by ")
    assert ". The strongest baseline, interpolation: " in lines[0]
    rows = [line.split()[0] for line in lines if "%" in line][1:]
    assert rows[0] == "interpolation"
    assert {"hockney", "least_squares", "asymptotic", "piecewise"} <= set(rows)
    assert any("piecewise, corrected" in line for line in lines)
    result = hockney.answers(str(tmp_path / "bent.csv"), "--model", "piecewise")
    assert result["best_baseline"]["name"] == "interpolation"
    assert result["corrected"]["median_relative_error"] <= result["best_baseline"]["median_relative_error"] + 1e-9


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_other_forms_of_the_table_give_the_same(tidy: Path, ending: str) -> None:
    other = tidy.with_name(f"other{ending}")
    table.write(table.load(tidy), other)
    assert hockney(str(other), "--json")[1] == hockney(str(tidy), "--json")[1]


def test_a_campaign_is_read_and_its_damage_told_on_standard_error(tmp_path: Path) -> None:
    campaign = Campaign.create(tmp_path / "campaign", {})
    for message in records():
        campaign.append(message)
    with (campaign.path / "records.jsonl").open("a") as file:
        file.write("{damaged\n")
    code, out, err = hockney(str(campaign.path), "--json", "--model", "hockney")
    assert code == 0
    assert list(json.loads(out)["models"]) == ["hockney"]
    assert "damaged" in err


def test_text_names_models_and_floor(tidy: Path) -> None:
    out = hockney.prints(str(tidy), "--model", "piecewise", "--model", "least_squares")
    for word in ("piecewise", "least_squares", "interpolation", "20 held-out points", "2 series"):
        assert word in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--operation", "bcast"], "bcast"),
        (["--model", "hockny"], "hockny"),
        (["--statistic", "completion"], "completion"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(tidy: Path, arguments: list[str], word: str) -> None:
    assert word in hockney.explains(str(tidy), *arguments)


def test_a_bad_row_is_named(tidy: Path) -> None:
    lines = tidy.read_text().splitlines()
    lines[4] = lines[4].replace("one_way,1", "one_way,-1")
    tidy.write_text("\n".join(lines) + "\n")
    err = hockney.refuses(str(tidy))
    assert "row 5" in err
    assert "Traceback" not in err


def test_series_that_are_too_short_are_counted_or_refused(tidy: Path) -> None:
    lines = tidy.read_text().splitlines()
    tidy.write_text("\n".join(lines[:24]) + "\n")  # header, 21 sizes of osu, 2 of imb
    told = hockney.answers(str(tidy), "--model", "hockney")
    assert (told["n_series"], told["n_skipped"]) == (1, 1)
    tidy.write_text("\n".join(lines[:3]) + "\n")
    err = hockney.refuses(str(tidy))
    assert "message sizes" in err


def test_a_table_without_a_statistic_takes_the_one_that_is_asked_for(tidy: Path) -> None:
    tidy.write_text(tidy.read_text().replace(",statistic,", ",").replace(",one_way,", ","))
    assert hockney(str(tidy))[0] == 2
    assert hockney.answers(str(tidy), "--statistic", "one_way")["statistic"] == "one_way"
