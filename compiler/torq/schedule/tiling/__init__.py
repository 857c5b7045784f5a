"""How results are cut into tiles, and tiles between the slices."""
