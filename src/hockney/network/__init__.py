"""Networks as graphs: topologies, bisections, routings, traffic."""
