"""The card: a machine on two printed pages."""
