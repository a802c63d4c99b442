"""What a card says: everything that limits a machine, published numbers as printed, the important first."""

from __future__ import annotations

from pathlib import Path

from hockney.machine.file import Entry, Machine, load
from hockney.models.effects.base import Effect
from hockney.report.card.content import CardModel, content, label, principal

TWIN = load(Path(__file__).parents[2] / "machine" / "data" / "version1.json")
BLUE_GENE = load(Path("bluegene_p"))


def entries(*changes: dict[str, object]) -> list[Entry]:
    """The first entry of the twin with other words, one for each change."""
    return [TWIN.point_to_point[0].model_copy(update=change) for change in changes]


def with_effects(*effects: Effect) -> Machine:
    return TWIN.model_copy(update={"effects": list(effects)})


def by_title(models: list[CardModel]) -> dict[str, CardModel]:
    return {one.title: one for one in models}


def test_the_nearest_and_the_farthest_ranks_come_first() -> None:
    card = content(TWIN)
    assert [one.name for one in card.key] == [
        "latency, one package",
        "peak, one package",
        "latency, two nodes",
        "peak, two nodes",
    ]
    # As measured; the model has 0.19 to 0.21 µs.
    assert (card.key[0].value, card.key[0].interval) == ("0.2 µs", "0.198 to 0.202 µs")
    assert card.messages[0].title == "pingpong, same package"


def test_numbers_of_the_paper_as_printed() -> None:
    card = content(BLUE_GENE)
    assert [one.value for one in card.key] == ["4.5 µs", "374.5 MB/s"]
    allreduce = by_title(card.collectives)["allreduce"]
    assert {one.name: one.value for one in allreduce.numbers}["T small"] == "17.77 µs"
    alltoall = by_title(card.collectives)["alltoall"]
    [printed] = alltoall.as_printed
    assert printed.startswith("T(S, P) ≥ g(P−1) + S · G · ∛P · (∛P/2 + 1)³ (")
    # Section 4's C at k = 8: 8 · 5³ as printed, 8⁴/8 exactly.
    assert "no lower bound" in printed
    assert "1000 for 512 at k = 8" in printed
    injection = by_title(card.effects)["injection"]
    assert any("2247 MiB/s as printed" in one.where for one in injection.formulas)
    assert any("max((P−1)/6, C)" in one.text for one in alltoall.formulas if one.view == "bounded")
    [pingpong] = card.messages
    assert {one.view for one in pingpong.formulas} == {"asymptotic", "dominant", "bounded", "exact"}


def test_remarks_say_whose_they_are_unless_they_are_everybodys() -> None:
    first, second = entries({"locality": "core"}, {"locality": "node"})
    first, second = (
        first.model_copy(update={"notes": ["of all", "of one"]}),
        second.model_copy(update={"notes": ["of all"]}),
    )
    limits = content(TWIN.model_copy(update={"point_to_point": [first, second]})).limits
    assert "of all" in limits
    assert "same core: of one" in limits


def test_limits_of_a_published_machine() -> None:
    limits = content(BLUE_GENE).limits
    assert "no intervals: how well any number is known is not said" in limits
    assert "no measured sizes: where the fits end is not known" in limits
    assert any(line.startswith("not identified: synchronisation, S: ") for line in limits)
    assert any("374.5 MB/s; the paper prints 374.5 MiB/s" in line for line in limits)


def test_every_limit_of_a_measured_machine_is_named() -> None:
    missing = Effect(effect="congestion", locality="network", not_measurable="no second node")
    open_ = Effect(effect="injection", not_identified={"R_N": "four more ranks"}, notes=["a note"])
    card = content(with_effects(missing, open_))
    assert any(line.startswith("measured with more ranks than cores") for line in card.limits)
    assert "messages from 0 B to 1 MiB: beyond, extrapolated" in card.limits
    assert "not measurable: congestion (network): no second node" in card.limits
    assert "not identified: injection, R_N: four more ranks" in card.limits
    assert "injection: a note" in card.limits
    assert not any("no intervals" in line for line in card.limits)
    assert card.effects == [], "an effect without numbers or formulas is a limit, not an effect"


def test_provenance_names_library_host_and_launches() -> None:
    provenance = content(TWIN).provenance
    assert any(line.startswith("Open MPI") and "=" not in line for line in provenance)
    assert any(line.startswith("AMD EPYC, 2 CPUs") for line in provenance)
    assert any(line.startswith("1 launch,") for line in provenance)
    assert "published, not measured: Hoefler et al. 2010" in content(BLUE_GENE).provenance


def test_warnings_stand_before_what_may_be_cut() -> None:
    machine = TWIN.model_copy(deep=True)
    machine.provenance.warnings = ["The machine changed its speed."]
    assert content(machine).provenance[1] == "The machine changed its speed."


def test_one_entry_of_each_locality_is_principal() -> None:
    chosen = principal(TWIN.point_to_point)
    assert [(one.locality, one.variant, one.cache) for one in chosen] == [
        ("package", "default", "warm"),
        ("network", "default", "warm"),
    ]


def test_a_label_says_what_tells_an_entry_from_the_others() -> None:
    found = entries({}, {"variant": "tcp"}, {"cache": "off"}, {"locality": "network"})
    assert [label(one, found) for one in found] == [
        "same package",
        "same package, tcp",
        "same package, cache off",
        "between nodes",
    ]


def test_closed_forms_take_the_machines_numbers() -> None:
    [binomial] = [one for one in content(TWIN).closed_forms if one.title == "bcast, binomial"]
    # The farthest ranks: 1.5 µs and 12.5 GB/s.
    assert "1.5 µs" in binomial.formulas[0].text
    assert "12.5 GB/s" in binomial.formulas[1].text
