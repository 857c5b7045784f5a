"""Barriers of a threadgroup, at which simdgroups save what they need and return."""
