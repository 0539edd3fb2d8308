"""The shared kernel: errors, time, ids, Redis, the database bridge and event streams. It has no models."""
