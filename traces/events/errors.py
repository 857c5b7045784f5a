"""What is wrong with a trace, said to the person who recorded or opened it."""


class TraceError(ValueError):
    """A trace, an event or a trace file is not what it should be; the message says where."""


class TraceFileError(TraceError):
    """A file is no readable trace; the message names the file, the byte, and what was expected."""

    def __init__(self, file: str, offset: int | None, message: str) -> None:
        where = f"{file}: " if offset is None else f"{file}: byte {offset}: "
        super().__init__(where + message)
        self.reason = message
