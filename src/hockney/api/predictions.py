"""What `hockney predict` answers: each answer is made where it is computed."""

from __future__ import annotations

from hockney.predict.added import AddedTerm as AddedTerm
from hockney.predict.added import AddedTime as AddedTime
from hockney.predict.collective import AlgorithmTime as AlgorithmTime
from hockney.predict.collective import PredictedSize as PredictedSize
from hockney.predict.datatype import DatatypePrediction as DatatypePrediction
from hockney.predict.datatype import DatatypeVerdict as DatatypeVerdict
from hockney.predict.datatype import Layout as Layout
from hockney.predict.datatype import predict_datatype as predict_datatype
from hockney.predict.every_algorithm import PredictedCollective as PredictedCollective
from hockney.predict.every_algorithm import predict_collective as predict_collective
from hockney.predict.fft import FftDecision as FftDecision
from hockney.predict.fft import Together as Together
from hockney.predict.fft import Transposition as Transposition
from hockney.predict.fft import predict_fft as predict_fft
from hockney.predict.message import MessagePrediction as MessagePrediction
from hockney.predict.messages import predict_messages as predict_messages
from hockney.predict.profile import PredictedCalls as PredictedCalls
from hockney.predict.profile import PredictedProfile as PredictedProfile
from hockney.predict.profile import predict_profile as predict_profile
