"""Options of `hockney measure`."""

from __future__ import annotations

from hockney.batch.options import Submission as Submission
from hockney.campaign.options import MeasureOptions as MeasureOptions
