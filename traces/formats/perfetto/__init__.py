"""Perfetto's native format, in columns."""
