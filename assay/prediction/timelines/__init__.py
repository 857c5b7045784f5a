"""Timed programs as traces."""
