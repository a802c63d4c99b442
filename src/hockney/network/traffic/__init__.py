"""Traffic on a network: how messages are routed, what every link carries, and maps of processes onto nodes."""
