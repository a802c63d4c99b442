"""The options of `hockney predict`."""

from __future__ import annotations

from hockney.predict.options import AddedEffects as AddedEffects
from hockney.predict.options import CollectiveCase as CollectiveCase
from hockney.predict.options import EffectOptions as EffectOptions
from hockney.predict.options import FftCase as FftCase
from hockney.predict.options import Message as Message
from hockney.predict.options import ProfileCase as ProfileCase
from hockney.predict.options import ScatteredData as ScatteredData
from hockney.records.keys import COLLECTIVES as COLLECTIVES
from hockney.records.keys import POINT_TO_POINT as POINT_TO_POINT
