"""The machine's numbers for closed forms of collectives: α, β of nearest and farthest ranks, and LogGP."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.machine.file import Entry, Machine
from hockney.machine.formula import quantity
from hockney.models.base import Fit
from hockney.models.collectives._written import WrittenTerm
from hockney.models.collectives.expression import Expression
from hockney.records.record import LOCALITIES
from hockney.units import format_rate


@dataclass(frozen=True)
class CollectiveCosts:
    """Piecewise fits of ping-pongs between the nearest and the farthest ranks measured; LogGP of the farthest.

    The nearest ranks need not be the fastest: `between` holds the other fits, for bounds.
    """

    nearest: Fit
    farthest: Fit
    loggp: Fit | None
    localities: tuple[str, str]
    between: tuple[Fit, ...] = ()

    @property
    def every(self) -> tuple[Fit, ...]:
        """All fits, whatever the locality."""
        return self.nearest, *self.between, self.farthest


def costs_of(machine: Machine) -> CollectiveCosts | None:
    """The costs from piecewise fits of ping-pongs with the default variant and a warm cache; None without any.

    Ping-pongs of ranks that shared a core are left out: their times are those of the scheduler.
    """
    usual = sorted(
        (
            entry
            for entry in machine.point_to_point
            if entry.operation == "pingpong"
            and "piecewise" in entry.fits
            and entry.variant in ("", "default")
            and entry.cache in ("", "warm")
            and not entry.oversubscribed
        ),
        key=_distance,
    )
    if not usual:
        return None
    near, far = usual[0], usual[-1]
    return CollectiveCosts(
        near.fits["piecewise"],
        far.fits["piecewise"],
        far.fits.get("loggp"),
        (near.locality or "unknown", far.locality or "unknown"),
        tuple(entry.fits["piecewise"] for entry in usual[1:-1]),
    )


def _distance(entry: Entry) -> int:
    return LOCALITIES.index(entry.locality) if entry.locality else len(LOCALITIES)


def numbers(alpha: Expression, size: Expression, alpha_s: float, beta_s_per_B: float) -> list[WrittenTerm]:
    """The terms of α and β with their values in place of the symbols."""
    terms = [WrittenTerm(alpha, f" · {quantity(alpha_s, 's')}")]
    return [*terms, WrittenTerm(size, f" / {format_rate(1 / beta_s_per_B)}")] if beta_s_per_B > 0 else terms
