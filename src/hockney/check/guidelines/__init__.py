"""The guidelines, one file each."""
