"""What a compiler with all of its usual warnings says of MSL, and of C++ beyond that of MSL 3.1."""

from __future__ import annotations

from assay.compiler.msl import CompileOptions, entry
from assay.compiler.msl.front import clang, precompiled
from assay.compiler.msl.front.preprocess import preprocess
from assay.compiler.msl.rewrite.rewrite import rewrite
from assay.sim.native.work_folder import work_folder

# MSL 3.1 is made of C++14.
_ASKED = ("-Wall", "-Wpre-c++17-compat", "-Wpre-c++20-compat", "-Wpre-c++23-compat")
_OWN = "-Wno-nonportable-sycl"  # of what the text is rewritten to


def warnings_of(source: str, file: str = "kernel.metal") -> list[str]:
    """Warnings and errors at lines of the source, not of the standard library."""
    made = rewrite(preprocess(source, CompileOptions(), file).text, {})
    text = made.text + entry.wrapper(made.entries[0])
    language = [each for each in clang.LANGUAGE if each != "-Wno-everything"]
    # The headers as text: those that are precompiled were so without warnings.
    options = [*precompiled.header_arguments(text, True)]
    if "-include-pch" in options:
        options[options.index("-include-pch") :] = ["-include", str(clang.HEADERS / "assay/all.h")]
    with work_folder() as folder:
        arguments = [*language, *options, *_ASKED, _OWN, "-fsyntax-only", "-"]
        said = clang.run_clang(arguments, text, directory=folder).diagnostics
    lines = [each for each in said.splitlines() if "warning:" in each or "error:" in each]
    return [each for each in lines if not each.startswith(str(clang.HEADERS))]
