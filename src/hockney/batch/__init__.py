"""Batch systems: what a job was given, the script of a job, how it is submitted, and what became of it."""
