"""Several runs in flight: while one device works on one of them, others work on the next."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack

from ..status import StatusError
from .context import Array, Context
from .opened import OpenedModule
from .rounds import Begin, Submit, parts, rounds, usual_in_flight
from .run import Run

Inputs = Mapping[str, Array]


class Pipeline:
    """Contexts for runs that overlap, each with memory of its own."""

    def __init__(self, opened: OpenedModule, in_flight: int | None = None) -> None:
        """`in_flight`: how many runs at a time; as many as a run has parts if left out, 2 to 4.

        Raises StatusError.
        """
        if in_flight is not None and in_flight < 1:
            raise StatusError("INVALID_ARGUMENT", f"{in_flight} runs in flight; at least 1")
        self._opened = opened
        models = [opened.model(number) for number in opened.models]
        self.in_flight = in_flight or usual_in_flight(models)
        self._contexts = [Context(opened) for _ in range(self.in_flight)]

    def map(self, batches: Iterable[Inputs]) -> Iterator[list[Array]]:
        """The outputs for each of the inputs, in their order; shapes may differ from run to run.

        Raises StatusError for the first run that fails, once nothing is in flight any more.
        """
        waiting: deque[Inputs] = deque()
        running: dict[int, tuple[Context, Run]] = {}

        def counts() -> Iterator[int]:
            for inputs in batches:
                waiting.append(inputs)
                shapes = {name: array.shape for name, array in inputs.items()}
                number, _ = self._opened.shapes.find(shapes)
                yield len(parts(self._opened.model(number)))

        with ExitStack() as flying:
            flying.callback(lambda: self._drain(running))
            for step in rounds(counts(), self.in_flight):
                if isinstance(step, Begin):
                    context = self._contexts[step.run % self.in_flight]
                    running[step.run] = context, self._begun(context, waiting.popleft())
                elif isinstance(step, Submit):
                    context, run = running[step.run]
                    run.submit(*parts(context.model)[step.part])
                else:
                    context, run = running.pop(step.run)
                    with run.drained():
                        pass
                    yield [context.read(each.tensor) for each in context.model.outputs]

    def close(self) -> None:
        """Gives all memory back."""
        for context in self._contexts:
            context.close()

    def __enter__(self) -> Pipeline:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begun(self, context: Context, inputs: Inputs) -> Run:
        context.reshape({name: array.shape for name, array in inputs.items()})
        for name, array in inputs.items():
            context.write(name, array)
        return context.begin()

    def _drain(self, running: Mapping[int, tuple[Context, Run]]) -> None:
        """Waits for runs whose results nobody wants any more; what else fails is not told."""
        for _, run in running.values():
            try:
                with run.drained():
                    pass
            except StatusError:
                continue
