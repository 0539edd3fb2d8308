"""How players meet: tickets wait in pools, waves pair them, and a match becomes a game in one transaction."""
