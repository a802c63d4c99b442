"""Tuning: which algorithm is faster than the library's choice, as rules in the library's form, and tried."""
