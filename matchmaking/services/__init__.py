"""What changes a pool: joining, leaving, matching, waves and their recovery."""
