"""What is wrong with what was to be timed."""


class TimeInputError(ValueError):
    """What was given cannot be timed; the message says what and where."""
