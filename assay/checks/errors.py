"""What a check cannot begin with."""

from ..launches.errors import LaunchInputError

CheckInputError = LaunchInputError
"""Checks have no inputs of their own: what is wrong is wrong for every launch."""
