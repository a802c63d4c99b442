"""Batch systems: one file each, and beside it the template of its job scripts (`NAME.sh.j2`)."""
