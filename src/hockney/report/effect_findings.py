"""Answers about effects: what each costs, in the number that a reader acts on first."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hockney.models.base import Parameter
from hockney.models.effects.base import Effect
from hockney.report.findings import Finding
from hockney.report.tables import stated_with_interval
from hockney.units import format_bytes, percent

Parameters = Mapping[str, Parameter]
FIRST_WEIGHT, A_LOCALITY, UNTOLD = 0.73, 0.1, 0.5
"""Weight of the first effect's answer, which the others follow closely; what each further locality takes off, and
what an answer that nothing could be told does."""


def of_effect(effect: Effect, where: str, anchor: str, place: int) -> list[Finding]:
    """What an effect costs at one locality, or what could not be told there; none where it was not measured.

    `where` names the locality, the `place`-th of this effect, and `anchor` is what the page shows of it.
    """
    say = _SAID.get(effect.effect)
    if say is None or effect.not_measurable:
        return []
    sentences = say(effect.parameters)
    text = sentences or _untold(effect)
    if not text:
        return []
    off = A_LOCALITY * place + (0.0 if sentences else UNTOLD)
    weight = FIRST_WEIGHT - 0.01 * list(_SAID).index(effect.effect) - off
    return [Finding(f"{effect.effect}, {where}: {text}.", anchor, max(0.0, weight), effect.effect)]


def _percent(parameter: Parameter) -> str:
    """A share; its interval spans that of each size."""
    if parameter.low is None or parameter.high is None:
        return f"{percent(parameter.value)} (no interval)"
    share = "nothing measurable" if parameter.low <= 0 <= parameter.high else percent(parameter.value)
    return f"{share} ({percent(parameter.low)} to {percent(parameter.high)} by size)"


def _bytes_between(parameter: Parameter) -> str:
    """The interval of a size; empty where it has none, or one of no width."""
    if parameter.low is None or parameter.high is None or parameter.low >= parameter.high:
        return ""
    return f"{format_bytes(int(parameter.low))} to {format_bytes(int(parameter.high))}"


def _overlap(known: Parameters) -> str:
    """What computing hides of a message; long ones first, which programs try to hide."""
    for protocol, words in (("rendezvous", "a long message"), ("eager", "an eager message")):
        sides = {
            "sender": known.get(f"overlap_send_{protocol}"),
            "receiver": known.get(f"overlap_recv_{protocol}"),
        }
        parts = [f"{_percent(share)} at the {side}" for side, share in sides.items() if share is not None]
        if parts:
            return f"computing meanwhile hides of the time of {words} {' and '.join(parts)}"
    return ""


def _synchronisation(known: Parameters) -> str:
    limit = known.get("S_B")
    if limit is None:
        return ""
    text = (
        f"a blocking send waits for its receiver if the message is longer than {format_bytes(int(limit.value))}"
    )
    if between := _bytes_between(limit):
        text += f" (95 %: {between})"
    absent = known.get("S_absent_B")
    if absent is not None and absent.value < limit.value:
        text += f"; while the receiver computes, if it is longer than {format_bytes(int(absent.value))}"
    return text


def _datatypes(known: Parameters) -> str:
    for side, other in (("below", "above"), ("above", "below")):
        block = known.get(f"hand_wins_{side}_block_B")
        if block is not None:
            size = _bytes_between(block) or format_bytes(int(block.value))
            return (
                f"packing by hand is faster than a derived datatype for blocks {side} {size}, slower {other} "
                "(a stride of twice the block)"
            )
    costs = {
        words: known[name]
        for name, words in (
            ("send_strided_block_s", "as a derived datatype"),
            ("hand_strided_block_s", "packed by hand"),
        )
        if name in known
    }
    if not costs:
        return ""
    said = [f"{stated_with_interval(cost)} {words}" for words, cost in costs.items()]
    ends = [(cost.low, cost.high) for cost in costs.values() if cost.low is not None and cost.high is not None]
    is_untold = len(ends) == 2 and max(low for low, _ in ends) <= min(high for _, high in ends)
    verdict = "; neither is faster by more than chance" if is_untold else ""
    return f"each block at a stride costs a sender {' and '.join(said)}{verdict}"


def _untold(effect: Effect) -> str:
    """The reason that most of the untold parameters share."""
    reasons = list(effect.not_identified.values())
    return f"not measurable: {max(reasons, key=reasons.count)}" if reasons else ""


def _each_of(**phrases: str) -> Callable[[Parameters], str]:
    """What is said of each parameter that is known, its number in the braces."""

    def say(known: Parameters) -> str:
        stated = {name: stated_with_interval(known[name]) for name in phrases if name in known}
        return ", ".join(phrases[name].format(number) for name, number in stated.items())

    return say


_SAID: dict[str, Callable[[Parameters], str]] = {
    "overlap": _overlap,
    "injection": _each_of(
        R_C_B_per_s="one rank sends at most {}",
        message_rate_C_per_s="{} of short messages",
        R_N_B_per_s="all ranks together {}",
    ),
    "congestion": _each_of(
        mean_congestion="when all ranks exchange in pairs at once, a message takes × {} as long",
        worst_congestion="that of the slowest pair × {}",
    ),
    "subsets": _each_of(
        greatest_factor="a collective on a subset of the ranks takes × {} as long, at most, while the other "
        "subsets do the same"
    ),
    "synchronisation": _synchronisation,
    "matching": _each_of(
        posted_entry_s="each receive posted before the right one costs {}",
        unexpected_entry_s="each message that came before the right one costs {}",
    ),
    "datatypes": _datatypes,
}
