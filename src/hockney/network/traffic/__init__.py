"""Traffic on a network: how messages are routed, and what every link carries."""
