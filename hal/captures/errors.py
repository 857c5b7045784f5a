"""What is raised for captures that cannot be read or done again."""


class CaptureError(Exception):
    """The message names the file, the record where there is one, and what is wrong."""
