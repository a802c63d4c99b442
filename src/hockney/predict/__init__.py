"""Predictions: collectives by simulation and calibration, decisions of libraries, estimators, programs."""
