"""What can be done to runs: start, place, take back, and close the days of daily puzzles."""
