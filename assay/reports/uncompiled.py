"""Compile errors in reports of findings: what does not compile is not checked."""

from __future__ import annotations

import re

from assay.sim.check import Finding, Party
from assay.sim.site import Site

KIND = "compile-error"
_ERROR = re.compile(
    r"^(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)


def compile_finding(file: str, error: str) -> Finding:
    """The first error of a text, at its place; `error` is all that the compiler said."""
    match = _ERROR.search(error)
    site = Site(file, 1, 1)
    if match is not None:
        site = Site(match["file"], int(match["line"]), int(match["column"]))
    return Finding(
        check="compile",
        kind=KIND,
        kernel="",
        message=match["what"] if match is not None else error,
        parties=(Party(what="does not compile", site=site),),
        hint="nothing in this file was checked: mend it first",
    )
