"""What can be done to games: start, play, settle, and the sweeping up after processes that died."""
