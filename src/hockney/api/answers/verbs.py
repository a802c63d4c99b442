"""What `--json` of each verb prints: a row each."""

from __future__ import annotations

from dataclasses import dataclass
from types import UnionType

from pydantic.json_schema import JsonSchemaValue

from hockney.api.installation import DoctorAnswer, Lab, LabDown
from hockney.api.joined import ImportAnswer, MergeAnswer
from hockney.api.measured import MeasureAnswer, MeasurePlanned
from hockney.api.network import EffectiveBisectionAnswer, MapAnswer, NetworkAnswer, TrafficAnswer
from hockney.api.pages import ReportAnswer
from hockney.api.profiled import ProfiledRun
from hockney.api.programs import ProgramPlanned, ProgramStudied
from hockney.api.schedules import (
    CountOfOne,
    CountOfSeveral,
    CountOnRanks,
    DrawAnswer,
    ExportAnswer,
    ListAnswer,
    ShowScheduleAnswer,
    VerifyAnswer,
)
from hockney.api.simulations import SimulatedCollective, SimulatedGoal
from hockney.api.views import RunWarnings, ShowAnswer
from hockney.apps.cg.run import CgRuns
from hockney.apps.jacobi.predict import FormulaGrids
from hockney.apps.jacobi.run import JacobiRuns
from hockney.apps.pinning.run import PinningPlans, PinningRuns
from hockney.apps.ring.predict import RingPredictions
from hockney.apps.ring.run import RingRuns
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers
from hockney.apps.sum3d.predict import PredictedSum
from hockney.apps.sum3d.run import Sum3dLoads, Sum3dRuns, Sum3dSeveralLoads
from hockney.campaign.jobs import WrittenJobs
from hockney.check.answer import CheckAnswer
from hockney.models._evaluate import MessagesEvaluation
from hockney.models.scaling.laws import LawAnswer
from hockney.models.scaling.study import ScalingStudies, StudyOfFile
from hockney.predict.datatype import DatatypeAnswer
from hockney.predict.evaluate import CollectiveEvaluation
from hockney.predict.every_algorithm import PredictedCollective
from hockney.predict.fft import FftAnswer
from hockney.predict.identified import IdentifyAnswer
from hockney.predict.messages import PredictedMessages
from hockney.predict.profile import PredictedProfile
from hockney.predict.replay.answer import PredictedRun, PredictedRuns
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT
from hockney.report.views.difference_text import Difference
from hockney.runner.applied import Applied
from hockney.studies.answers import ShownStudy, StudyDone, StudyLeft, StudyList, StudyPlanned
from hockney.studies.status import Status
from hockney.tune.tuned import TuneAnswer


@dataclass(frozen=True)
class Schemas:
    """Verbs that have a schema, and the version of all."""

    version: int
    verbs: list[str]


ANSWERS: dict[str, type | UnionType] = {
    "apply": Applied,
    "check": CheckAnswer,
    "diff": Difference,
    "doctor": DoctorAnswer,
    "evaluate": MessagesEvaluation | CollectiveEvaluation,
    "fit": ShowAnswer,
    "identify": IdentifyAnswer,
    "import": ImportAnswer,
    "lab down": LabDown,
    "lab run": object,
    "lab up": Lab,
    "measure": MeasureAnswer | WrittenJobs | MeasurePlanned,
    "merge": MergeAnswer,
    "network effective-bisection": EffectiveBisectionAnswer,
    "network map": MapAnswer,
    "network show": NetworkAnswer,
    "network traffic": TrafficAnswer,
    **{f"predict {name}": PredictedCollective for name in COLLECTIVES},
    **{f"predict {name}": PredictedMessages for name in POINT_TO_POINT},
    "predict cg": GridsOfOneNumber | GridsOfSeveralNumbers,
    "predict datatype": DatatypeAnswer,
    "predict fft": FftAnswer,
    "predict jacobi": GridsOfOneNumber | GridsOfSeveralNumbers | FormulaGrids,
    "predict profile": PredictedProfile | PredictedRun | PredictedRuns,
    "predict ring": RingPredictions,
    "predict sum3d": PredictedSum,
    "profile": ProfiledRun,
    "report": ReportAnswer,
    "run cg": CgRuns,
    "run jacobi": JacobiRuns,
    "run pinning": PinningRuns | PinningPlans,
    "run ring": RingRuns,
    "run sum3d": Sum3dRuns | Sum3dLoads | Sum3dSeveralLoads,
    "scaling amdahl": LawAnswer,
    "scaling fit": StudyOfFile | ScalingStudies,
    "scaling gustafson": LawAnswer,
    "scaling usl": LawAnswer,
    "schedule count": CountOfOne | CountOfSeveral | CountOnRanks,
    "schedule draw": DrawAnswer,
    "schedule export": ExportAnswer,
    "schedule list": ListAnswer,
    "schedule show": ShowScheduleAnswer,
    "schedule verify": VerifyAnswer,
    # The schema of a verb is a JSON Schema itself.
    "schema": Schemas | JsonSchemaValue,
    "show": ShowAnswer | RunWarnings,
    "simulate": SimulatedCollective | SimulatedGoal,
    "status": Status,
    "study": ProgramPlanned
    | ProgramStudied
    | StudyDone
    | StudyPlanned
    | StudyLeft
    | WrittenJobs
    | StudyList
    | ShownStudy,
    "tune": TuneAnswer,
}
