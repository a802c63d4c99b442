"""What `hockney predict` answers for a collective."""

from __future__ import annotations

from hockney.predict.collective import AlgorithmTime as AlgorithmTime
from hockney.predict.collective import PredictedSize as PredictedSize
from hockney.predict.every_algorithm import PredictedCollective as PredictedCollective
from hockney.predict.every_algorithm import predict_collective as predict_collective
