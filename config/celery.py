"""The Celery application. Workers find each app's `tasks`; web processes only send tasks, by name or by receiver."""

import os

from celery import Celery

from config.schedule import SCHEDULE

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("kado")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = SCHEDULE
app.autodiscover_tasks()
