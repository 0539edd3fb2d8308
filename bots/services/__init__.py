"""What changes hints."""
