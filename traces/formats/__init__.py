"""Trace files: which formats there are, read and written."""
