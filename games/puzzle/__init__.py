"""The block puzzle: one player, three blocks in the hand, full lines clear."""
