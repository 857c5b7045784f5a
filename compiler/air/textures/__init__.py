"""Textures and samplers of compiled kernels, by what MSL has for them."""
