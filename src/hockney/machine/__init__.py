"""The machine file with its validators, the system file, placements."""
