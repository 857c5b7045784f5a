"""What is wrong with a slice program."""


class IllegalSliceProgram(ValueError):
    """A nest that the hardware cannot run; names the rule it breaks."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(f"{rule}: {reason}")
        self.rule = rule
        self.reason = reason
