"""What `hockney predict` answers: each answer is made where it is computed."""

from __future__ import annotations

from hockney.predict.datatype import predict_datatype as predict_datatype
from hockney.predict.every_algorithm import predict_collective as predict_collective
from hockney.predict.fft import predict_fft as predict_fft
from hockney.predict.messages import predict_messages as predict_messages
from hockney.predict.profile import predict_profile as predict_profile
