"""A simulated evening in one pool: what a matchmaking rule does to waits and fairness. Pure, seeded, fast.

`world.py` has the people and their day, `policies.py` the rules that are compared, `run.py` the clock, `report.py` the
figures and `plot.py` the picture.
"""
