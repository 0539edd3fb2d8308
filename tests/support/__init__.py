"""What the tests share: the real services, and real processes around them."""
