"""The migrations of the tables of people and standing."""
