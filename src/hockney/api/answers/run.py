"""The answers of `hockney run`: records of runs, and what is made of them."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.apps.cg.run import CgRuns
from hockney.apps.jacobi.run import JacobiRuns
from hockney.apps.pinning.run import PinningPlans, PinningRuns
from hockney.apps.ring.run import RingRuns
from hockney.apps.sum3d.run import Sum3dLoads, Sum3dRuns, Sum3dSeveralLoads

answer("run cg")(CgRuns)
answer("run jacobi")(JacobiRuns)
answer("run pinning")(PinningRuns | PinningPlans)
answer("run ring")(RingRuns)
answer("run sum3d")(Sum3dRuns | Sum3dLoads | Sum3dSeveralLoads)
