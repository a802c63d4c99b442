"""What `--json` of each verb prints, as types from which the JSON Schemas are made: `verbs.py` has a row each.

Tests hold every answer of every verb against them.
"""
