"""The C++ schedules as Python sees them: catalogue, proofs, formats."""
