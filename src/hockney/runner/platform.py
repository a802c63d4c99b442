"""The hosts of a SimGrid platform file, in the order in which ranks are put on them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from hockney.errors import RequestError


def host_names(platform: Path) -> list[str]:
    """Names of the hosts as the file lists them, clusters unfolded; RequestError where it cannot be read."""
    try:
        root = ElementTree.fromstring(platform.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RequestError(f"no platform file {platform}", "give the path of a SimGrid platform (XML)") from error
    except (OSError, UnicodeDecodeError, ElementTree.ParseError) as error:
        raise RequestError(
            f"{platform} is no platform file: {error}", "it must be XML as SimGrid reads it"
        ) from error
    names = [name for element in root.iter() for name in _names(element)]
    if not names:
        raise RequestError(f"{platform} describes no hosts", "a platform has <host> or <cluster> elements")
    return names


def _names(element: ElementTree.Element) -> Iterator[str]:
    if element.tag == "host" and "id" in element.attrib:
        yield element.attrib["id"]
    if element.tag == "cluster":
        for part in element.attrib.get("radical", "").split(","):
            ends = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
            if ends is None:
                raise RequestError(f"the radical {part!r} of a cluster is no range", "write for example 0-15")
            for number in range(int(ends[1]), int(ends[2] or ends[1]) + 1):
                yield f"{element.attrib.get('prefix', '')}{number}{element.attrib.get('suffix', '')}"


def hostfile(platform: Path, ranks: int, folder: Path) -> Path:
    """A file with one host for each rank, in order; left to itself, SimGrid takes hosts in an order of its own.

    RequestError where the platform has fewer hosts than ranks.
    """
    names = host_names(platform)
    if ranks > len(names):
        raise RequestError(
            f"{ranks} ranks, but {platform} has {len(names)} hosts",
            "give fewer ranks, or a --hostfile that repeats them",
        )
    text = "".join(f"{name}\n" for name in names[:ranks])
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.hosts"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
