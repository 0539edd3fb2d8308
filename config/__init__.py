"""The composition root: settings, addresses, the socket, processes. It imports every app and is imported by none."""

# `shared_task` sends through the current Celery application, so every process that runs Django makes it.
from config.celery import app as celery_app

__all__ = ["celery_app"]
