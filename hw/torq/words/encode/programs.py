"""Programs as words in LRAM: command words with links and ends, descriptors behind them.

`encode` is the inverse of `decode`. Descriptors without an address of their own follow the
program's command words, task by task, in the order in which a task names its agents.
"""

from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from ...facts.registers import WORD_BYTES
from ..commands import Ndl, NssProgram, NssTask, Segment, SliceProgram, SliceTask
from ..errors import EncodeError
from ..stream import LAST, bytes_of, next_word
from .nss import encode_nss_task
from .slice import encode_task, memory_lists, task_words

_TAGS = frozenset(f"{ascii_uppercase}b")


def encode(program: SliceProgram | NssProgram) -> tuple[Segment, ...]:
    """All words of a program and where they live. Raises EncodeError, naming the task."""
    if program.address % WORD_BYTES or not 0 <= program.address < 1 << 24:
        raise EncodeError(f"address {program.address:#x} is no multiple of 4 within 24 bits")
    if not program.tasks:
        raise EncodeError("a program has at least one task")
    tasks: Sequence[SliceTask | NssTask] = program.tasks
    for number, task in enumerate(tasks):
        for ndl in task.ndls:
            _check_tags(ndl, number)
    if isinstance(program, SliceProgram):
        return _encode_slice(program)
    return _encode_nss(program)


def _check_tags(ndl: Ndl, task: int) -> None:
    """What is no tag of any agent is a slip; that one means nothing here may be."""
    sections = (("low", ndl.low), ("high", ndl.high), ("special", ndl.special))
    for section, dims in sections:
        for index, dim in enumerate(dims):
            if dim.tag and dim.tag not in _TAGS:
                raise EncodeError(
                    f"tag {dim.tag!r} is none; tags are a capital letter, or b for bits",
                    agent=ndl.name,
                    dim=f"{section}[{index}]",
                    task=task,
                )


def memory_image(segments: Sequence[Segment]) -> dict[int, int]:
    """Words by LRAM byte address. Raises EncodeError where two segments overlap."""
    words: dict[int, int] = {}
    owner: dict[int, Segment] = {}
    for segment in segments:
        for index, word in enumerate(segment.words):
            address = segment.lram_address + WORD_BYTES * index
            if address in words:
                raise EncodeError(
                    f"its words at {address:#x} overlap {owner[address].role} of task "
                    f"{owner[address].task}",
                    agent=segment.role,
                    task=segment.task,
                )
            words[address], owner[address] = word, segment
    return words


def _encode_slice(program: SliceProgram) -> tuple[Segment, ...]:
    starts = _stream_addresses(program, [task_words(task) for task in program.tasks])
    placed = _place_descriptors(program, starts)
    streams: list[tuple[tuple[int, ...], int]] = []
    descriptors: list[Segment] = []
    result_bytes = 0
    for number, task in enumerate(program.tasks):
        try:
            encoded = encode_task(task, placed[number], result_bytes)
        except EncodeError as error:
            raise error.within(number) from None
        result_bytes = encoded.result_bytes
        streams.append((encoded.words, encoded.last_header))
        for agent, words in encoded.descriptors.items():
            descriptors.append(_segment(program, agent, number, placed[number][agent], words))
    return (*_stream_segments(program, starts, streams), *descriptors)


def _encode_nss(program: NssProgram) -> tuple[Segment, ...]:
    streams: list[tuple[tuple[int, ...], int]] = []
    owned = False
    for number, task in enumerate(program.tasks):
        try:
            encoded = encode_nss_task(task, owned)
        except EncodeError as error:
            raise error.within(number) from None
        owned = encoded.cdma_owned
        streams.append((encoded.words, encoded.last_header))
    starts = _stream_addresses(program, [len(words) for words, _ in streams])
    return _stream_segments(program, starts, streams)


def _stream_addresses(program: SliceProgram | NssProgram, lengths: Sequence[int]) -> list[int]:
    """Where each task's command words begin."""
    found: list[int] = []
    cursor = program.address
    addresses = [task.address for task in program.tasks]
    for number, (address, length) in enumerate(zip(addresses, lengths, strict=True)):
        if address is not None:
            if address % WORD_BYTES or not 0 <= address < 1 << 24:
                raise EncodeError(
                    f"address {address:#x} is no multiple of 4 within 24 bits", task=number
                )
            if number == 0 and address != program.address:
                raise EncodeError(
                    f"the first task is at the program's address, {program.address:#x}", task=0
                )
            cursor = address
        found.append(cursor)
        cursor += bytes_of(length)
    return found


def _place_descriptors(program: SliceProgram, starts: Sequence[int]) -> list[Mapping[str, int]]:
    """The address of each task's descriptors, by agent."""
    ends = [
        start + bytes_of(task_words(task) + _links(program, number))
        for number, (start, task) in enumerate(zip(starts, program.tasks, strict=True))
    ]
    cursor = max(ends)
    placed: list[Mapping[str, int]] = []
    for number, task in enumerate(program.tasks):
        try:
            addresses, cursor = _place(task, cursor)
        except EncodeError as error:
            raise error.within(number) from None
        placed.append(addresses)
    return placed


def _place(task: SliceTask, cursor: int) -> tuple[dict[str, int], int]:
    addresses: dict[str, int] = {}
    for agent, ndls in memory_lists(task).items():
        given = ndls[0].descriptor_address
        for ndl in ndls[1:]:
            if ndl.descriptor_address is not None:
                raise EncodeError("further descriptors of an agent follow its first", agent=agent)
        addresses[agent] = cursor if given is None else given
        if given is None:
            cursor += bytes_of(sum(1 + 2 * len(ndl.high) for ndl in ndls))
    return addresses, cursor


def _links(program: SliceProgram | NssProgram, number: int) -> bool:
    """Whether a task ends with a link to the next one."""
    return number + 1 < len(program.tasks) and program.tasks[number + 1].address is not None


def _stream_segments(
    program: SliceProgram | NssProgram,
    starts: Sequence[int],
    streams: Sequence[tuple[tuple[int, ...], int]],
) -> tuple[Segment, ...]:
    found = []
    for number, (start, (words, header)) in enumerate(zip(starts, streams, strict=True)):
        if number + 1 == len(streams):
            words = (*words[:header], words[header] | LAST, *words[header + 1 :])
        elif _links(program, number):
            words = (*words, next_word(starts[number + 1]))
        found.append(_segment(program, "CDS", number, start, words))
    return tuple(found)


def _segment(
    program: SliceProgram | NssProgram, role: str, task: int, address: int, words: tuple[int, ...]
) -> Segment:
    kept = None
    if program.xram_address is not None:
        kept = program.xram_address + address - program.address
    return Segment(role=role, task=task, lram_address=address, xram_address=kept, words=words)
