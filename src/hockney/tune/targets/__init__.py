"""Tuning targets: one file each, the forms in which libraries read rules."""
