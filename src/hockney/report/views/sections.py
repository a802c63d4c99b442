"""Sections of `hockney show`: fits, effects and collectives, each with a heading, lines and four views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hockney.errors import RequestError
from hockney.machine.congestion import Congestions
from hockney.machine.file import Machine
from hockney.machine.formula import OVERSUBSCRIBED, interval, stated
from hockney.machine.select import UNKNOWN, collective_title, titles
from hockney.models.base import Fit, Parameter
from hockney.models.collectives.base import CollectiveModel
from hockney.models.effects.base import Cell, Effect, effect_models
from hockney.models.views import Statement, View, Views
from hockney.records.statistic import BY_NAME
from hockney.report.views.fit_views import views_of
from hockney.units import counted, percent


@dataclass(frozen=True)
class ModelSection:
    """A model in four views; `lines` hold notes, or why there is no model."""

    heading: str
    views: Views
    of: Fit | Effect | CollectiveModel
    parameters: dict[str, Parameter] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    as_printed: list[Statement] = field(default_factory=list)
    points: list[dict[str, Cell]] = field(default_factory=list)
    missing: str = ""
    """The reason why a view has no statement."""
    is_fitted: bool = False

    def word(self, view: View) -> str:
        """What a view is called: a formula that was fitted is not exact."""
        return "fitted" if view == "exact" and self.is_fitted else view


def of_fits(machine: Machine, congestions: Congestions | None) -> list[ModelSection]:
    """Sections on every fit of every entry."""
    sections = []
    entries = machine.point_to_point
    for entry, of in zip(entries, titles(entries), strict=True):
        for name, fit in entry.fits.items():
            views = views_of(entry, fit, congestions.at(entry) if congestions else None)
            lines = ["not physical: a parameter is negative"] if fit.nonphysical else []
            if entry.oversubscribed:
                lines.append(OVERSUBSCRIBED)
            heading = f"{of} — {name}"
            sections.append(
                ModelSection(
                    heading,
                    views,
                    fit,
                    lines=lines,
                    missing=_no_bounds(fit),
                    is_fitted=fit.quality is not None,
                )
            )
    return sections


def _no_bounds(fit: Fit) -> str:
    """The reason why a fit has no bounds; it always has the other views."""
    if fit.nonphysical:
        return "no bounds: a parameter is negative"
    return (
        "no bounds: neither C nor the error of points left out is known; measure congestion, or give --topology"
    )


def of_effects(
    machine: Machine, name: str | None = None, locality: str | None = None, variant: str | None = None
) -> list[ModelSection]:
    """Sections on the effects of the file that match. RequestError for a name that the file does not have."""
    effects = [effect for effect in machine.effects if name in (None, effect.effect)]
    if name is not None and not effects:
        known = ", ".join(sorted({effect.effect for effect in machine.effects})) or "none"
        raise RequestError(
            f"no effect {name!r} in the machine file",
            f"there: {known}; measure it: `hockney measure --operation {name}`, then `hockney fit`",
        )
    return [
        _of_effect(effect, machine.effects)
        for effect in effects
        if locality in (None, effect.locality or UNKNOWN) and variant in (None, effect.variant)
    ]


def _of_effect(effect: Effect, among: Sequence[Effect]) -> ModelSection:
    alike = [other for other in among if other.effect == effect.effect]
    # The heading names systems and placements if there are several.
    differing = [name for name in ("system", "placement") if len({getattr(other, name) for other in alike}) > 1]
    words = {
        "locality": effect.locality,
        "variant": effect.variant if effect.variant != "default" else "",
        "mapping": effect.mapping,
        "mpi": effect.mpi,
        **{name: str(getattr(effect, name)) for name in differing},
    }
    heading = ", ".join([effect.effect, *(f"{name} {word}" for name, word in words.items() if word)])
    lines = [OVERSUBSCRIBED] if effect.oversubscribed and not effect.not_measurable else []
    if effect.not_measurable:
        lines.append(f"not measurable: {effect.not_measurable}")
    lines += [f"{name} is not identified: {settles}" for name, settles in effect.not_identified.items()]
    lines += effect.notes
    if effect.source:
        lines.append(f"published: {effect.source}")
    return ModelSection(
        heading,
        effect.views,
        effect,
        effect.parameters,
        lines,
        points=effect.points,
        missing=_unstated(effect.source),
    )


def of_collectives(machine: Machine, operation: str | None) -> list[ModelSection]:
    """Sections on published or fitted models of the file. RequestError for a collective that it has none of."""
    models = [model for model in machine.collectives if operation in (None, model.operation)]
    if operation is not None and not models:
        known = ", ".join(sorted({model.operation for model in machine.collectives})) or "none"
        raise RequestError(
            f"no model of {operation} in the machine file",
            f"there: {known}; `hockney predict {operation} --machine FILE` simulates each algorithm",
        )
    return [_of_model(model, models) for model in models]


def _of_model(model: CollectiveModel, among: Sequence[CollectiveModel]) -> ModelSection:
    lines = [*quality_lines(model), *model.notes]
    if model.source:
        lines.append(f"published: {model.source}")
    return ModelSection(
        collective_title(model, among),
        model.views,
        model,
        model.parameters,
        lines,
        model.as_printed,
        model.points,
        _unstated(model.source),
        model.quality is not None,
    )


def quality_lines(model: CollectiveModel) -> list[str]:
    """How well a fitted model describes what was measured, and what was left out; none of a published one."""
    quality = model.quality
    if quality is None:
        return []
    carried = len(model.points)
    of_file = f" ({carried} of them in this file)" if carried < quality.points else ""
    if not model.regimes:
        return [f"{counted(quality.points, 'point')} and what lies between them; {_timed(model.statistic)}"]
    lines = [
        f"{counted(quality.points, 'point')}{of_file}, median error {percent(quality.median_relative_error)}, "
        f"95 % within {percent(quality.p95_relative_error)}; {_timed(model.statistic)}"
    ]
    if quality.left_out_median is not None:
        lines.append(
            f"leave-one-out: median {percent(quality.left_out_median)}, 95 % within a factor of "
            f"{quality.model_factor:.3g}"
        )
    return lines


def _timed(statistic: str) -> str:
    known = BY_NAME.get(statistic)
    return (known and known.phrase) or statistic


def _unstated(source: str) -> str:
    return "its source states none" if source else "none was fitted"


def effects_known(machine: Machine) -> list[str]:
    """Names of all effects that this version or the file knows."""
    return sorted({*effect_models.names(), *(effect.effect for effect in machine.effects)})


def parameter_line(name: str, parameter: Parameter) -> str:
    """`o_s = 0.3 µs (0.28 to 0.31 µs)`."""
    value = f"{name} = {stated(parameter)}"
    bounds = interval(parameter)
    return value if bounds == "—" else f"{value} ({bounds})"
