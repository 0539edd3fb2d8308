"""blokus-rl, a compiled core behind a Python environment, in an environment of its own."""
