"""What one of several jobs makes of the launches of a campaign: `2/3` is every third one, from the second on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from hockney.errors import RequestError


@dataclass(frozen=True)
class Share:
    """The `number`-th of `of_jobs` jobs, counted from 1."""

    number: int = 1
    of_jobs: int = 1

    def of(self, launches: int) -> range:
        """The indices of its launches."""
        return range(self.number - 1, launches, self.of_jobs)

    def further(self, launches: int) -> Iterable[int]:
        """Indices of launches after the planned ones: whether there is need is seen once all shares are there."""
        return count(launches) if self.of_jobs == 1 else ()

    def __str__(self) -> str:
        return f"{self.number}/{self.of_jobs}"


WHOLE = Share()


def parse_share(text: str) -> Share:
    """`2/3`; RequestError for what is no share."""
    match = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise RequestError(f"{text!r} is no share of the launches", "write 2/3 for the second of three jobs")
    return Share(int(match[1]), int(match[2]))
