"""Reduction: the smallest part of a source in which a finding is left."""

from .reduce import Reduced, reduce_source

__all__ = ["Reduced", "reduce_source"]
