"""Planted bugs after public reports, each with its corrected twin in the same file."""
