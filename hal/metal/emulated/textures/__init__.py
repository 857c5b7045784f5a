"""Textures and samplers."""
