"""What the benchmarks share: a cheap load generator, the servers it can be aimed at, and the reading of their cost."""
