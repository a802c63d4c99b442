"""Measures of a network: hops, ports, and the links that its bisection cuts."""
