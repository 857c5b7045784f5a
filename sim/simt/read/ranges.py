"""What numbers an index can be: bounds of integers in a function's unoptimised text.

Bounds come from constants, masks, remainders and widths, and from the branches on the way: the
counter of a loop is less than what the loop compares it with. What is not understood may be
anything that its type holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

Range = tuple[int, int]  # the least and the largest, of numbers without sign

_BINARY = re.compile(r"i(?P<bits>\d+) (?P<left>[^,\s]+), (?P<right>[^,\s]+)")
_CHANGED = re.compile(r"i(?P<from>\d+) (?P<of>[^,\s]+) to i(?P<bits>\d+)")
_COMING = re.compile(r'\[ ([^,\s]+), %("[^"]*"|[-$._A-Za-z0-9]+) \]')
_SELECT = re.compile(
    r"i1 (?P<condition>[^,]+), i(?P<bits>\d+) (?P<left>[^,\s]+), i\d+ (?P<right>[^,\s]+)"
)
_COMPARISON = re.compile(r"icmp (?P<how>\w+) i(?P<bits>\d+) (?P<left>[^,\s]+), (?P<right>-?\d+)")
_CONDITION = re.compile(r"  br i1 ([^,]+), ")
_WORD = r'(?:"[^"]*"|[-$._A-Za-z0-9]+)'
_NAME = re.compile(rf"({_WORD}):")
_LABEL = re.compile(rf"label %({_WORD})")
_NEGATED = {"ult": "uge", "ule": "ugt", "ugt": "ule", "uge": "ult", "eq": "ne", "ne": "eq"}
_NEGATED |= {"slt": "sge", "sle": "sgt", "sgt": "sle", "sge": "slt"}
_MOST_STEPS = 64  # from a value to what it is made of
_MOST_VALUES = 20_000  # that are looked at in all; then nothing more is known


@dataclass(slots=True)
class _Block:
    """A block: where it can go, where it can come from, and the comparison that it ends with."""

    targets: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    condition: str = ""


class Ranges:
    """Bounds of the integers in a function's lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._known: dict[tuple[str, str], Range] = {}
        self._assumed: dict[str, Range] = {}
        self._blocks = {"": _Block()}
        self._definitions: dict[str, tuple[str, str]] = {}  # (block, what defines it)
        self._block_of: list[str] = []
        self._depth = 0
        self._left = _MOST_VALUES
        self._read(lines)
        self._above = self._dominators()

    def _read(self, lines: Sequence[str]) -> None:
        label = ""
        for line in lines:
            if line.startswith("  %"):
                name, _, text = line[2:].partition(" = ")
                self._definitions[name] = (label, text)
            elif line.startswith(("  br ", "  switch ", "    i")):
                self._end(self._blocks[label], line)
            elif match := _NAME.match(line):
                label = match[1]
                self._blocks[label] = _Block()
            self._block_of.append(label)
        for name, block in self._blocks.items():
            for target in block.targets:
                self._blocks[target].sources.append(name)

    def _end(self, block: _Block, line: str) -> None:
        block.targets += _LABEL.findall(line)
        branch = _CONDITION.match(line)
        if branch is not None and len(set(block.targets)) == 2:
            block.condition = branch[1]

    def _dominators(self) -> dict[str, str]:
        """By block: the last one that every way to it passes."""
        order = self._order()
        place = {name: number for number, name in enumerate(order)}
        above = {"": ""}
        changed = True
        while changed:
            changed = False
            for name in order[1:]:
                found = ""
                known = [s for s in self._blocks[name].sources if s in above]
                for number, source in enumerate(known):
                    found = source if number == 0 else _meet(found, source, above, place)
                if above.get(name) != found:
                    above[name] = found
                    changed = True
        return above

    def _order(self) -> list[str]:
        """The blocks that can be reached, those before that others come from."""
        seen, order = {""}, []
        stack = [("", iter(self._blocks[""].targets))]
        while stack:
            name, targets = stack[-1]
            following = next((each for each in targets if each not in seen), None)
            if following is None:
                order.append(name)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(self._blocks[following].targets)))
        return order[::-1]

    def at(self, line: int, value: str, bits: int) -> Range:
        """What a value of so many bits can be where a line of the function runs."""
        return self._of(value, bits, self._block_of[line])

    def _of(self, value: str, bits: int, block: str) -> Range:
        """The bounds of a value, within those that hold in a block."""
        if value[0] != "%":
            return _constant(value, bits)
        known = self._known.get((value, block))
        if known is None:
            least, most = self._defined(value, bits)
            known = self._guarded(value, bits, block, (least, most))
            self._known[value, block] = known
        return known

    def _guarded(self, value: str, bits: int, block: str, found: Range) -> Range:
        """Bounds of a value, narrowed by the branches that lead to a block."""
        while block and block in self._above:
            above = self._above[block]
            branch = self._blocks[above]
            if branch.condition and self._blocks[block].sources == [above]:
                holds = branch.targets[0] == block
                found = self._if(branch.condition, value, found, holds, bits)
            block = above
        return found

    def _if(self, condition: str, value: str, found: Range, holds: bool, bits: int) -> Range:
        """The bounds of a value, narrowed by a condition that holds, or does not."""
        _, text = self._definitions.get(condition, ("", ""))
        match = _COMPARISON.match(text)
        if match is None or (
            match["left"] != value and not self._is_widened(match["left"], value, found, bits)
        ):
            return found
        how = match["how"] if holds else _NEGATED[match["how"]]
        return _narrowed(found, how, int(match["right"]), int(match["bits"]))

    def _is_widened(self, wider: str, value: str, found: Range, bits: int) -> bool:
        """Whether one value is another, within these bounds, in more bits: the same number."""
        _, text = self._definitions.get(wider, ("", ""))
        op, _, rest = text.partition(" ")
        match = _CHANGED.match(rest) if op in ("zext", "sext") else None
        if match is None or match["of"] != value:
            return False
        return op == "zext" or found[1] < 1 << (bits - 1)

    def _defined(self, value: str, bits: int) -> Range:
        """The bounds that follow from what a value is made of."""
        whole = (0, (1 << bits) - 1)
        if value in self._assumed:
            return self._assumed[value]
        block, text = self._definitions.get(value, ("", ""))
        op, _, rest = text.partition(" ")
        self._left -= 1
        if self._depth > _MOST_STEPS or self._left < 0:
            return whole
        self._depth += 1
        try:
            if op == "phi":
                return self._of_phi(value, bits, rest)
            found = self._computed(op, rest, block)
        finally:
            self._depth -= 1
        return found if found is not None else whole

    def _computed(self, op: str, rest: str, block: str) -> Range | None:
        if op in ("zext", "sext", "trunc"):
            return self._changed(op, rest, block)
        match = _SELECT.match(rest) if op == "select" else _BINARY.match(rest)
        if match is None:
            return None
        bits = int(match["bits"])
        left = self._of(match["left"], bits, block)
        if op == "select":
            right = self._of(match["right"], bits, block)
            return _union(
                [
                    self._if(match["condition"], match["left"], left, True, bits),
                    self._if(match["condition"], match["right"], right, False, bits),
                ]
            )
        if op in ("add", "sub") and match["right"][0] == "-":
            op = "sub" if op == "add" else "add"
            right = (-int(match["right"]),) * 2
        else:
            right = self._of(match["right"], bits, block)
        return result_of(op, left, right, bits)

    def _changed(self, op: str, rest: str, block: str) -> Range | None:
        match = _CHANGED.match(rest)
        if match is None:
            return None
        before, after = int(match["from"]), int(match["bits"])
        found = self._of(match["of"], before, block)
        limit = 1 << (after if op == "trunc" else before - 1 if op == "sext" else before)
        return found if found[1] < limit else None

    def _of_phi(self, value: str, bits: int, rest: str) -> Range:
        """Bounds of what comes from several blocks; for a loop's counter by induction.

        It is taken to be no negative number; that is so if all that comes then is none.
        """
        coming = [
            (each, label if label in self._blocks else "")  # the first block stands without a name
            for each, label in _COMING.findall(rest)
        ]
        block = self._definitions[value][0]
        counted = self._counted(value, bits, block, coming)
        if counted is not None:
            return counted
        for limit in (1 << (bits - 1), 1 << bits):
            before = dict(self._known)
            self._assumed[value] = (0, limit - 1)
            found = _union([self._arriving(each, bits, label, block) for each, label in coming])
            del self._assumed[value]
            self._known = before
            if found[1] < limit:
                return found
        raise AssertionError(f"{value} exceeds its type")

    def _arriving(self, value: str, bits: int, source: str, target: str) -> Range:
        """The bounds of a value that goes from one block to another."""
        found = self._of(value, bits, source)
        branch = self._blocks[source]
        if not branch.condition:
            return found
        return self._if(branch.condition, value, found, branch.targets[0] == target, bits)

    def _counted(
        self, value: str, bits: int, block: str, coming: Sequence[tuple[str, str]]
    ) -> Range | None:
        """Bounds of a loop's counter that goes from numbers, in equal steps, to one that ends it.

        That is how optimised loops end. None if it is no such counter, or may miss the last.
        """
        starts = [_constant(each, bits) for each, _ in coming if each[0] != "%"]
        ways = {self._step(value, bits, block, *each) for each in coming if each[0][0] == "%"}
        way = ways.pop() if len(ways) == 1 else None
        if way is None or not starts or any(least != most for least, most in starts):
            return None
        step, last = way
        distances = [(last - start) * (1 if step > 0 else -1) for start, _ in starts]
        if any(distance < 0 or distance % abs(step) for distance in distances):
            return None
        return _union([(min(start, last), max(start, last)) for start, _ in starts])

    def _step(
        self, value: str, bits: int, block: str, following: str, latch: str
    ) -> tuple[int, int] | None:
        """What is added to a counter, and the last one of its loop, which `latch` ends."""
        op, _, rest = self._definitions.get(following, ("", ""))[1].partition(" ")
        added = _BINARY.match(rest) if op == "add" else None
        branch = self._blocks[latch]
        compared = _COMPARISON.match(self._definitions.get(branch.condition, ("", ""))[1])
        if added is None or compared is None or added["left"] != value:
            return None
        stays = "ne" if branch.targets[0] == block else "eq"
        if compared["how"] != stays or compared["left"] not in (value, following):
            return None
        if not re.fullmatch(r"-?[1-9]\d*", added["right"]):
            return None
        step, last = int(added["right"]), int(compared["right"])
        return step, (last - step * (compared["left"] == following)) % (1 << bits)


