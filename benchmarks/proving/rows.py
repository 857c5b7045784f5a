"""Results, one for each unit, as lines of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .models import PROJECT as MODELS
from .models import KernelPart
from .proofs import QUESTIONS, Part
from .units import Unit

PROPERTIES = tuple(name for about in QUESTIONS for name in about)
RACE_FREE = ("barriers", "threadgroup races", "buffer races")
"""What a kernel has to be proved of to count as free of races and uniform at barriers."""
THREADGROUP = ("barriers", "threadgroup races")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was found of a unit.

    Attributes:
        verdicts: by property.
        reasons: why a property is undecided, or what refutes it.
        problem: why there is no verdict of some property.
        seconds: of the processor, for all properties together.
    """

    project: str
    file: str
    kernel: str
    family: str
    instances: int = 1
    threadgroup: tuple[int, ...] = (1, 1, 1)
    verdicts: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""
    seconds: float = 0.0

    def is_proved(self, properties: Sequence[str]) -> bool:
        """Whether all of some properties are."""
        return all(self.verdicts.get(each) == "proved" for each in properties)

    @property
    def verdict(self) -> str:
        """Of races and barriers together."""
        if self.is_proved(RACE_FREE):
            return "proved"
        refuted = any(self.verdicts.get(each) == "refuted" for each in RACE_FREE)
        return "refuted" if refuted else "undecided"

    def __str__(self) -> str:
        open = {
            name: (verdict, self.reasons.get(name, [])[:2])
            for name, verdict in self.verdicts.items()
            if verdict != "proved"
        }
        return (
            f"{self.project} {self.kernel} {self.seconds:g} s {self.problem} {open or self.verdict}"
        )


def row_of(unit: Unit, parts: Sequence[Part], problem: str) -> Row:
    """The parts of a unit's proof together."""
    found = [each for part in parts for each in part.properties]
    problems = [part.problem for part in parts if part.problem]
    return Row(
        project=unit.project,
        file=unit.file,
        kernel=unit.kernel,
        family=unit.family,
        instances=unit.instances,
        threadgroup=parts[0].threadgroup if parts else (1, 1, 1),
        verdicts={each.name: each.verdict for each in found},
        reasons={
            each.name: [*each.findings, *each.reasons]
            for each in found
            if each.findings or each.reasons
        },
        problem=problem or "".join(problems[:1]),
        seconds=round(sum(part.seconds for part in parts), 2),
    )


def rows_of_model(model: str, found: Sequence[KernelPart], problem: str, limit: float) -> list[Row]:
    """A row for each kernel of a model; one of the model alone if it came to an early end."""
    rows = []
    for each in found:
        unit = Unit(project=MODELS, file=model, kernel=each.kernel, family=each.kernel)
        late = each.part.seconds > limit
        why = f"it takes more than {limit:g} s of the processor" if late else ""
        rows.append(row_of(unit, [] if late else [each.part], why))
    if problem:
        rows.append(Row(project=MODELS, file=model, kernel="", family="", problem=problem))
    return rows


def stored(path: Path) -> list[Row]:
    """The rows of a file; a last line that was cut off does not count."""
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text().split("\n")[:-1]]


def store(row: Row, path: Path) -> None:
    """Add a row to a file."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(row)) + "\n")
