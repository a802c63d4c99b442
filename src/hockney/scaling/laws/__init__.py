"""Ways to predict a collective's time from points of the same collective, one file each."""
