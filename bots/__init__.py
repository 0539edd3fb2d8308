"""CPU seats and hints: which level moves how, and the tasks that move. Engines run in Celery workers only."""
