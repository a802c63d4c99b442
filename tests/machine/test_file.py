"""The machine file: load–save is the identity, and every way a file can be wrong gives one clear line."""

from __future__ import annotations

import json
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.factories import refusing

from hockney.errors import RequestError
from hockney.machine.file import (
    Entry,
    Host,
    HostCache,
    HostCpu,
    LaunchProvenance,
    Machine,
    MeasuredSystem,
    Measurements,
    MpiLibrary,
    Point,
    Provenance,
    dumps,
    load,
    loads,
    save,
)
from hockney.models.base import Fit, Parameter, Quality, Regime
from hockney.models.collectives.base import CollectiveModel, CollectiveRegime, Term
from hockney.models.effects.base import Effect, Plot
from hockney.models.views import Statement, Views
from hockney.records.record import LOCALITIES

HERE = Path("machine.json")

real = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-12, max_value=1e6)
# Lone surrogates cannot be written as UTF-8; no program prints them.
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
texts = st.dictionaries(text, text, max_size=3)
count = st.integers(0, 2**50)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def parameter(ends: tuple[float, float, float], bare: bool, unit: str) -> Parameter:
    low, value, high = sorted(ends)
    return Parameter(value=value, unit=unit) if bare else Parameter(value=value, low=low, high=high, unit=unit)


parameters = st.builds(parameter, st.tuples(real, real, real), st.booleans(), text)
costs = st.builds(parameter, st.tuples(positive, positive, positive), st.booleans(), text)
lines = st.tuples(costs, costs, text)


def tiled(ends: list[float], lines: list[tuple[Parameter, Parameter, str]]) -> list[Regime]:
    """One regime for each end, and one without."""
    bounds = [0.0, *sorted(ends), None]
    return [
        Regime(min_B=low or 0.0, max_B=high, alpha_s=alpha, beta_s_per_B=beta, label=label)
        for (low, high), (alpha, beta, label) in zip(pairwise(bounds), lines, strict=False)
    ]


regimes = st.builds(tiled, st.lists(positive, max_size=1), st.lists(lines, min_size=2, max_size=2))
qualities = st.builds(
    Quality,
    points=count,
    median_relative_error=real,
    p95_relative_error=real,
    max_relative_error=real,
    adjusted_r2=maybe(real),
    leave_one_out_median=maybe(real),
    leave_one_out_p95=maybe(real),
)
fits = st.builds(
    Fit,
    model=text,
    regimes=regimes,
    parameters=st.dictionaries(text, parameters, max_size=2),
    nonphysical=st.booleans(),
    n_half_B=maybe(parameters),
    quality=maybe(qualities),
    notes=st.lists(text, max_size=1),
)
points = st.builds(
    Point,
    size_B=count,
    time_s=positive,
    low_s=maybe(st.just(1e-12)),
    high_s=maybe(positive),
    records=maybe(count),
    samples=maybe(count),
    disturbed=maybe(count),
    stop=st.lists(text, max_size=1),
)
size_B = attrgetter("size_B")
measurements = st.builds(
    Measurements,
    campaign=text,
    launches=st.lists(text, max_size=2),
    points=st.lists(points, max_size=2, unique_by=size_B).map(partial(sorted, key=size_B)),
    overheads=st.dictionaries(text, st.lists(points, max_size=1), max_size=1),
)
entries = st.builds(
    Entry,
    operation=text,
    locality=maybe(st.sampled_from(LOCALITIES)),
    variant=text,
    cache=st.sampled_from(["warm", "off", ""]),
    mapping=text,
    other=texts,
    pairs=st.lists(text, max_size=2),
    eager_limit_B=maybe(positive),
    oversubscribed=maybe(st.booleans()),
    fits=st.dictionaries(text, fits, max_size=2),
    notes=st.lists(text, max_size=1),
    measurements=measurements,
)
hosts = st.builds(
    Host,
    host=text,
    cpu_model=text,
    cpus=maybe(count),
    memory_B=maybe(count),
    caches=st.lists(
        st.builds(HostCache, level=count, type=text, size_B=count, shared=st.lists(count)), max_size=1
    ),
    topology=st.lists(st.builds(HostCpu, cpu=count, package=maybe(count), siblings=st.lists(count)), max_size=1),
)
statements = st.lists(st.builds(Statement, text=text, latex=text, where=text), max_size=1)
collectives = st.builds(
    CollectiveModel,
    operation=text,
    algorithm=text,
    parameters=st.fixed_dictionaries({"a": parameters}),
    regimes=st.lists(
        st.builds(
            CollectiveRegime,
            terms=st.lists(
                st.builds(Term, parameter=st.just("a"), factor=real, per_byte=st.booleans()), max_size=2
            ),
            max_ranks=maybe(count),
            max_B=maybe(positive),
        ),
        max_size=2,
    ),
    as_printed=statements,
    source=text,
)
effects = st.builds(
    Effect,
    effect=text,
    locality=maybe(st.sampled_from(LOCALITIES)),
    parameters=st.dictionaries(text, parameters, max_size=2),
    views=st.builds(Views, asymptotic=statements, exact=statements),
    points=st.lists(
        st.dictionaries(text, st.one_of(real, count, text, st.booleans(), st.none()), max_size=2), max_size=2
    ),
    plots=st.lists(st.builds(Plot, x=text, y=text), max_size=1),
    not_measurable=text,
    not_identified=texts,
    launches=st.lists(text, max_size=1),
)
machines = st.builds(
    Machine,
    schema_version=st.just(5),
    effects=st.lists(effects, max_size=1),
    hockney_version=text,
    created=text,
    system=st.builds(MeasuredSystem, name=text, hosts=st.lists(hosts, max_size=1)),
    mpi=st.lists(st.builds(MpiLibrary, name=text, kind=text, settings=texts), max_size=1),
    point_to_point=st.lists(entries, max_size=1),
    collectives=st.lists(collectives, max_size=1),
    topology=text,
    provenance=st.builds(
        Provenance,
        launches=st.lists(st.builds(LaunchProvenance, id=text, argv=st.lists(text), settings=texts), max_size=1),
        warnings=st.lists(text, max_size=1),
    ),
)


