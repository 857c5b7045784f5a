"""The page of a sweep: one HTML file that holds its rows, shows itself, and loads nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from typing import Any, Final

from .compare import Target, best, by_target, fixed_choices, front, label_of
from .rows import Row

_NUMBERS: Final = (
    "seconds",
    "roofline",
    "least_seconds",
    "threadgroup_memory",
    "resident_threadgroups",
    "resident_simdgroups",
    "device_bytes",
    "dram_bytes",
    "threadgroups",
    "threads",
)
_WORDS: Final = ("policy", "chip", "m", "n", "k", "caches", "status", "reason", "bound", "limiter")


def page(name: str, rows: Sequence[Row]) -> str:
    """The page of a sweep's rows."""
    parts = files("assay.sweeps")
    text = {
        kind: (parts / f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    }
    # `</script>` in a text must not end the script that holds it.
    data = json.dumps(_payload(rows), separators=(",", ":")).replace("<", "\\u003c")
    filled = text["html"].replace("{{title}}", escape(name)).replace("{{style}}", text["css"])
    # What a text holds is never taken for a place to fill.
    head, _, tail = filled.partition("{{script}}")
    before, _, after = head.partition("{{data}}")
    return before + data + after + text["js"] + tail


def _payload(rows: Sequence[Row]) -> dict[str, Any]:
    targets = by_target(rows)
    fronts = {
        _name(target): [row["key"] for row in front(group)] for target, group in targets.items()
    }
    return {
        "rows": [_shown(row) for row in rows],
        "fronts": fronts,
        "best": {_name(target): row["key"] for target, row in best(rows).items()},
        "fixed": [{**asdict(each), "where": _name(each.where)} for each in fixed_choices(rows)],
    }


def _shown(row: Row) -> dict[str, Any]:
    causes = row.get("causes") or {}
    most = max(causes, key=lambda cause: causes[cause]) if causes else None
    kept = {name: row.get(name) for name in ("key", *_WORDS, *_NUMBERS)}
    return {"kernel": label_of(row), **kept, "cause": most, "share": causes.get(most)}


def _name(target: Target) -> str:
    policy, chip, m, n, k = target
    return f"{policy} {chip} {m}x{n}x{k}"
