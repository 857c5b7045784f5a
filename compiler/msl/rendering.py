"""What is wrong in vertex and fragment functions, which are never run."""

from __future__ import annotations

from collections.abc import Mapping

from assay.sim.native.work_folder import work_folder

from .errors import CompileError, merged
from .front import clang, diagnostics, precompiled
from .rewrite.rewrite import rewritten
from .source.lexer import TokenStream, tokenize


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
    stream = TokenStream(text)
    try:
        made = rewritten(stream, {}, with_rendering=True)
    except CompileError as error:
        return diagnostics.quoted(str(error), tokenize(text), sources)
    ours = diagnostics.quoted("\n".join(map(str, stream.problems)), tokenize(text), sources)
    arguments = [
        *clang.LANGUAGE,
        *precompiled.header_arguments(made.text, fast_math),
        "-fsyntax-only",
        "-",
    ]
    with work_folder() as folder:
        result = clang.run_clang(
            arguments, made.text, directory=folder, visible=precompiled.folders()
        )
    if not result.status:
        return ours
    place = f"{file_name}:1:1"
    theirs = diagnostics.readable(result.diagnostics, made.tokens, sources, place)
    return merged(ours, theirs)
