"""Which device does which operator, as people write it: a line for each pattern.

    # what            where
    Conv              metal
    head_*            cpu
    *                 metal

A pattern is that of an operator's name or kind; the first line that fits counts. What no line is
for is on the first device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from glob import escape

from ..graph.symbolic.graph import Operator
from ..models.errors import ModelError


class Split:
    """Lines of patterns and devices."""

    def __init__(self, text: str, devices: Sequence[str], name: str = "split") -> None:
        """`name` is what messages call the text. Raises ModelError."""
        self._rules: list[tuple[str, int]] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or words[1] not in devices:
                raise ModelError(
                    f"{name}:{number}: {line.strip()!r} is no pattern with one of the devices "
                    f"{', '.join(devices)} behind it, such as: Conv {devices[0]}"
                )
            self._rules.append((words[0], devices.index(words[1])))

    def device(self, operator: Operator) -> int:
        """The number of the device for an operator."""
        for pattern, device in self._rules:
            names = operator.name, operator.node.op_type
            if any(fnmatchcase(name, pattern) for name in names):
                return device
        return 0


def split_text(placed: Mapping[Operator, int], devices: Sequence[str]) -> str:
    """The text that puts operators on these devices, a line for each."""
    width = max((len(operator.name) for operator in placed), default=0)
    lines = [
        f"{escape(operator.name):<{width}} {devices[device]}  # {operator.node.op_type}"
        for operator, device in placed.items()
    ]
    return "".join(f"{line}\n" for line in lines)
