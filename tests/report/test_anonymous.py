"""Pages of a class that name nobody, with a curve for each system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests import factories

from hockney.api import report
from hockney.errors import RequestError
from hockney.report.make import make

pytestmark = pytest.mark.usefixtures("undrawn")

NAMES = ("anna", "ben", "carla")


@pytest.fixture
def of_class(tmp_path: Path) -> Path:
    """Each on a laptop with caches of its own; the names stand wherever a campaign has room for them."""
    records, launches = [], []
    for number, name in enumerate(NAMES):
        host, id_ = f"{name}s-laptop", f"launch{number}"
        caches = [{"level": 1, "type": "Data", "size_B": 2 ** (6 + number), "cpus": ["0"], "shared": [0]}]
        launches.append(
            {
                "id": id_, "index": number, "argv": [f"/home/{name}/runner"], "environment": {"USER": name},
                "warnings": [f"{name} was busy"], "imported": f"/home/{name}/osu.txt",
                "hosts": [{"host": host, "cpu_model": "cpu"}],
                "mpi": {"kind": "openmpi", "version": "5.0", "wrapper": f"/home/{name}/mpicc"},
                "ranks": [{"rank": rank, "host": host, "cpu": rank, "caches": caches} for rank in (0, 1)],
            }
        )  # fmt: skip
        records += factories.messages(
            1e-6 * (number + 1), system=name, launch=id_, locality="cache", cache="warm"
        )
    return factories.campaign(tmp_path / "class", records, *launches, plan={"system": "anna"})


def test_no_name_stands_in_an_anonymous_page(of_class: Path) -> None:
    page = report(of_class, anonymous=True)
    assert sorted(page.letters) == sorted(NAMES)
    assert sorted(page.letters.values()) == ["A", "B", "C"]
    said = [page.made.html, str(page.findings), str(page.warnings), str(page.headlines)]
    named = report(of_class).made.html
    for name in NAMES:
        assert name in named
        assert not [text for text in said if re.search(name, text)]
    assert "MPI point to point on" in page.made.html
    # Whose is whose: the latencies are those of the letters.
    for number, name in enumerate(NAMES):
        (head,) = [head for head in page.made.content.headlines if head.label == page.letters[name]]
        assert head.latency_s.value == pytest.approx(1e-6 * (number + 1), rel=0.05)


def test_an_anonymous_page_takes_no_machine_file(of_class: Path) -> None:
    with pytest.raises(RequestError, match="no machine file"):
        report(of_class, anonymous=True, machine="ci_2core")


def test_a_class_begins_with_a_curve_for_each_system(of_class: Path) -> None:
    (section,) = [section for section in make(of_class).sections if section.id == "pingpong"]
    first = section.figures[0]
    (legend,) = first.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [*NAMES]
    assert "Caches" not in first.caption
    for number, part in enumerate(section.parts):
        assert part.figures[0].caption.startswith(f"Caches: L1d {2 ** (6 + number)} B.")
