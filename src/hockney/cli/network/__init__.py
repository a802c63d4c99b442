"""`hockney network`: topologies as exact graphs: what they are, what traffic does to them, maps onto them."""

from __future__ import annotations

from hockney.cli import group

network = group("network", help="Topologies: bisection, traffic and congestion, maps of processes onto nodes.")
