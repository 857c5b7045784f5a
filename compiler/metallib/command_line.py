"""The options of `xcrun metal` and `metallib`, as build scripts pass them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..msl.errors import CompileError
from ..msl.options import CompileOptions

_STANDARD = re.compile(r"(?:(?:macos|ios|osx)-)?metal(\d)\.(\d)")
# Versions of the Metal Shading Language Specification.
_VERSIONS = {
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 0),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
}
_VALUED = (
    "-o",
    "-I",
    "-isystem",
    "-iquote",
    "-include",
    "-D",
    "-U",
    "-MF",
    "-MT",
    "-MQ",
    "-x",
    "-std",
)
# What Apple's compiler writes and this one has not.
_NOT_WRITTEN = ("-S", "-emit-llvm")
_DEEPEST = 8  # response files that name others
# What takes a value and changes nothing here.
_IGNORED_VALUED = ("-target", "-arch", "-isysroot", "-sdk", "-Xclang", "-mllvm")
_IGNORED = re.compile(
    r"-O[0-3sz]?|-O(?:fast)|-g\w*(?:[-=][\w-]+)?|-W[apl],.*|-v|-pipe"
    r"|--target=.+|-m(?:macosx?|iphoneos|ios|tvos|xros|watchos)(?:-simulator)?-version-min=.+"
    r"|-f(?:no-)?(?:record-sources(?:=\w+)?|preserve-invariance|color-diagnostics|modules"
    r"|caret-diagnostics|vectorize|slp-vectorize|inline\S*|diagnostics-\S+|debug-\S+"
    r"|strict-aliasing|honor-(?:nans|infinities)|math-errno|signed-zeros)"
    r"|-fmodules-cache-path=.+|-fmetal-enable-logging|-fmetal-math-fp32-functions=\w+"
    r"|-index-store-path=.+|--?serialize-diagnostics=?.*"
)
# Which warnings there are is clang's to know.
_WARNING = re.compile(r"-W[\w=+#-]*|-w|-pedantic(?:-errors)?")
_FAST = {
    "-ffast-math": True,
    "-fno-fast-math": False,
    "-fmetal-math-mode=fast": True,
    "-fmetal-math-mode=relaxed": True,
    "-fmetal-math-mode=safe": False,
}
_FLAGS = ("-c", "-E", "-P", "-MD", "-MMD", "-MP")


class CommandLineError(CompileError):
    """An option or a combination of them is not understood."""


@dataclass(slots=True, kw_only=True)
class Invocation:
    """What is to be done.

    Attributes:
        compile_only: whether each source becomes a file of its own (`-c`).
        preprocess_only: whether sources are only preprocessed (`-E`), with marks of lines.
        output: where to; empty if it is not said.
        dependencies: a file for `make` with what was read; empty for none.
        forced_includes: files that are read before each source (`-include`).
        warnings: options that choose warnings, as clang takes them.
        phony_targets: whether that says that headers may be gone (`-MP`).
        inputs: sources, and files that were compiled before.
    """

    inputs: list[Path] = field(default_factory=list)
    output: str = ""
    compile_only: bool = False
    preprocess_only: bool = False
    marks_lines: bool = True
    language: str = ""
    dependencies: str = ""
    dependency_target: str = ""
    wants_dependencies: bool = False
    phony_targets: bool = False
    warnings: list[str] = field(default_factory=list)
    forced_includes: list[Path] = field(default_factory=list)
    include_paths: list[Path] = field(default_factory=list)
    macros: dict[str, str] = field(default_factory=dict)
    fast_math: bool = True
    language_version: tuple[int, int] = (3, 2)

    def options_for(self, path: Path) -> CompileOptions:
        """What a source is compiled with: its own folder is searched for includes, too."""
        return CompileOptions(
            macros=self.macros,
            include_paths=(
                path.parent,
                *self.include_paths,
                *(each.parent for each in self.forced_includes),
            ),
            fast_math=self.fast_math,
            language_version=self.language_version,
        )


def parsed(arguments: Sequence[str]) -> Invocation:
    """The options of a command line. Raises CommandLineError."""
    found = Invocation()
    rest = _expanded(arguments, _DEEPEST)
    for argument in rest:
        _take(found, argument, rest)
    if not found.inputs:
        raise CommandLineError("error: no input files")
    if found.compile_only and found.output and len(found.inputs) > 1:
        raise CommandLineError("error: cannot specify -o when generating multiple output files")
    return found


def _expanded(arguments: Sequence[str], depth: int) -> Iterator[str]:
    """Arguments, with those of a response file in the place of `@FILE`."""
    for argument in arguments:
        path = Path(argument[1:])
        if not argument.startswith("@") or not path.is_file():
            yield argument
            continue
        if not depth:
            raise CommandLineError(f"error: '{argument}': response files name each other")
        try:
            words = shlex.split(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandLineError(f"error: cannot read '{path}': {error}") from None
        yield from _expanded(words, depth - 1)


def _take(found: Invocation, argument: str, rest: Iterator[str]) -> None:
    if argument == "-" or not argument.startswith("-"):
        found.inputs.append(Path(argument))
    elif argument in _FAST:
        found.fast_math = _FAST[argument]
    elif argument in _FLAGS:
        found.compile_only |= argument == "-c"
        found.preprocess_only |= argument == "-E"
        found.marks_lines &= argument != "-P"
        found.wants_dependencies |= argument in ("-MD", "-MMD")
        found.phony_targets |= argument == "-MP"
    elif argument in _NOT_WRITTEN:
        raise CommandLineError(
            f"error: '{argument}': libraries of assay metal hold MSL, of which there is no assembly"
        )
    elif argument in _IGNORED_VALUED:
        _value(argument, rest)
    elif argument.startswith("-std="):
        _set(found, "-std", argument.removeprefix("-std="))
    elif argument.startswith("--std="):
        _set(found, "-std", argument.removeprefix("--std="))
    elif argument in _VALUED:
        _set(found, argument, _value(argument, rest))
    elif argument[:2] in ("-I", "-D", "-U", "-o", "-x"):
        _set(found, argument[:2], argument[2:])
    elif _WARNING.fullmatch(argument):
        found.warnings.append(argument)
    elif not _IGNORED.fullmatch(argument):
        raise CommandLineError(f"error: unknown argument: '{argument}'")


def _value(argument: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise CommandLineError(f"error: argument to '{argument}' is missing (expected 1 value)")
    return value


def _set(found: Invocation, option: str, value: str) -> None:
    match option:
        case "-o":
            found.output = value
        case "-I" | "-isystem" | "-iquote":
            found.include_paths.append(Path(value))
        case "-include":
            found.forced_includes.append(Path(value))
        case "-D":
            name, has_value, text = value.partition("=")
            found.macros[name] = text if has_value else "1"
        case "-U":
            found.macros.pop(value, None)
        case "-MF":
            found.dependencies = value
        case "-MT" | "-MQ":
            found.dependency_target = value
        case "-x":
            if value not in ("metal", "ir"):
                raise CommandLineError(f"error: language not recognized: '{value}'")
            found.language = value
        case _:
            found.language_version = _standard(value)


def _standard(value: str) -> tuple[int, int]:
    known = _STANDARD.fullmatch(value)
    version = (int(known[1]), int(known[2])) if known else (0, 0)
    if version not in _VERSIONS:
        raise CommandLineError(
            f"error: invalid value '{value}' in '-std={value}'; it is like metal3.1"
        )
    return version
