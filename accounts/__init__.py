"""People and standing: players, guests, tokens, the inbox, ratings and leaderboards."""
