"""What is wrong in vertex and fragment functions, which are never run."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .errors import CompileError, merged
from .front import diagnostics, precompiled
from .rewrite.rewrite import rewritten
from .source.lexer import TokenStream, tokenize

_STAGE = re.compile(r"\b(?:vertex|fragment)\b")


def rendering_errors(
    text: str, file_name: str, sources: Mapping[str, str], *, fast_math: bool
) -> str:
    """Errors of the rendering functions of a text that is right otherwise; "" if there are none.

    Mesh, object and tile functions, those that use imageblocks or ray tracing, and what templates
    become for their arguments are not looked at.

    Args:
        text: the library, preprocessed.
        file_name: what messages call the source.
        sources: texts to quote from, by file name.
        fast_math: as for `CompileOptions`.
    """
    if not _STAGE.search(text):
        return ""
    stream = TokenStream(text)
    try:
        made = rewritten(stream, {}, with_rendering=True)
    except CompileError as error:
        return diagnostics.quoted(str(error), tokenize(text), sources)
    ours = diagnostics.quoted("\n".join(map(str, stream.problems)), tokenize(text), sources)
    result = precompiled.told_of(made.text, fast_math)
    if not result.status:
        return ours
    place = f"{file_name}:1:1"
    theirs = diagnostics.readable(result.diagnostics, made.tokens, sources, place)
    return merged(ours, theirs)
