"""Small applications: launched, run, checked and kept."""
