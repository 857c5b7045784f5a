"""Planted bugs and near misses, by which the checks are judged."""
