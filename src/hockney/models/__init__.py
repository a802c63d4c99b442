"""Models that a person can read: fits, effects, collectives, growth with ranks, laws of scaling."""
