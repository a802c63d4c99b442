"""A recorded run as tables: where its time goes, and what it tolerates."""

from __future__ import annotations

from hockney.report.replay_tables import path_tables as path_tables
from hockney.report.replay_tables import run_time as run_time
from hockney.report.replay_tables import tolerance_tables as tolerance_tables