# Machines have many fields; generating them is slow on a busy machine.
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(machines)
def test_what_is_written_is_read_back_and_written_again_the_same(machine: Machine) -> None:
    written = dumps(machine)
    again = loads(written, HERE)
    assert again == machine
    assert dumps(again) == written


def small() -> dict[str, Any]:
    """A machine file as a person would write it by hand."""
    return {
        "schema_version": 1,
        "hockney_version": "0.1",
        "created": "2026-11-20T22:30:00Z",
        "system": {"name": "twin"},
        "mpi": [{"name": "Open MPI 5.0.11", "kind": "openmpi", "version": "5.0.11"}],
        "point_to_point": [
            {
                "operation": "pingpong",
                "locality": "cache",
                "fits": {},
                "measurements": {"campaign": "demo", "points": [{"size_B": 8, "time_s": 2.5e-7}]},
            }
        ],
        "provenance": {},
    }


def test_fields_that_may_be_absent_take_their_defaults() -> None:
    entry = loads(json.dumps(small()), HERE).point_to_point[0]
    assert (entry.variant, entry.cache, entry.oversubscribed, entry.pairs) == ("", "", None, [])


def test_a_file_saved_twice_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    save(loads(json.dumps(small()), HERE), first)
    save(load(first), second)
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"], "no temporary is left"


def test_a_newer_schema_names_both_versions_and_the_way_out() -> None:
    newer = small() | {"schema_version": 7, "something_new": {}}
    with refusing(r"schema version 7.*reads up to version 5", "upgrade"):
        loads(json.dumps(newer), HERE)


@pytest.mark.parametrize("cut", [1, 40, 200, -3])
def test_a_truncated_file_names_the_line(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "machine.json"
    whole = dumps(loads(json.dumps(small()), HERE))
    path.write_text(whole[:cut], encoding="utf-8")
    with pytest.raises(RequestError, match=r"machine\.json:\d+: damaged JSON") as caught:
        load(path)
    line = int(caught.value.message.split("machine.json:")[1].split(":")[0])
    # The parser stops at the end of the text, or before the blanks at that end.
    assert whole[:cut].rstrip().count("\n") + 1 <= line <= whole[:cut].count("\n") + 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data.update(colour="red"), "unknown field colour"),
        (lambda data: data["system"].update(colour="red"), r"unknown field system\.colour"),
        (
            lambda data: data["point_to_point"][0]["measurements"]["points"][0].update(time_us=1),
            r"unknown field point_to_point\.0\.measurements\.points\.0\.time_us",
        ),
        (lambda data: data.pop("mpi"), "mpi: Field required"),
        (
            lambda data: data["point_to_point"][0].update(locality="moon"),
            r"point_to_point\.0\.locality: .*'network'",
        ),
        (lambda data: data["point_to_point"][0]["measurements"]["points"][0].update(time_s=-1), "greater than 0"),
    ],
)
def test_a_wrong_field_is_named_by_its_path(damage: Any, message: str) -> None:
    data = small()
    damage(data)
    with pytest.raises(RequestError, match=message):
        loads(json.dumps(data), HERE)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" + "0" * 400])
def test_a_number_that_is_none_is_refused_when_reading(number: str) -> None:
    with pytest.raises(RequestError, match="a number that is too large"):
        loads(json.dumps(small()).replace("2.5e-07", number), HERE)


@pytest.mark.parametrize("body", ["[]", "3", "{}", '{"schema_version": "1"}', '{"schema_version": true}', "null"])
def test_other_json_is_no_machine_file(body: str) -> None:
    with refusing("is not a machine file", "hockney fit"):
        loads(body, HERE)


def test_nan_is_refused_when_reading() -> None:
    with pytest.raises(RequestError, match="damaged JSON"):
        loads(json.dumps(small()).replace("2.5e-07", "NaN"), HERE)


@pytest.mark.parametrize("body", ["[" * 100_000, '{"schema_version": 1' + "0" * 5000 + "}"])
def test_hostile_json_is_damaged_not_a_crash(body: str) -> None:
    with pytest.raises(RequestError):
        loads(body, HERE)


def test_bytes_that_are_no_text_are_damage(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(b"\x89PNG\r\n\xff")
    with pytest.raises(RequestError, match="not text"):
        load(path)


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with refusing("no machine file", "hockney fit"):
        load(tmp_path / "machine.json")


def test_a_folder_is_no_machine_file(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"is a folder without a machine\.json"):
        load(tmp_path)


@pytest.mark.parametrize("content", ["precious", '{"precious": 1}', ""])
def test_save_never_overwrites_what_is_no_machine_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "notes.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(RequestError, match="not a machine file"):
        save(loads(json.dumps(small()), HERE), path)
    assert path.read_text(encoding="utf-8") == content


def test_save_replaces_a_machine_file(tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    save(loads(json.dumps(small()), HERE), path)
    save(loads(json.dumps(small() | {"created": "later"}), HERE), path)
    assert load(path).created == "later"


def test_save_into_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no folder"):
        save(loads(json.dumps(small()), HERE), tmp_path / "absent" / "machine.json")
