"""Which template an explicit instantiation means, where several kernels share a name."""

from __future__ import annotations

from collections import defaultdict

from ..source.lexer import TokenStream
from ..source.scopes import Function
from .address_spaces import parameter_ranges

Brackets = tuple[int, int]


class KernelTemplates:
    """The kernel templates of a text by their names."""

    def __init__(self, stream: TokenStream) -> None:
        self._stream = stream
        self._of: dict[str, list[Function]] = defaultdict(list)

    def add(self, function: Function) -> None:
        """Another template, or another declaration of one."""
        self._of[function.name].append(function)

    def __contains__(self, name: str) -> bool:
        return name in self._of

    def are_several(self, name: str) -> bool:
        """Whether a name alone does not tell which template is meant."""
        return sum(each.body is not None for each in self._of[name]) > 1

    def meant(self, name: str, parameters: Brackets | None) -> Function:
        """The template of a name that has parameters as an instantiation writes them, if it does.

        A declaration need not have attributes: the definition goes before it.
        """
        known = self._of[name]
        if parameters is not None:
            shared = {each.start: self._shared(each, parameters) for each in known}
            most = max(shared.values())
            known = [each for each in known if shared[each.start] == most]
        return next((each for each in known if each.body is not None), known[0])

    def repeats(self, function: Function, parameters: Brackets) -> bool:
        """Whether an instantiation writes as many parameters as its template has."""
        return self._shared(function, parameters)[0]

    def _shared(self, function: Function, parameters: Brackets) -> tuple[bool, int]:
        """Whether as many parameters are written, and how many words of them are the same."""
        own, written = (self._words(each) for each in (function.parameters, parameters))
        pairs = zip(own, written, strict=False)
        return len(own) == len(written), sum(len(one & other) for one, other in pairs)

    def _words(self, brackets: Brackets) -> list[frozenset[str]]:
        """The words of each parameter."""
        texts = self._stream.texts
        ranges = parameter_ranges(self._stream, brackets)
        return [frozenset(texts[first : last + 1]) for first, last in ranges]
