"""The model `theil_sen`: an exact line comes back, and one wrong point does not move it."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.models.base import models
from hockney.records.series import Series


def test_a_wrong_point_does_not_move_the_line() -> None:
    size = np.array([0.0, 1e3, 2e3, 3e3, 4e3, 5e3, 6e3])
    time = 2e-6 + size / 1e9
    time[3] *= 100
    regime = models.get("theil_sen")(Series({}, size, time, time, time)).regimes[0]
    assert regime.alpha_s.value == pytest.approx(2e-6)
    assert regime.beta_s_per_B.value == pytest.approx(1e-9)
