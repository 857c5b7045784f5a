"""Opens MSL source as a library: preprocessed, checked, and kept in the cache on disk."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.native.disk_cache import digest
from assay.sim.native.source_digest import source_digest

from . import records
from .errors import CompileError, merged
from .front import clang, precompiled
from .front.preprocess import Preprocessed, preprocess
from .library import CACHE, Library, texts
from .options import CompileOptions
from .rewrite.quarantine import quarantined

if TYPE_CHECKING:
    from .rewrite.rewrite import Rewritten

# Functions that do not compile, beyond which nothing of a text is taken.
_MOST_PROBLEMS = 64


def compile_library(
    source: str,
    *,
    options: CompileOptions | None = None,
    file_name: str = "program_source.metal",
    each_alone: bool = False,
) -> Library:
    """Read MSL source, check it and find its kernels; raises CompileError.

    With `each_alone` an error in a function is told when a kernel is asked for that uses it, as
    long as any kernel compiles; Metal itself refuses the whole text.
    What was compiled before comes from the cache on disk without starting the compiler.
    """
    options = options or CompileOptions()
    source = source.encode("utf-8", "replace").decode()  # lone surrogates become question marks
    key = _key(source, options, file_name)
    raw = CACHE.get(key)
    if raw is not None:
        record, text = records.unpack(raw)
        same = all(_file_digest(Path(path)) == known for path, known in record["includes"])
        if same and record["problems"] and not each_alone:
            raise CompileError(record["error"])
        if same:
            return Library(
                source,
                options,
                file_name,
                digest(key, *(d for _, d in record["includes"])),
                text.decode(),
                records.entries_of(record),
                records.constants_of(record),
                tuple(Path(path) for path, _ in record["includes"]),
                {int(number): text for number, text in record["problems"].items()},
            )
    early = None if options.macros else precompiled.seen_early(source)
    with precompiled.made_beside(early, options.fast_math):
        preprocessed = preprocess(source, options, file_name)
        with precompiled.made_beside(preprocessed.text, options.fast_math) as is_waiting:
            if is_waiting:
                _ready_engine()
            return _new_library(
                source, options, file_name, key, preprocessed, each_alone=each_alone
            )


def _ready_engine() -> None:
    """What a first kernel of a machine needs besides, while its headers are on their way."""
    from assay.sim.simt.run.program import ready_engine  # only who compiles needs it

    with suppress(OSError, RuntimeError):  # who needs it tries again, and is told
        ready_engine()


def is_compiled(
    source: str, options: CompileOptions, file_name: str = "program_source.metal"
) -> bool:
    """Whether the cache has a library of this text, as long as its includes have not changed."""
    source = source.encode("utf-8", "replace").decode()
    return CACHE.get(_key(source, options, file_name)) is not None


def _new_library(
    source: str,
    options: CompileOptions,
    file_name: str,
    key: str,
    preprocessed: Preprocessed,
    *,
    each_alone: bool,
) -> Library:
    """A library from preprocessed text, checked and put into the cache.

    Raises CompileError for what is wrong outside of all functions, or in each kernel.
    """
    includes = [(str(path), _file_digest(path)) for path in preprocessed.includes]
    own_key = digest(key, *(known for _, known in includes))
    text, problems, first_error = preprocessed.text, dict[int, str](), ""
    while True:
        try:
            library, rewritten = _checked(
                source, options, file_name, own_key, text, preprocessed.includes, problems
            )
            break
        except CompileError as error:
            first_error = first_error or str(error)
            if not each_alone or len(problems) >= _MOST_PROBLEMS:
                raise CompileError(first_error) from None
            try:
                text, found = quarantined(text, str(error), len(problems))
            except CompileError:
                raise CompileError(first_error) from None
            problems |= found
    if problems and not library.runs_any():
        raise CompileError(first_error)
    described = records.described(rewritten.entries, rewritten.constants)
    record = {**described, "includes": includes, "problems": problems, "error": first_error}
    CACHE.put(key, records.pack(record, text.encode()))
    return library


def _checked(
    source: str,
    options: CompileOptions,
    file_name: str,
    key: str,
    text: str,
    includes: tuple[Path, ...],
    problems: dict[int, str],
) -> tuple[Library, Rewritten]:
    """A library of preprocessed text; CompileError, in the source's words, for what is wrong."""
    from .front.diagnostics import quoted
    from .rewrite.rewrite import rewritten
    from .source.lexer import TokenStream, tokenize

    try:
        stream = TokenStream(text)
        made = rewritten(stream, {})
        library = Library(
            source,
            options,
            file_name,
            key,
            text,
            made.entries,
            made.constants,
            includes,
            problems,
        )
        if stream.problems:
            ours = "\n".join(map(str, stream.problems))
            raise CompileError(merged(ours, library.errors_in(made)))
        library.check(made)
    except CompileError as error:
        sources = texts(source, file_name, includes)
        try:
            tokens = tokenize(text)
        except CompileError:
            tokens = []
        raise CompileError(quoted(str(error), tokens, sources)) from None
    return library, made


def _key(source: str, options: CompileOptions, file_name: str) -> str:
    """Everything that decides what a source compiles to, but for the files that it includes."""
    return digest(
        _own_digest(),
        precompiled.header_digest(),
        clang.compiler_version(),
        *clang.LANGUAGE,
        source,
        file_name,
        repr(sorted(options.macros.items())),
        *[str(path.resolve()) for path in options.include_paths],
        repr((options.fast_math, options.language_version)),
    )


def _own_digest() -> str:
    """A digest of this package's code, so that a change of it invalidates what it made before."""
    return source_digest(Path(__file__).parent)


def _file_digest(path: Path) -> str:
    """Digest of an included file, or "" when it is gone."""
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""
