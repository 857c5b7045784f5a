"""Executables as TorqHW, their listing, and TorqHW as executables."""
