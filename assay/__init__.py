"""Assay runs, checks and times GPU programs on machines that have no such GPU."""

__version__ = "0.1.0"
