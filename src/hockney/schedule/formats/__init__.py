"""Formats that schedules are exported to, one file each."""
