"""What `hockney fit` makes of a campaign: the machine file, and what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from hockney.api.campaign import Campaign, Doing, unsaid
from hockney.machine.file import Machine, check_writable, save
from hockney.models.views import VIEWS
from hockney.records.keys import TRANSFERS
from hockney.report.views.render import as_formulas, oversubscription, overview, preferred

if TYPE_CHECKING:
    from hockney.apps.ring.lines import RingComparison
    from hockney.report.views.sections import ModelSection

MOST_PARAMETERS = 6
"""Of an effect that are printed here; `show` has all."""


@dataclass(frozen=True)
class FittedFile:
    """The machine and the file that holds it, None of rings alone, and the lines of rings."""

    path: Path | None
    machine: Machine | None
    rings: Sequence[RingComparison]

    @property
    def warnings(self) -> list[str]:
        """What should be known before the models are trusted."""
        return self.machine.provenance.warnings if self.machine else []

    @property
    def remarks(self) -> list[str]:
        """What the JSON holds among its warnings: entries whose ranks shared cores."""
        return oversubscription(self.machine) if self.machine else []

    @property
    def data(self) -> dict[str, Any]:
        """The answer for `--json`."""
        curves = [TypeAdapter(type(ring)).dump_python(ring, mode="json") for ring in self.rings]
        rings = {"rings": curves} if curves else {}
        if self.machine is None:
            return {"machine": None, **rings}
        from hockney.report.views.render_views import sections_data
        from hockney.report.views.sections import of_collectives, of_effects

        return {
            "machine": str(self.path),
            **overview(self.machine),
            "effects": sections_data(of_effects(self.machine), VIEWS),
            "collectives": sections_data(of_collectives(self.machine, None), VIEWS),
            **rings,
        }

    @property
    def text(self) -> str:
        """The formulas of the preferred models, of effects in a few lines, of collectives and of rings."""
        if self.machine is None:
            curves = [ring.curve for ring in self.rings]
            titles = [curve.title_among(curves) for curve in curves]
            end = f"no machine file: none of {', '.join(TRANSFERS)} was measured"
            return "\n".join([*_ring_lines(self.rings, titles), end])
        parts = [as_formulas(preferred(self.machine), figures=True), *_beside_messages(self.machine)]
        lines = ["\n\n".join(filter(None, parts))]
        if self.machine.effects:
            lines.append(
                f"\nformulas of the effects, and what could not be identified: `hockney show {self.path}`"
            )
        lines += _ring_lines(self.rings, [ring.curve.title for ring in self.rings])
        return "\n".join([*lines, f"wrote {self.path}"])


def fit_to_file(measured: Path, output: Path, topology: str = "", *, progress: Doing = unsaid) -> FittedFile:
    """Fit every model to a campaign or table and write the machine file; errors as `Campaign.fit` and `save`.

    Of rings alone there are lines, and no file: that is made from messages between two ranks.
    """
    check_writable(output)
    campaign = Campaign.open(measured)
    if campaign.has_rings_alone:
        return FittedFile(None, None, campaign.rings)
    machine = campaign.fitted(topology, progress=lambda name: progress(f"fitting {name}"))
    progress(f"writing {output}")
    save(machine, output)
    return FittedFile(output, machine, campaign.rings)


def _beside_messages(machine: Machine) -> list[str]:
    """Effects in a few lines, and the formulas of collectives."""
    if not machine.effects and not machine.collectives:
        return []
    # They bring closed forms, which messages do without.
    from hockney.report.views.render_views import sections_text
    from hockney.report.views.sections import of_collectives, of_effects

    return [
        sections_text([shortened(section) for section in of_effects(machine)], (), True),
        sections_text(of_collectives(machine, None), ("exact",), False),
    ]


def shortened(section: ModelSection) -> ModelSection:
    """The first parameters of an effect; where it has none, the reasons."""
    if not section.parameters:
        return section
    first = dict(islice(section.parameters.items(), MOST_PARAMETERS))
    others = len(section.parameters) - len(first)
    return replace(section, parameters=first, lines=[f"and {others} more"] if others else [], as_printed=[])


def _ring_lines(rings: Sequence[RingComparison], titles: Sequence[str]) -> list[str]:
    if not rings:
        return []
    from hockney.apps.ring.lines import in_words

    return [line for ring, title in zip(rings, titles, strict=True) for line in (title, *in_words(ring))]
