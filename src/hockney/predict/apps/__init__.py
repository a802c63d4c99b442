"""Whole applications: what a process grid makes of their running time, one package each."""
