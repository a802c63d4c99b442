"""What a link on the way costs: latencies between nodes by hops, as an effect of the machine file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hockney.errors import RequestError
from hockney.models.effects._scaffold import time
from hockney.models.effects.base import Effect
from hockney.network.topologies.base import Network
from hockney.network.traffic.measured import by_hops, hosts_of, measured_pairs, nodes_by_name
from hockney.records.folder import Campaign

HOPS = "hops"
"""The name of the effect; `per_hop_s` is the latency of a link, `mean_hops` the links that its pairs crossed."""


def hops_effects(measured: Path, network: Network) -> list[Effect]:
    """Latency by hops on `network`, hosts in the order of their names; none without ping-pongs between nodes.

    An effect without parameters says why none was identified.
    """
    if not measured.is_dir():
        return []
    campaign = Campaign.open(measured)
    try:
        size_B, pairs = measured_pairs(campaign, None, "default")
    except RequestError:
        return []
    latencies = by_hops(network, pairs, nodes_by_name(hosts_of(campaign), network))
    effect = Effect(
        effect=HOPS, locality="network", variant="default", points=[vars(row) for row in latencies.classes()]
    )
    effect.notes = [f"pairs of {size_B} B on {network.spec}, hosts in the order of their names"]
    line = latencies.fit()
    if line.base_s is None or line.per_hop_s is None:
        effect.cannot_tell(line.reason or "", "per_hop_s")
        return [effect]
    effect.notes += filter(None, [line.reason])
    for name, fitted in (("base_s", line.base_s), ("per_hop_s", line.per_hop_s)):
        effect.know(name, fitted.value, "s", fitted.low, fitted.high)
    effect.know("mean_hops", float(np.mean(latencies.hops)), "links")
    base, each = time(line.base_s.value), time(line.per_hop_s.value)
    where = f"{int(latencies.hops.min())} ≤ h ≤ {int(latencies.hops.max())}"
    effect.state("exact", f"T(h) = {base} + {each} · h", where)
    return [effect]
