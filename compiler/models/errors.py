"""What can go wrong on the way from a model file to a module, in words for people."""


class ModelError(Exception):
    """A model that cannot be read, imported or compiled; `str()` says why and what to do.

    `log` is everything the failing tool printed, empty when no tool ran.
    """

    def __init__(self, message: str, *, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class MissingTool(ModelError):
    """A tool that comes with an optional extra is not installed."""

    def __init__(self, tool: str, extra: str) -> None:
        super().__init__(
            f"{tool} is needed for this and is not installed; "
            f'install it with: pip install "assay-emulator[{extra}]"'
        )
        self.tool = tool
        self.extra = extra
