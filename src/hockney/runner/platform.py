"""The hosts of a SimGrid platform file, in the order in which ranks are put on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import named
from hockney.runner.cache import kept_text
from hockney.units import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


MOST_HOSTS = 1_000_000


def host_names(platform: Path) -> list[str]:
    """Names of the hosts as the file lists them, clusters unfolded; RequestError where it cannot be read."""
    with named("platform file"):
        root = reading.xml(platform, "give the path of a SimGrid platform (XML)")
    names = [name for element in root.iter() for name in _names(element)]
    if not names:
        raise RequestError(f"{platform} describes no hosts", "a platform has <host> or <cluster> elements")
    return names


def _names(element: Element) -> Iterator[str]:
    if element.tag == "host" and "id" in element.attrib:
        yield element.attrib["id"]
    if element.tag == "cluster":
        for part in element.attrib.get("radical", "").split(","):
            ends = re.fullmatch(r"\s*([0-9]{1,15})(?:-([0-9]{1,15}))?\s*", part)
            if ends is None:
                raise RequestError(
                    f"the radical {part[:40]!r} of a cluster is no range", "write for example 0-15"
                )
            first, last = int(ends[1]), int(ends[2] or ends[1])
            if last - first >= MOST_HOSTS:
                raise RequestError(
                    f"the radical {part!r} is of more than {MOST_HOSTS:,} hosts", "give fewer hosts"
                )
            for number in range(first, last + 1):
                yield f"{element.attrib.get('prefix', '')}{number}{element.attrib.get('suffix', '')}"


def hostfile(platform: Path, ranks: int) -> Path:
    """A file with one host for each rank, in order; left to itself, SimGrid takes hosts in an order of its own.

    RequestError where the platform has fewer hosts than ranks.
    """
    names = host_names(platform)
    if ranks > len(names):
        raise RequestError(
            f"{counted(ranks, 'rank')}, but {platform} has {counted(len(names), 'host')}",
            "give fewer ranks, or a file that repeats them: --hosts ./FILE",
        )
    return kept_text("platforms", "".join(f"{name}\n" for name in names[:ranks]), ".hosts")
