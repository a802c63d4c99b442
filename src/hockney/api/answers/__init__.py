"""What `--json` of each verb prints, as types from which the JSON Schemas are made: one file per verb or group.

A file registers its types with `answer`; tests hold every answer of every verb against them.
"""
