"""Tests that kill, pause and restart real processes, and the checker that judges what is left."""
