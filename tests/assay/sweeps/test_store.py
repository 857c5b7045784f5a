"""Rows on disk: nothing that was finished is lost, nothing is there twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.sweeps.errors import SweepError
from assay.sweeps.point import Point
from assay.sweeps.points import Space
from assay.sweeps.rows import Row, lost, whole_row
from assay.sweeps.store import Store, read_rows

from .spaces import small


def made(store: Store, point: Point, result: Row | None = None) -> Row:
    default: Row = {
        "status": "ok",
        "seconds": point.n * 1e-9,
        "causes": {"issue": 0.5, "dram": 0.5},
    }
    return whole_row(point, result or default, store.columns)


def fill(store: Store, space: Space) -> None:
    for point in reversed(space.points):
        store.append([made(store, point)])


def test_appended_rows_are_there_for_the_next_process(tmp_path: Path) -> None:
    space = small()
    first = Store(tmp_path / "rows", space)
    first.append([made(first, space.points[3])])
    first.append([made(first, space.points[1])])
    again = Store(tmp_path / "rows", space)
    assert [row["key"] for row in again.rows()] == [space.points[i].key for i in (1, 3)]
    assert again.rows()[0]["causes"] == {"issue": 0.5, "dram": 0.5}
    assert again.has(space.points[1].key) and not again.has(space.points[0].key)


def test_a_file_that_was_being_written_does_not_count(tmp_path: Path) -> None:
    space = small()
    store = Store(tmp_path, space)
    store.append([made(store, space.points[0])])
    part = next((tmp_path / "parts").glob("*.parquet"))
    (tmp_path / "parts" / "half.123.tmp").write_bytes(part.read_bytes()[:100])
    assert len(Store(tmp_path, space).rows()) == 1
    again = Store(tmp_path, space)
    fill(again, space)
    again.finish()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweep.parquet"]


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    space = small()
    Store(tmp_path, space)
    (tmp_path / "parts" / "bad.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(SweepError, match=r"bad\.parquet: is no table of rows"):
        Store(tmp_path, space)


def test_many_parts_are_gathered_and_hold_each_row_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.sweeps.store._MOST_PARTS", 3)
    space = small()
    store = Store(tmp_path, space)
    fill(store, space)
    assert len(list((tmp_path / "parts").glob("*.parquet"))) <= 3
    assert len(Store(tmp_path, space).rows()) == len(space.points)


def test_the_table_has_the_order_of_the_space_however_rows_came(tmp_path: Path) -> None:
    space = small()
    tables = []
    for name, order in (("a", space.points), ("b", space.points[::-1])):
        store = Store(tmp_path / name, space)
        for point in order:
            store.append([made(store, point)])
        store.finish()
        tables.append((tmp_path / name / "sweep.parquet").read_bytes())
    assert tables[0] == tables[1]
    assert [row["key"] for row in read_rows(tmp_path / "a")] == [p.key for p in space.points]


def test_a_larger_space_takes_over_the_rows_that_are_its_own(tmp_path: Path) -> None:
    space = small()
    store = Store(tmp_path, space)
    fill(store, space)
    store.finish()
    larger = small(axes={"chip": ["m2", "m1"], "n": 64, "k": 128})
    found = Store(tmp_path, larger)
    assert {row["chip"] for row in found.rows()} == {"m1"}
    assert len(found.rows()) == 3


def test_points_whose_process_was_lost_are_tried_again(tmp_path: Path) -> None:
    space = small()
    store = Store(tmp_path, space)
    store.append([made(store, space.points[0], lost("its process ended by signal 9"))])
    assert not Store(tmp_path, space).has(space.points[0].key)


def test_folders_with_something_else_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(SweepError, match="holds something else"):
        Store(tmp_path, small())
    with pytest.raises(SweepError, match="is a file"):
        Store(tmp_path / "letter.txt", small())
    with pytest.raises(SweepError, match="the sweep is not done"):
        read_rows(tmp_path)
