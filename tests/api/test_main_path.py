"""load → fit → predict → report, on a campaign whose truth is planted, and against the verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from matplotlib.figure import Figure
from tests.command_line import answer, outcome, refused
from tests.known_campaign import EVIL, truth
from tests.report.explorer.planted import planted

import hockney as hk
import hockney.api
from hockney.errors import RequestError

SHIPPED = Path(__file__).parents[2] / "machines" / "ci_2core.json"
SAME_CAMPAIGN: dict[str, Any] = {"where": ["variant=default"]}


@pytest.fixture(scope="module")
def machine(campaign: Path) -> hk.Machine:
    return hk.fit(hk.load(campaign))


def test_messages_take_what_was_planted(machine: hk.Machine) -> None:
    sizes: list[int | str] = [8, "1KiB", 1_000_000]
    frame = machine.predict("pingpong", bytes=sizes, **SAME_CAMPAIGN)
    assert frame["bytes"].tolist() == [8, 1024, 1_000_000]
    # The planted times are exact; their intervals are ±0.5 %.
    assert frame["time_s"].tolist() == pytest.approx([truth(n) for n in (8, 1024, 1_000_000)], rel=0.005)


def test_a_frame_is_what_the_verb_says_of_a_message(machine: hk.Machine, tmp_path: Path) -> None:
    path = machine.save(tmp_path / "machine.json")
    words = ("predict", "pingpong", "--machine", path, "--bytes", "64KiB", "--where", "variant=default")
    said = answer(*words)
    frame = machine.predict("pingpong", bytes="64KiB", **SAME_CAMPAIGN)
    assert frame["time_s"].tolist() == [each["time_s"] for each in said["predictions"]]
    assert frame.attrs["warnings"] == said["warnings"]


def test_a_frame_is_what_the_verb_says_of_a_collective() -> None:
    words = ("predict", "bcast", "--machine", "bluegene_p", "--bytes", "8", "--bytes", "1MiB", "--ranks", "512")
    said = answer(*words, "--topology", "torus:8x8x8")
    machine = hk.load_machine("bluegene_p")
    frame = machine.predict("bcast", ranks=512, bytes=[8, "1MiB"], topology="torus:8x8x8")
    rows = [
        (each["bytes"], row["algorithm"], row["time_s"])
        for each in said["predictions"]
        for row in each["algorithms"]
    ]
    times = frame["time_s"].astype(object).where(frame["time_s"].notna(), None)
    assert [*zip(frame["bytes"], frame["algorithm"], times, strict=True)] == rows
    assert frame.loc[frame["is_best"], "algorithm"].tolist() == [each["best"] for each in said["predictions"]]


def test_several_numbers_of_ranks_stand_in_one_frame() -> None:
    machine = hk.load_machine("bluegene_p")
    frame = machine.predict("bcast", ranks=range(64, 257, 64), bytes="1MiB", algorithm="binomial")
    assert frame["ranks"].tolist() == [64, 128, 192, 256]
    alone = [
        machine.predict("bcast", ranks=n, bytes=2**20, algorithm="binomial")["time_s"][0] for n in frame["ranks"]
    ]
    assert frame["time_s"].tolist() == alone


@pytest.mark.parametrize("ranks", ["8,16", ["8", "16"], [8.0, 16.0]])
def test_numbers_of_ranks_are_read_as_on_the_command_line(ranks: Any) -> None:
    frame = hk.load_machine("bluegene_p").predict("bcast", ranks=ranks, bytes=8, algorithm=["binomial", "chain"])
    assert sorted(zip(frame["ranks"], frame["algorithm"], strict=True)) == [
        (8, "binomial"),
        (8, "chain"),
        (16, "binomial"),
        (16, "chain"),
    ]


def test_grids_of_an_application() -> None:
    words = (
        "--size",
        "200",
        "--ranks",
        "8,64",
        "--grid",
        "all",
        "--cell-time",
        "1ns",
        "--machine",
        "bluegene_p",
    )
    said = answer("predict", "jacobi", *words)
    machine = hk.load_machine("bluegene_p")
    frame = machine.predict("jacobi", size=200, ranks=[8, 64], grid="all", cell_time="1ns")
    grids = [
        (each["ranks"], grid["grid"], grid["time_s"]) for each in said["predictions"] for grid in each["grids"]
    ]
    assert [*zip(frame["ranks"], frame["grid"], frame["time_s"], strict=True)] == grids
    assert frame.loc[frame["is_fastest"], "grid"].tolist() == [each["grid"] for each in said["predictions"]]


def test_a_frame_is_what_the_verb_says_of_rings() -> None:
    said = answer("predict", "ring", "--machine", SHIPPED, "--ranks", "1,2", "--exchange", "nonblocking")
    frame = hk.load_machine(SHIPPED).predict("ring", ranks=[1, 2], exchange="nonblocking")
    assert frame["ranks"].tolist() == [1, 2]
    # One process sends to itself: there is no time.
    assert frame["time_s"].isna().tolist() == [True, False]
    assert frame["time_s"][1] == said["points"][1]["time_s"]
    assert set(frame["exchange"]) == {"nonblocking"}


def test_a_frame_is_what_the_verb_says_of_a_sum() -> None:
    options = ("--ranks", "2", "--memory-bandwidth", "10GB/s", "--locality", "cache")
    said = answer("predict", "sum3d", "240", "100", "100", *options, "--machine", SHIPPED)
    frame = hk.load_machine(SHIPPED).predict(
        "sum3d", nx=240, ny=100, nz=100, ranks=2, memory_bandwidth=10e9, locality="cache"
    )
    (row,) = frame.to_dict("records")
    parts = [row[f"{name}_s"] for name in ("scatter", "compute", "gather", "pack")]
    assert row["time_s"] == said["time_s"] == pytest.approx(sum(parts))
    assert (row["size"], row["ranks"], row["grid"]) == ("240x100x100", 2, said["grid"])
    # 2.4 million elements, 24 B moved for each, on two ranks of 10 GB/s.
    assert row["compute_s"] == pytest.approx(2.4e6 * 24 / 2 / 10e9)


def test_a_frame_is_what_the_verb_says_of_an_fft() -> None:
    said = answer("predict", "fft", "--size", "64", "--ranks", "8,128", "--machine", "orfeo_thin")
    frame = hk.load_machine("orfeo_thin").predict("fft", size=64, ranks=[8, 128])
    rows = [
        (each["ranks"], way["division"], way["time_s"]) for each in said["decisions"] for way in each["divisions"]
    ]
    assert [*zip(frame["ranks"], frame["division"], frame["time_s"], strict=True)] == rows
    # 64 slabs are too few for 128 ranks.
    assert frame.loc[frame["ranks"] == 128, "division"].tolist() == ["2-D"]
    assert any("too few for 128 ranks" in text for text in frame.attrs["warnings"])
    assert frame.loc[frame["is_best"], "division"].tolist() == [each["best"] for each in said["decisions"]]


def test_a_frame_is_what_the_verb_says_of_a_datatype() -> None:
    layout = ("--layout", "vector:2048x8B/64B")
    said = answer("predict", "datatype", "--machine", SHIPPED, *layout)
    frame = hk.load_machine(SHIPPED).predict("datatype", layout="vector:2048x8B/64B")
    assert dict(zip(frame["way"], frame["time_s"], strict=True)) == {
        name: way["time_s"] for name, way in said["ways"].items()
    }
    assert set(frame["answer"]) == {said["verdict"]["answer"]}
    assert set(frame["operation"]) == {"datatype"}


def test_a_text_is_read_and_a_number_is_a_value() -> None:
    machine = hk.load_machine("orfeo_thin")
    as_text = machine.predict("bcast", ranks=8, bytes="1KiB", segment="256B")
    assert (
        as_text["time_s"].tolist()
        == machine.predict("bcast", ranks=8, bytes=1024, segment=256)["time_s"].tolist()
    )


@pytest.mark.parametrize(
    ("operation", "asked", "message"),
    [
        ("brodcast", {}, "no frame of 'brodcast'"),
        ("bcast", {"ranks": 8, "segmnt": 8}, "no option 'segmnt'"),
        ("bcast", {"ranks": 8, "bytes": "8 apples"}, "bytes: "),
        ("bcast", {"bytes": 8}, "needs --ranks"),
        ("pingpong", {}, "needs --bytes"),
        ("pingpong", {"bytes": 8, "ranks": 2}, "no option 'ranks'"),
        ("pingpong", {"bytes": 8, "machine": "orfeo_thin"}, "no option 'machine'"),
        ("bcast", {"bytes": 8, "ranks": []}, "ranks: "),
        ("bcast", {"bytes": 8, "ranks": 8.5}, "ranks: "),
        ("bcast", {"bytes": 8, "ranks": "many"}, "ranks: "),
        ("bcast", {"bytes": 8, "ranks": 8, "algorithm": []}, "algorithm"),
        ("ring", {}, "needs --ranks"),
        ("ring", {"ranks": 2, "within": 1e-6}, "no option 'within'"),
        ("sum3d", {"nx": 8, "ny": 8, "nz": 8, "ranks": 2}, "needs --memory-bandwidth"),
        ("fft", {"ranks": 8}, "--size"),
        ("datatype", {}, "needs a --layout"),
        ("datatype", {"layout": "vector"}, "is no layout"),
    ],
)
def test_what_cannot_be_predicted_is_refused(operation: str, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        hk.load_machine("bluegene_p").predict(operation, **asked)


def test_a_misspelt_option_is_refused_with_those_of_every_part() -> None:
    with pytest.raises(RequestError, match="no option 'memory_bandwith'") as refused:
        hk.load_machine("bluegene_p").predict("sum3d", nx=8, ny=8, nz=8, ranks=2, memory_bandwith="1GB/s")
    assert refused.value.hint.startswith("did you mean 'memory_bandwidth'?")
    assert {"nx", "memory_bandwidth", "locality"} <= {*refused.value.hint.partition("known: ")[2].split(", ")}


def test_models_have_a_row_for_each_fit(machine: hk.Machine) -> None:
    models = machine.models
    assert set(models["operation"]) == {"pingpong", "bidirectional"}
    planted = models[
        (models["operation"] == "pingpong") & (models["variant"] == "default") & models["is_preferred"]
    ]
    assert planted["latency_s"].tolist() == pytest.approx([2e-6], rel=0.005)
    assert planted["bandwidth_B_per_s"].tolist() == pytest.approx([1e9], rel=0.01)


def test_a_report_is_written_and_gives_its_figures(campaign: Path, tmp_path: Path) -> None:
    page = hk.load(campaign).report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.made.html
    assert page.headlines
    assert page.figures
    assert all(isinstance(figure, Figure) for figure in page.figures.values())


@pytest.mark.usefixtures("undrawn")
@patch("hockney.machine.collectives.collectives_of", lambda *_, **__: [])  # a comparison shows no models
def test_a_report_of_several_campaigns_compares_them(tmp_path: Path) -> None:
    paths = [planted(tmp_path / "a.csv", system="s"), planted(tmp_path / "b.csv", factor=2.0, system="s")]
    page = hockney.api.report([hk.load(paths[0]), str(paths[1])], tmp_path / "compared.html")
    said = answer("report", *paths, "-o", tmp_path / "verb.html")
    assert page.findings == [finding["text"] for finding in said["findings"]]
    assert any("a.csv is 2.00 × faster than b.csv" in text for text in page.findings)
    assert (tmp_path / "compared.html").read_text(encoding="utf-8") == page.made.html
    with pytest.raises(RequestError, match="named twice"):
        hockney.api.report([paths[0], paths[0]])
    with pytest.raises(RequestError, match="a comparison does not take --anonymous"):
        hockney.api.report(paths, anonymous=True)
    with pytest.raises(RequestError, match="title"):
        hockney.api.report(paths, title="x")
    code, _, err = outcome("report", *paths, "--anonymous", "-o", tmp_path / "c.html")
    assert (code, "a comparison does not take --anonymous" in err) == (2, True)
    with pytest.raises(RequestError, match="needs a campaign"):
        hockney.api.report([])


def test_a_notebook_shows_no_markup_of_a_name(campaign: Path, machine: hk.Machine) -> None:
    shown = [hk.load(campaign)._repr_html_(), machine._repr_html_(), machine.compare(machine)._repr_html_()]
    assert all("<b>n1" not in text and "<tcp>" not in text for text in shown)
    assert EVIL not in "".join(shown)
    assert "pingpong" in shown[0]


def test_a_machine_file_is_no_campaign(machine: hk.Machine, tmp_path: Path) -> None:
    path = machine.save(tmp_path / "machine.json")
    with pytest.raises(RequestError, match="holds fits already"):
        hk.load(path)
    assert hk.load_machine(path).content == machine.content


@pytest.mark.parametrize("words", [("report",), ("report", "CAMPAIGN"), ("evaluate",)])
def test_a_verb_of_measurements_says_that_a_machine_file_is_none(
    words: tuple[str, ...], campaign: Path, tmp_path: Path
) -> None:
    verb, *others = [str(campaign) if word == "CAMPAIGN" else word for word in words]
    written = ["-o", str(tmp_path / "page.html")] if verb == "report" else []
    said = refused(verb, *others, SHIPPED, *written)
    assert "holds fits already" in said


def test_rules_are_made_of_a_machine_file_as_of_a_machine() -> None:
    asked: dict[str, Any] = {"ranks": [2], "operation": "bcast", "bytes": [1024], "where": "mapping=core"}
    tuned = hockney.api.tune(SHIPPED, "hockney", **asked)
    assert tuned.text == hk.load_machine(SHIPPED).tune("hockney", **asked | {"operation": ["bcast"]}).text
    assert set(tuned.cells["operation"]) == {"bcast"}


def test_one_model_is_named_as_a_list_of_one(campaign: Path) -> None:
    named = [hk.evaluate(campaign, "pingpong", model=model).result for model in ("hockney", ["hockney"])]
    assert named[0] == named[1]
