"""What is wrong with a command list that has no words, or with words that are no command list."""


class EncodeError(ValueError):
    """A command list breaks a rule of the hardware.

    `rule` says which in words, `agent` and `dim` (`low[1]`, `high[0]`, a field's name) where;
    `task` is the task's number, filled in where it is known.
    """

    def __init__(self, rule: str, *, agent: str = "", dim: str = "", task: int | None = None):
        self.rule = rule
        self.agent = agent
        self.dim = dim
        self.task = task
        parts = ["" if task is None else f"task {task}", f"{agent} {dim}".strip()]
        where = ", ".join(part for part in parts if part)
        super().__init__(f"{where}: {rule}" if where else rule)

    def within(self, task: int) -> "EncodeError":
        """The same error, of task number `task`."""
        return EncodeError(self.rule, agent=self.agent, dim=self.dim, task=task)


class DecodeError(ValueError):
    """Words are not a command list; `address` is the LRAM byte address of the word."""

    def __init__(self, address: int, reason: str):
        self.address = address
        self.reason = reason
        super().__init__(f"LRAM {address:#07x}: {reason}")
