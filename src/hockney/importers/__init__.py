"""Importers: one file per format, registered under its name; files beginning with `_` are shared."""
