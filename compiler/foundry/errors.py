"""What is wrong with a declaration, by the name of the rule that it breaks."""

from __future__ import annotations


class FoundryError(ValueError):
    """A declaration, or a value for it, that cannot be.

    `rule` is the short name of the rule, as the documentation lists them.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(f"{message} [{rule}]")
        self.rule = rule
