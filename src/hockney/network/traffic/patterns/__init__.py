"""Communication patterns of programs, between ranks, one file each."""
