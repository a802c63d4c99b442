"""Routings, one file each."""
