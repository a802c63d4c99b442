"""Traffic between nodes that topologies are judged by, one file each."""
