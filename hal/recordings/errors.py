"""What is raised for files that are no recordings."""


class RecordingError(Exception):
    """A file cannot be read as a recording; the message names it and says why."""
