"""A section of the report for each application, one file each."""
