"""What a kernel tells those who watch it."""
