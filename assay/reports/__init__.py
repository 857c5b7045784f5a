"""What was found, for people and for other programs."""
