"""What `hockney predict` answers for programs, transpositions and data types."""

from __future__ import annotations

from hockney.options.predict import ProfileCase
from hockney.predict.datatype import DatatypePrediction as DatatypePrediction
from hockney.predict.datatype import DatatypeVerdict as DatatypeVerdict
from hockney.predict.datatype import Layout as Layout
from hockney.predict.datatype import predict_datatype as predict_datatype
from hockney.predict.fft import FftDecision as FftDecision
from hockney.predict.fft import predict_fft as predict_fft
from hockney.predict.profile import PredictedCalls as PredictedCalls
from hockney.predict.profile import PredictedProfile as PredictedProfile
from hockney.predict.profile import predict_profile as summed
from hockney.predict.replay.answer import PredictedRun as PredictedRun
from hockney.predict.replay.answer import PredictedRuns as PredictedRuns
from hockney.predict.replay.answer import is_recorded, predict_run
from hockney.predict.replay.run import SpotTime as SpotTime
from hockney.predict.replay.tolerance import Tolerance as Tolerance


def predict_profile(case: ProfileCase) -> PredictedProfile | PredictedRun | PredictedRuns:
    """The run of a profile that has a trace; of others the sum of what their calls would take."""
    if not is_recorded(case):
        return summed(case)
    # Targets take a while to import, and most predictions need none.
    from hockney.tune.read_rules import read_rules

    return predict_run(case, read_rules)
