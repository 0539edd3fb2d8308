"""REST: guests, the caller's own things, players and leaderboards."""
