"""Makes the output of `iree-compile` short enough to read."""

import re

_ERROR = re.compile(r"^(?P<where>.*?): error: (?P<what>.*)$")
_TARGET = re.compile(r"#hal\.executable\.target<.*$")
_NOISE = ("failed to run translation of source executable", "failed to serialize executable")


def errors(log: str, *, limit: int = 3) -> list[str]:
    """The distinct errors of a compiler's output as `where: what`, at most `limit` of them."""
    found: list[str] = []
    for line in log.splitlines():
        match = _ERROR.match(line)
        if match is None or any(noise in match["what"] for noise in _NOISE):
            continue
        text = f"{match['where']}: {_shorten(match['what'])}"
        if text not in found:
            found.append(text)
    return found[:limit]


def summary(log: str) -> str:
    """The errors of a log on lines of their own, or its last lines when it names none."""
    listed = errors(log)
    if not listed:
        # A Python tool's traceback ends in what went wrong; the rest is of no use to users.
        last = 1 if "Traceback" in log else 3
        listed = [line.strip() for line in log.splitlines() if line.strip()][-last:]
    return "\n".join(f"  {line}" for line in listed) or "  (it printed nothing)"


def signature_changes(log: str) -> bool:
    """Whether the compiler changed the types of a public function (f64 becomes f32)."""
    return "changed public function signatures" in log


def _shorten(text: str) -> str:
    text = _TARGET.sub("...", text)
    return text if len(text) <= 300 else text[:297] + "..."
