"""The answers of `hockney predict`."""

from __future__ import annotations

from hockney.api.answers.base import answer
from hockney.apps.jacobi.predict import JacobiPrediction
from hockney.apps.ring.predict import RingPredictions
from hockney.apps.stencil.predict import GridsOfOneNumber, GridsOfSeveralNumbers
from hockney.apps.sum3d.predict import PredictedSum
from hockney.predict.datatype import DatatypeAnswer
from hockney.predict.every_algorithm import PredictedCollective
from hockney.predict.fft import FftAnswer
from hockney.predict.messages import PredictedMessages
from hockney.predict.profile import PredictedProfile
from hockney.records.keys import COLLECTIVES, POINT_TO_POINT

answer("predict datatype")(DatatypeAnswer)
answer("predict fft")(FftAnswer)
answer("predict profile")(PredictedProfile)
answer(*(f"predict {name}" for name in COLLECTIVES))(PredictedCollective)
answer(*(f"predict {name}" for name in POINT_TO_POINT))(PredictedMessages)
answer("predict cg")(GridsOfOneNumber | GridsOfSeveralNumbers)
answer("predict jacobi")(JacobiPrediction)
answer("predict ring")(RingPredictions)
answer("predict sum3d")(PredictedSum)
