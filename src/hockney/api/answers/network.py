"""The answers of `hockney network`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.api.network import EffectiveBisectionAnswer, LocalityAnswer, MapAnswer, NetworkAnswer, TrafficAnswer
from hockney.options.network import topologies

answer(*(f"network {name.replace('_', '-')}" for name in topologies.names()))(NetworkAnswer)
answer("network effective-bisection")(EffectiveBisectionAnswer)
answer("network locality")(LocalityAnswer)
answer("network map")(MapAnswer)
answer("network traffic")(TrafficAnswer)
