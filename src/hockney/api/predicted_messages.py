"""What `hockney predict` answers for a message."""

from __future__ import annotations

from hockney.predict.added import AddedTerm as AddedTerm
from hockney.predict.added import AddedTime as AddedTime
from hockney.predict.message import MessagePrediction as MessagePrediction
from hockney.predict.messages import predict_messages as predict_messages
