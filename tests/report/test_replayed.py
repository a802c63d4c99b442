"""The page of a recorded run: its answers, what would help, what ranks do when, and who waits for whom."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import outcome
from tests.predict.replay.encoding import RankTrace, traces, write

MS = 1e-3
STEPS = 20


def uneven(site: str = "app.c:1 (main)") -> list[RankTrace]:
    """Rank 0 computes 3 ms a step, rank 1 waits for it after 1 ms; 8 B each way."""
    slow, quick = traces(2)
    for _ in range(STEPS):
        slow.compute(3 * MS)
        quick.compute(1 * MS)
        slow.send(1, 8, site=site)
        slow.recv(1, 8, site=site)
        quick.send(0, 8, site=site)
        quick.recv(0, 8, site=site)
    return [slow, quick]


def page(folder: Path, ranks: list[RankTrace], *words: str) -> tuple[dict[str, Any], str]:
    """The answer and the page."""
    trace, out = write(folder / "run.trace", ranks), folder / "run.html"
    code, said, error = outcome("report", trace, "--machine", "orfeo_thin", "-o", out, "--json", *words)
    assert code == 0, error
    return json.loads(said), out.read_text(encoding="utf-8")


def timeline(html: str) -> dict[str, Any]:
    """The data that the page's script draws."""
    found = re.search(r'<script type="application/json" id="explorer-data">(.*?)</script>', html, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_it_begins_with_what_limits_the_run_and_what_helps_most(tmp_path: Path) -> None:
    answer, html = page(tmp_path, uneven())
    first, *others = [finding["text"] for finding in answer["findings"]]
    assert re.match(r"What limits the run is computing: (99|100) % of the 60(\.\d)? ms", first)
    # With 2 ms on each rank a step takes 2 in place of 3.
    (helps,) = [text for text in others if "As much computing on each rank" in text]
    assert re.search(r"would save (19\.9|20) ms.*33 % of the run", helps)
    # Rank 1 waits 2 of 3 ms, rank 0 next to nothing.
    (waits,) = [text for text in others if "A rank waits" in text]
    assert re.search(r"waits 20(\.\d)? ms of the run, (99|100) % of it for ranks that are late", waits)
    assert [
        f'id="{name}"' in html for name in ("critical-path", "helps", "timeline", "tolerance", "waiting")
    ] == [True] * 5


def test_the_timeline_has_all_that_ranks_compute_and_wait(tmp_path: Path) -> None:
    _, html = page(tmp_path, uneven())
    data = timeline(html)
    total_s = {(rank, kind): 0.0 for rank in (0, 1) for kind in range(3)}
    for rank, kind, start_s, end_s in zip(
        data["rank"], data["kind"], data["start_s"], data["end_s"], strict=True
    ):
        assert data["from_s"] <= start_s <= end_s <= data["until_s"]
        total_s[rank, kind] += end_s - start_s
    assert total_s[0, 0] == pytest.approx(STEPS * 3 * MS)
    assert total_s[1, 0] == pytest.approx(STEPS * 1 * MS)
    # A message on its way is a few microseconds of each step.
    assert total_s[1, 1] == pytest.approx(STEPS * 2 * MS, rel=0.01)
    assert data["sites"] == ["app.c:1 (main)"]


def test_a_long_run_shows_a_window_in_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hockney.predict.replay.picture.MOST_MOMENTS", 40)
    _, html = page(tmp_path, uneven())
    data = timeline(html)
    # 82 calls have about 164 moments: a quarter of the run.
    assert data["until_s"] - data["from_s"] == pytest.approx(60 * MS * 40 / 164, rel=0.05)
    assert (data["until_s"] + data["from_s"]) / 2 == pytest.approx(30 * MS, rel=0.05)


def test_who_waits_for_whom(tmp_path: Path) -> None:
    """In a sweep each rank waits for the one before."""
    ranks = traces(4)
    for rank in ranks:
        if rank.rank > 0:
            rank.recv(rank.rank - 1, 8)
        rank.compute(5 * MS)
        if rank.rank < 3:
            rank.send(rank.rank + 1, 8)
    _, html = page(tmp_path, ranks)
    table = html[html.index("Pairs that wait longest") :]
    pairs = re.findall(r'<th scope="row">(\d)</th><td>(\d)</td><td>([\d.]+) ms</td>', table)
    assert [(int(a), int(b), round(float(time_ms))) for a, b, time_ms in pairs] == [
        (3, 2, 15),
        (2, 1, 10),
        (1, 0, 5),
    ]


def test_a_site_is_text_whatever_it_is_called(tmp_path: Path) -> None:
    _, html = page(tmp_path, uneven("</script><b>x.c:1"))
    assert "</script><b>" not in html
    assert timeline(html)["sites"] == ["</script><b>x.c:1"]


@pytest.mark.parametrize("words", [("--peak", "a=1GB/s"), ("--anonymous",), ("--csv", "out")])
def test_options_of_campaigns_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    trace = write(tmp_path / "run.trace", uneven())
    code, _, error = outcome("report", trace, "--machine", "orfeo_thin", *words)
    assert code == 2
    assert f"the page of a run does not take {words[0]}" in " ".join(error.split())


def test_one_run_on_one_system(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.trace", uneven())
    for words in (("other.json",), ("--system", "orfeo-epyc", "--system", "orfeo-thin")):
        code, _, error = outcome("report", trace, "--machine", "orfeo_thin", *words)
        assert (code, "a page is of one run on one system" in " ".join(error.split())) == (2, True)


def test_a_run_that_takes_no_time_has_no_page(tmp_path: Path) -> None:
    trace = write(tmp_path / "run.trace", traces(2))
    code, _, error = outcome("report", trace, "--machine", "orfeo_thin")
    assert (code, "takes no time" in " ".join(error.split())) == (2, True)


def test_a_rank_that_hardly_computes_is_no_place_for_the_work_of_others(tmp_path: Path) -> None:
    ranks = traces(2)
    ranks[0].compute(1e-6)
    ranks[1].compute(50 * MS)
    for rank in ranks:
        rank.sendrecv(1 - rank.rank, 8, 1 - rank.rank, 8)
    answer, _ = page(tmp_path, ranks)
    assert not [finding for finding in answer["findings"] if "as much computing" in finding["text"].lower()]


def test_algorithms_that_do_not_do_a_call_are_passed_over(tmp_path: Path) -> None:
    """On three ranks some halve and double, which three cannot."""
    ranks = traces(3)
    for rank in ranks:
        rank.compute(1 * MS)
        rank.collective("allgather", 8)
        rank.collective("reduce_scatter", 24)
    answer, _ = page(tmp_path, ranks)
    assert answer["findings"]
