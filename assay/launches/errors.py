"""What a launch cannot begin with."""


class LaunchInputError(ValueError):
    """What a kernel should be run with is wrong; `str()` says where, and what was expected."""
