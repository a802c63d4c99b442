"""`hockney report`: files where they were asked for, one JSON object, one clear line for a mistake."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.command_line import Run, run_hockney
from tests.factories import campaign as campaign_of
from tests.factories import frame, messages, row, verb

from hockney.apps.ring.answer import RingAnswer
from hockney.machine.build import build
from hockney.machine.file import save
from hockney.records.app_record import AppRecord
from hockney.records.contents import contents_of
from hockney.records.folder import Campaign
from hockney.records.journal import FailureLine
from hockney.report.predicted import Judged
from hockney.report.reading import not_measured

pytestmark = pytest.mark.usefixtures("undrawn")

run = verb("report")


CACHE: dict[str, Any] = {"locality": "cache", "cache": "warm", "pair": "0-1"}


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Pingpong at 2 µs + n / 1 GB/s."""
    return campaign_of(tmp_path / "demo", messages(within=0.01, verified=True, **CACHE))


@pytest.mark.usefixtures("wide")
def test_a_point_that_failed_is_named_on_the_page(run: Run, campaign: Path) -> None:
    series = {"operation": "pingpong", "locality": "cache", "leader": 0, "follower": 1, "cache": "warm"}
    folder = Campaign.open(campaign)
    why = {"limitation": "vanishes in the noise"}
    for size, reason in ((4096, why), (8192, {"reason": "it died"}), (8, why)):
        folder.append(
            FailureLine.model_validate({"variant": "", "index": 0, "series": series, "bytes": size, **reason})
        )
    told = (
        "Not measured: pingpong cache, 4 KiB: vanishes in the noise and 1 more; "
        f"`hockney measure -o {campaign} --resume` tries again."
    )
    code, _, err = run(campaign)
    assert (code, err.splitlines()) == (0, [f"warning: {told}"])
    page = (campaign / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert told.partition("`")[0] in page


def test_what_was_joined_from_campaigns_is_not_what_goes_on(tmp_path: Path) -> None:
    series = {"operation": "pingpong", "locality": "cache", "leader": 0, "follower": 1, "cache": "warm"}
    joined = Campaign.create(tmp_path / "joined", {"merged": [{"from": "a", "plan": {}}]})
    joined.append(
        FailureLine.model_validate(
            {"variant": "", "index": 0, "series": series, "bytes": 8, "left_out": "no answer"}
        )
    )
    said = not_measured(contents_of(joined))
    assert said == (
        "Not measured: pingpong cache, 8 B: no answer; --resume of the campaign that lacks it tries again."
    )


@pytest.mark.usefixtures("wide")
def test_half_the_bandwidth_is_at_one_size_in_fit_show_and_report(tmp_path: Path) -> None:
    """1 µs + n / 2 GB/s reaches half of its bandwidth at 2000 B; one slow size beyond has no slope to tell."""
    times_us = {4**power: 1 + 4**power / 2000 for power in range(9)} | {2**20: 10486.0}
    rows = [f"pingpong,default,{size},one_way,{time_us},s,m,core,1,2,2,0" for size, time_us in times_us.items()]
    header = "operation,algorithm,bytes,statistic,time_us,system,mpi,mapping,nodes,ppn,ranks,repetition"
    (tmp_path / "t.csv").write_text("\n".join([header, *rows, ""]))
    fitted = run_hockney("fit", "t.csv", cwd=tmp_path).stdout
    shown = run_hockney("show", "t-machine.json", "--format", "table", cwd=tmp_path).stdout
    reported = run_hockney("report", "t.csv", "--json", cwd=tmp_path).stdout
    page = (tmp_path / "t-report.html").read_text()
    # 64 KiB in 1 µs + 32.768 µs.
    assert "1.94 GB/s, 64 KiB" in fitted
    # The times are exact, and so is the interval.
    half = "1.95 KiB (1.95 KiB to 1.95 KiB)"
    [row_of_quality] = [line for line in shown.splitlines() if line.split()[:2] == ["piecewise", "10"]]
    assert row_of_quality.rstrip().endswith(f" {half}")
    headline = json.loads(reported)["headline"][0]
    assert headline["n_half_B"]["value"] == pytest.approx(2000, rel=1e-6)
    [quality] = re.findall(r"<tr><th[^>]*>piecewise</th><td>10</td>.*?</tr>", page)
    assert quality.endswith(f"<td>{half}</td></tr>")


def test_only_the_page_unless_more_is_asked_for(run: Run, campaign: Path, tmp_path: Path) -> None:
    before = {path.name for path in campaign.iterdir()}
    code, out, err = run(campaign)
    assert (code, err) == (0, "")
    assert out.startswith("good: pingpong, cache: the latency is 2 µs (95 %: ")
    assert out.rstrip().endswith(f"wrote {campaign}/report.html")
    assert {path.name for path in tmp_path.iterdir()} == {"demo"}
    assert {path.name for path in campaign.iterdir()} == before | {"report.html"}


@pytest.mark.usefixtures("wide")
def test_a_page_that_is_replaced_is_named_and_no_other_file_is(run: Run, campaign: Path) -> None:
    page = campaign / "report.html"
    page.write_text("<p>my holidays</p>", encoding="utf-8")
    err = run.refuses(campaign)
    assert "report.html is there and was not written by hockney" in err
    assert page.read_text(encoding="utf-8") == "<p>my holidays</p>"
    assert run(campaign, "-o", page)[1].rstrip().endswith("in place of the page that was there")
    assert run(campaign)[1].rstrip().endswith(f"wrote {page}, in place of the page that was there")


def test_a_page_or_machine_of_another_campaign_is_not_replaced(tmp_path: Path) -> None:
    for name in "ab":
        campaign_of(tmp_path / name, messages(**CACHE), {"id": f"launch-{name}", "time": ""})
    for word, file in (("fit", "m.json"), ("report", "m.html")):
        for name, code in (("a", 0), ("a", 0), ("b", 2)):
            done = run_hockney(word, name, "-o", file, cwd=tmp_path)
            assert (done.returncode, "another campaign" in done.stderr) == (code, bool(code)), (word, name)


def test_json_names_every_file(run: Run, campaign: Path, tmp_path: Path) -> None:
    code, out, err = run(
        *(campaign, "-o", "page.html", "--peak", "Link=2GB/s", "--peak", "Bus=4GB/s"),
        *("--figure", "figures", "--csv", "csv", "--json"),
    )
    assert (code, err) == (0, "")
    said = json.loads(out)
    of_messages = {"report", "figures", "csv", "headline", "letters"}
    assert set(said) == of_messages | {"evaluations", "applications", "findings", "warnings", "collectives"}
    assert said["report"] == "page.html"
    for name in [said["report"], *said["figures"], *said["csv"]]:
        assert (tmp_path / name).stat().st_size > 0
    assert sorted(said["figures"]) == sorted(
        str(Path("figures", p.name)) for p in (tmp_path / "figures").iterdir()
    )
    assert said["csv"] == ["csv/pingpong-cache.csv"]
    (head,) = said["headline"]
    assert head["latency_s"]["value"] == pytest.approx(2e-6, rel=1e-6)
    # The largest message, 1 KiB, takes 3.024 µs.
    assert head["peaks"] == {
        "Link": pytest.approx(1024 / 3.024e-6 / 2e9),
        "Bus": pytest.approx(1024 / 3.024e-6 / 4e9),
    }


@pytest.mark.usefixtures("wide")
def test_a_folder_with_applications_alone(run: Run, campaign: Path, tmp_path: Path) -> None:
    made = Campaign.create(tmp_path / "rings", {})
    for ranks in (1, 2):
        made.append(
            AppRecord(
                operation="ring", ranks=ranks, parameters={"exchange": "sendrecv", "topology": "world"},
                time_s=1e-5, answer=RingAnswer(cycles=1, positions=list(range(ranks))),
            )
        )  # fmt: skip
    code, out, err = run(made.path)
    assert code == 0
    assert out.splitlines()[1:] == [f"wrote {made.path}/report.html"]
    assert "warning" in err
    save(build(campaign), tmp_path / "machine.json")
    assert [one["ranks"] for one in run.answers(made.path, "--machine", "machine.json")["applications"]] == [1, 2]


def test_a_machine_file(run: Run, campaign: Path, tmp_path: Path) -> None:
    save(build(campaign), tmp_path / "machine.json")
    assert run(campaign, "--machine", "machine.json")[0] == 0
    assert "absent.json" in run.explains(campaign, "--machine", "absent.json")


@patch("hockney.report.predicted.judged", lambda *_, **__: Judged(None))
def test_a_system_tells_where_levels_begin(run: Run, tmp_path: Path) -> None:
    times_s = {ranks: (1 + 0.1 * ranks) * (1.5e-6 if ranks > 64 else 1e-6) for ranks in range(2, 128, 2)}
    rows = [row(8, ranks, time_s, system="x", algorithm="linear") for ranks, time_s in times_s.items()]
    frame(rows, tmp_path / "t.csv")
    # A node of orfeo-epyc has two packages of 64 cores.
    assert run("t.csv", "--system", "orfeo-epyc", "-o", "with.html")[0] == 0
    assert run("t.csv", "-o", "without.html")[0] == 0
    assert "another package begins" in (tmp_path / "with.html").read_text(encoding="utf-8")
    assert "another package begins" not in (tmp_path / "without.html").read_text(encoding="utf-8")
    assert "orfeo-epyc" in run.explains("t.csv", "--system", "orfeo")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere"),
        (["demo", "--peak", "12.5GB/s"], "NAME=RATE"),
        (["demo", "--peak", "x=fast"], "NAME=RATE"),
        (["demo", "-o", "no/such/report.html"], "cannot write no/such/report.html"),
        (["demo", "--figure", "demo/plan.json"], "cannot write"),
        (["demo", "--csv", "demo/plan.json"], "cannot write"),
    ],
)
def test_a_mistake_is_one_line(run: Run, campaign: Path, arguments: list[str], message: str) -> None:
    del campaign  # only has to be there
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_statistic_or_size_that_nobody_measured_is_refused(run: Run, tmp_path: Path) -> None:
    frame([row(8, 4, algorithm="linear", mapping="", statistic="mean_over_ranks")], tmp_path / "t.csv")
    code, out, err = run("t.csv", "--statistic", "completion")
    assert (code, out) == (2, "")
    assert "no collective has times of the statistic 'completion'" in err
    assert "there is mean_over_ranks" in err
    err = run.refuses("t.csv", "--bytes", "8,2KiB")
    assert "no collective was measured at 2 KiB" in err
    assert not (tmp_path / "report.html").exists()
    assert run("t.csv", "--statistic", "mean_over_ranks", "--bytes", "8")[0] == 0


def test_two_campaigns_are_compared(run: Run, campaign: Path, tmp_path: Path) -> None:
    """One holds the other: they have all points in common, at the same times."""
    shutil.copytree(campaign, tmp_path / "again")
    rows = run.answers(campaign, tmp_path / "again")["collectives"]["pingpong"]["ratios"]
    assert [row["ratio"] for row in rows] == [1.0] * 12
    assert not any(row["is_told"] for row in rows)
    out = run.prints(campaign, tmp_path / "again")
    assert "fact: pingpong: again is as fast as demo (12 points)." in out
    for refused in (["--peak", "a=1GB/s"], ["--card"], ["--anonymous"]):
        err = run.refuses(campaign, tmp_path / "again", *refused)
        assert "Traceback" not in err
