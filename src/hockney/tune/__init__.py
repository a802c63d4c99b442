"""Tuning: which algorithm would be faster than the library's own choice, written in the library's own form."""
