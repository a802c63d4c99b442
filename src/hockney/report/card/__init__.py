"""The card: a machine on a few printed pages."""
