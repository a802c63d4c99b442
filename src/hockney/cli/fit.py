"""`hockney fit`: from a campaign to a machine file."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

from hockney.cli._measured import MeasuredData
from hockney.fields import Option
from hockney.records.keys import TRANSFERS
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.api.campaign import Campaign
    from hockney.apps.ring.lines import RingComparison, in_words
    from hockney.machine.file import check_writable
    from hockney.models.views import VIEWS
    from hockney.report.views.render import as_formulas, oversubscription, overview, preferred
    from hockney.report.views.render_views import sections_data, sections_text
    from hockney.report.views.sections import ModelSection, of_collectives, of_effects


class FitOptions(MeasuredData):
    """What is fitted, and what the machine file says of it."""

    output: Annotated[Path, Option("Machine file.", flags=("--output", "-o"))] = Path("machine.json")
    topology: Annotated[str, Option("See `hockney network`.")] = ""


@verb(
    "fit",
    examples="""
hockney fit demo
hockney fit demo -o machine.json
hockney fit demo -o machine.json --topology fat-tree:nodes=148,leaf-ports=32:16,spines=4,spine-ports=48
hockney fit tidy.csv.gz -o cluster.json --json
""",
)
def fit(options: FitOptions, as_json: JsonOption = False) -> None:
    """Fit every model to every configuration of a campaign, and write the machine file.

    Of rings the lines between breaks are fitted, too: half the slope is the latency of a message.
    """
    output = options.output
    check_writable(output)
    campaign = Campaign.open(options.campaign)
    rings = campaign.rings
    if campaign.has_rings_alone:
        _say_rings(rings, as_json=as_json)
        return
    with say.status("fitting …") as status:
        fitted = campaign.fit(options.topology, progress=lambda name: status(f"fitting {name}"))
        status(f"writing {output}")
        fitted.save(output)
    machine = fitted.content
    for warning in machine.provenance.warnings:
        say.warn(warning)
    if as_json:
        effects = sections_data(of_effects(machine), VIEWS)
        collectives = sections_data(of_collectives(machine, None), VIEWS)
        more = {"rings": rings} if rings else {}
        found = {"effects": effects, "collectives": collectives, **more}
        say.json({"machine": str(output), **overview(machine), **found})
        return
    for warning in oversubscription(machine):
        say.warn(warning)
    fits = as_formulas(preferred(machine), figures=True)
    shortened = [_shortened(section) for section in of_effects(machine)]
    effects_text = sections_text(shortened, (), True)
    collectives_text = sections_text(of_collectives(machine, None), ("exact",), False)
    say.line("\n\n".join(filter(None, [fits, effects_text, collectives_text])))
    if shortened:
        say.line(f"\nformulas of the effects, and what could not be identified: `hockney show {output}`")
    for line in [line for one in rings for line in (one.curve.title, *in_words(one))]:
        say.line(line)
    say.line(f"wrote {output}")


def _say_rings(rings: list[RingComparison], *, as_json: bool) -> None:
    """Of rings alone there are lines, and no machine file: that is made from messages between two ranks."""
    if as_json:
        say.json({"machine": None, "rings": rings})
        return
    for one in rings:
        say.line(one.curve.title_among([other.curve for other in rings]))
        for line in in_words(one):
            say.line(line)
    say.line(f"no machine file: none of {', '.join(TRANSFERS)} was measured")


MOST_PARAMETERS = 6
"""Of an effect that are printed here; `show` has all."""


def _shortened(section: ModelSection) -> ModelSection:
    """The first parameters of an effect; where it has none, the reasons."""
    if not section.parameters:
        return section
    first = dict(islice(section.parameters.items(), MOST_PARAMETERS))
    others = len(section.parameters) - len(first)
    return replace(section, parameters=first, lines=[f"and {others} more"] if others else [], as_printed=[])
