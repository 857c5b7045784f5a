"""The cycles of a run by operator of the model: a partition, with what bounds each part."""

from assay.hw.torq.device.events import Work
from assay.hw.torq.notes import Notes, Operand, OperatorNote, SliceRun, TaskNote
from assay.hw.torq.timing.operators import NOBODY, OperatorTime, labels, operator_times


def _task(unit: str, begin: int, end: int, limit: str) -> Work:
    return Work(unit=unit, what="task", begin=begin, end=end, limit=limit)


def _transfer(source: str, agent: str) -> TaskNote:
    operand = Operand(agent=agent, tensor="t", memory="LRAM", ranges=((0, 64), (128, 160)))
    return TaskNote(operation="load t", source=source, operands=(operand,))


def _run(source: str, unit: str) -> SliceRun:
    return SliceRun(unit=unit, address=0x600, tasks=(TaskNote(source=source),))


EVENTS = [
    Work(unit="NSS", what="program", begin=0, end=120),
    Work(unit="XR", what="load", begin=10, end=30, size=96),
    Work(unit="XR", what="load", begin=30, end=60, size=640),
    _task("SLC0", 35, 80, "ALU"),
    _task("SLC1", 70, 100, "DEQW"),
    Work(unit="XW", what="store", begin=90, end=110, size=32),
]
NOTES = Notes(
    transfers=(_transfer("conv", "DIXR"), _transfer(NOBODY, "DIXR"), _transfer("add", "DOXW")),
    slice_runs=(_run("conv", "SLC0"), _run("add", "SLC1")),
    operators=(OperatorNote(name="conv", macs=450, way="direct"), OperatorNote(name="add")),
)


def _times() -> dict[str, OperatorTime]:
    return {each.name: each for each in operator_times(EVENTS, NOTES)}


def test_the_cycles_of_all_operators_are_those_of_the_run() -> None:
    times = _times()
    assert sum(each.total for each in times.values()) == 120
    assert list(times) == ["conv", "add", NOBODY], "in the order of the program"


def test_cycles_belong_to_who_computes_then_to_who_is_moved_for_then_to_who_comes_next() -> None:
    times = _times()
    assert times["conv"].cycles == {"commands and waits": 10, "DMA in": 20, "MAC": 45}
    assert times[NOBODY].cycles == {"DMA in": 5}
    assert times["add"].cycles == {"slice writes": 20, "DMA out": 10, "commands and waits": 10}


def test_what_an_operator_moves_and_touches_is_counted() -> None:
    conv, add = _times()["conv"], _times()["add"]
    assert (conv.slices, conv.loads, conv.loaded, conv.lram) == (45, 20, 96, 96)
    assert (add.stores, add.stored, add.loaded) == (20, 32, 0)
    assert conv.macs_per_cycle == 6.0
    assert (conv.bound, add.bound) == ("MAC", "slice writes")


def test_a_run_without_notes_has_no_operators() -> None:
    assert operator_times(EVENTS, Notes()) == []


def test_tasks_and_transfers_are_labelled_by_operator_and_run() -> None:
    found = labels(EVENTS, NOTES)
    assert found["XR", 10] == "conv: load t"
    assert found["XR", 30] == "load t", "it is for no operator alone"
    assert found["SLC0", 35].startswith("conv: 1/1")


def test_a_task_whose_multipliers_hardly_wait_is_bound_by_them() -> None:
    slow = Work(
        unit="SLC0", what="task", begin=0, end=100, limit="DEDR", agents=(("ALU", 95), ("DEDR", 99))
    )
    (conv, *_) = operator_times([slow], NOTES)
    assert conv.cycles == {"MAC": 100}