def _meet(first: str, second: str, above: dict[str, str], place: dict[str, int]) -> str:
    """The last block that both ways pass."""
    while first != second:
        while place[first] > place[second]:
            first = above[first]
        while place[second] > place[first]:
            second = above[second]
    return first


def _constant(text: str, bits: int) -> Range:
    """The bounds of an operand that is no name; `undef` and the like may be anything."""
    if not re.fullmatch(r"-?\d+", text):
        return (1, 1) if text == "true" else (0, 0) if text == "false" else (0, (1 << bits) - 1)
    number = int(text) & ((1 << bits) - 1)
    return number, number


def _union(found: list[Range]) -> Range:
    return min(least for least, _ in found), max(most for _, most in found)


def result_of(op: str, left: Range, right: Range, bits: int) -> Range | None:
    """Bounds of an operation's result; None if it may wrap around, or is not understood."""
    found = None
    if op in ("ashr", "sdiv", "srem") and max(left[1], right[1]) < 1 << (bits - 1):
        op = {"ashr": "lshr", "sdiv": "udiv", "srem": "urem"}[op]  # as neither is negative
    if op == "add":
        found = (left[0] + right[0], left[1] + right[1])
    elif op == "sub":
        found = (left[0] - right[1], left[1] - right[0])
    elif op == "mul":
        found = (left[0] * right[0], left[1] * right[1])
    elif op == "shl" and right[1] < bits:
        found = (left[0] << right[0], left[1] << right[1])
    elif op == "lshr":
        found = (left[0] >> right[1], left[1] >> right[0]) if right[1] < bits else None
    elif op == "udiv" and right[0] > 0:
        found = (left[0] // right[1], left[1] // right[0])
    elif op == "urem" and right[0] > 0:
        found = (0, min(left[1], right[1] - 1))
    elif op == "and":
        found = (0, min(left[1], right[1]))
    elif op in ("or", "xor"):
        most = (1 << max(left[1].bit_length(), right[1].bit_length())) - 1
        found = (max(left[0], right[0]) if op == "or" else 0, most)
    return found if found is not None and found[0] >= 0 and found[1] < 1 << bits else None


def _narrowed(found: Range, how: str, number: int, bits: int) -> Range:
    """Bounds of a value that also compares so with a number."""
    least, most = found
    if how[0] == "s":
        if number < 0 or most >> (bits - 1):
            return found  # it may be negative, which is a large number here
        how = "u" + how[1:]
    else:
        number &= (1 << bits) - 1
    if how in ("ult", "ule"):
        most = min(most, number - (how == "ult"))
    elif how in ("ugt", "uge"):
        least = max(least, number + (how == "ugt"))
    elif how == "eq":
        least, most = max(least, number), min(most, number)
    return (least, most) if least <= most else found
