"""Model graphs whose shapes may be numbers, named dimensions or computed from values."""
