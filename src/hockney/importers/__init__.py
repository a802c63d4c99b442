"""Importers: other benchmarks' results, one file per format, on one reader of their text."""
