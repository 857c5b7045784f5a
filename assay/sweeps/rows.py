"""A row of a sweep: what a point is, and what came out; and its columns in Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .errors import MissingExtra
from .point import Point
from .points import Space

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, Any]
"""Values by column; columns that do not apply are left out."""

LOST: Final = "process-ended"
"""The rule of a point whose process or worker ended before it had a row."""

_POINT: Final = (
    ("policy", "string"),
    ("element", "string"),
    ("m", "int64"),
    ("n", "int64"),
    ("k", "int64"),
    ("chip", "string"),
    ("caches", "string"),
)
RESULT: Final = (
    ("status", "string"),
    ("rule", "string"),
    ("reason", "string"),
    ("seconds", "float64"),
    ("sampling_error", "float64"),
    ("kind", "string"),
    ("bound", "string"),
    ("roofline", "float64"),
    ("least_seconds", "float64"),
    ("threadgroups", "int64"),
    ("threads", "int64"),
    ("threadgroup_memory", "int64"),
    ("resident_threadgroups", "int64"),
    ("resident_simdgroups", "int64"),
    ("limiter", "string"),
    ("spilled", "float64"),
    ("device_bytes", "int64"),
    ("dram_bytes", "float64"),
    ("sampled", "int64"),
    ("causes", "map"),
)
"""What came out, with the types: one name for each of Arrow's."""
NO_KNOBS: Final = frozenset({"key", "variant", *(name for name, _ in (*_POINT, *RESULT))})
"""Columns that every space has; the others are knobs."""


def columns_of(space: Space) -> list[tuple[str, str]]:
    """All columns of a space's rows with their types, in order."""
    words = {name for each in space.recipes for name, value in each.knobs if isinstance(value, str)}
    knobs = [(name, "string" if name in words else "int64") for name in space.knobs]
    return [("key", "string"), ("variant", "string"), *knobs, *_POINT, *RESULT]


def whole_row(point: Point, result: Row, columns: Sequence[tuple[str, str]]) -> Row:
    """A row with every column; None where nothing applies."""
    recipe = point.recipe
    values: Mapping[str, Any] = {
        **result,
        **dict(recipe.knobs),
        "key": point.key,
        "variant": recipe.variant,
        "policy": recipe.policy,
        "element": recipe.element,
        "m": point.m,
        "n": point.n,
        "k": point.k,
        "chip": point.chip,
        "caches": "warm" if point.warm else "cold",
    }
    return {
        name: str(values[name])
        if kind == "string" and values.get(name) is not None
        else values.get(name)
        for name, kind in columns
    }


def lost(how: str) -> Row:
    """The row of a point that was lost."""
    reason = f"{how}; there may be too little memory [{LOST}]"
    return {"status": "failed", "rule": LOST, "reason": reason}


def arrow() -> tuple[Any, Any]:
    """Arrow, and what reads and writes Parquet. Raises MissingExtra."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow") from None
    return pyarrow, pyarrow.parquet


def table_of(rows: Iterable[Row], columns: Sequence[tuple[str, str]]) -> pa.Table:
    """Rows as a table of Arrow."""
    pa, _ = arrow()
    kinds = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "map": pa.map_(pa.string(), pa.float64()),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns])
    plain = [{name: _plain(row.get(name)) for name, _ in columns} for row in rows]
    return pa.Table.from_pylist(plain, schema=schema)


def rows_of(table: pa.Table) -> list[Row]:
    """Rows of a table; maps are dicts again."""
    return [
        {name: dict(value) if isinstance(value, list) else value for name, value in row.items()}
        for row in table.to_pylist()
    ]


def _plain(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value
