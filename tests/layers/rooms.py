"""Which room may import which: the order of the rooms inside each layer, lowest first.

A room is a folder; a module that stands beside rooms is named by itself where it belongs below
them, and counts with its folder, which comes last, where it joins them. What stands in one row
may import each other. Machines beside each other are `APART`: neither knows the other.
"""

from collections.abc import Iterable, Iterator

ORDER: dict[str, tuple[tuple[str, ...], ...]] = {
    "traces": (
        ("traces.events",),
        ("traces.record",),
        ("traces.formats",),
        ("traces.formats.perfetto",),
        ("traces.formats.gputrace",),
        ("traces.viewer",),
        ("traces",),
    ),
    "sim": (
        ("sim.lanes", "sim.site"),
        ("sim.native",),
        ("sim.clock",),
        ("sim.check",),
        ("sim.simt.ir",),
        ("sim.simt.analysis",),
        ("sim.simt.read",),
        ("sim.simt.watch",),
        ("sim.simt.emit",),
        ("sim.simt.run",),
        ("sim.simt.oracle",),
        ("sim.simt",),
        ("sim",),
    ),
    "hw": (
        ("hw.facts", "hw.small_floats"),
        ("hw.apple.facts",),
        ("hw.apple.lower",),
        ("hw.apple.core",),
        ("hw.apple.system",),
        ("hw.apple",),
        ("hw.torq.intervals", "hw.torq.notes", "hw.torq.faults", "hw.torq.lram"),
        ("hw.torq.facts",),
        ("hw.torq.words.errors", "hw.torq.words.stream", "hw.torq.words.commands"),
        ("hw.torq.words.encode",),
        ("hw.torq.words.decode",),
        ("hw.torq.words",),
        ("hw.torq.datapath",),
        ("hw.torq.check",),
        ("hw.torq.device",),
        ("hw.torq.timing",),
        ("hw.torq",),
        ("hw",),
    ),
    "compiler": (
        ("compiler.models",),
        ("compiler.graph.elements", "compiler.graph.errors"),
        ("compiler.graph.symbolic",),
        ("compiler.graph.meaning",),
        ("compiler.graph.tosa",),
        ("compiler.graph.linalg",),
        ("compiler.graph",),
        ("compiler.module",),
        ("compiler.msl.errors", "compiler.msl.options"),
        ("compiler.msl.source",),
        ("compiler.msl.rewrite",),
        ("compiler.msl.front",),
        ("compiler.msl",),
        (
            "compiler.air.body",
            "compiler.air.container",
            "compiler.air.flat",
            "compiler.air.metadata",
            "compiler.air.names",
        ),
        ("compiler.air.tensors", "compiler.air.textures"),
        ("compiler.air",),
        ("compiler.metallib",),
        (
            "compiler.verify",
            "compiler.verify.assumed",
            "compiler.verify.initial",
            "compiler.verify.memory",
            "compiler.verify.native",
            "compiler.verify.offers",
            "compiler.verify.rings",
            "compiler.verify.walks",
        ),
        ("compiler.foundry.errors", "compiler.foundry.numbers", "compiler.foundry.lines"),
        ("compiler.foundry.structs",),
        ("compiler.foundry.conditions",),
        ("compiler.foundry.formats",),
        ("compiler.foundry.kernels",),
        ("compiler.foundry.pipelines",),
        ("compiler.foundry.library",),
        ("compiler.foundry",),
        ("compiler.torq.operators",),
        ("compiler.torq.hl",),
        ("compiler.torq.hw",),
        ("compiler.torq.legalise",),
        ("compiler.torq.slice",),
        ("compiler.torq.plan",),
        (
            "compiler.torq.kernels.kernel",
            "compiler.torq.kernels.alike",
            "compiler.torq.kernels.means",
            "compiler.torq.kernels.scales",
            "compiler.torq.kernels.strided",
        ),
        ("compiler.torq.kernels.planes",),
        ("compiler.torq.kernels.moving",),
        ("compiler.torq.kernels",),
        ("compiler.torq.passes",),
        ("compiler.torq",),
        ("compiler.torq.schedule",),
        ("compiler",),
    ),
    "hal": (
        ("hal",),
        ("hal.recordings",),
        ("hal.captures",),
        ("hal.hosted",),
        ("hal.cpu",),
        (
            "hal.metal.emulated.constants",
            "hal.metal.emulated.descriptors",
            "hal.metal.emulated.engine",
            "hal.metal.emulated.errors",
            "hal.metal.emulated.objects",
            "hal.metal.emulated.observer",
            "hal.metal.emulated.order.hooks",
            "hal.metal.emulated.order.tick",
            "hal.metal.emulated.order.where",
            "hal.metal.emulated.structs",
            "hal.metal.emulated.texture_constants",
            "hal.metal.emulated.worker",
        ),
        # Heaps hold textures, and textures and tensors may lie in buffers.
        (
            "hal.metal.emulated.resources",
            "hal.metal.emulated.tensors",
            "hal.metal.emulated.textures",
        ),
        ("hal.metal.emulated.programs",),
        ("hal.metal.emulated.commands", "hal.metal.emulated.order"),
        ("hal.metal.emulated.metal4",),
        ("hal.metal.emulated",),
        ("hal.metal.timed", "hal.metal.recorder"),
        ("hal.metal",),
        ("hal.torq.host",),
        ("hal.torq",),
        ("hal.vm.parameters",),
        # The modules of a session are found by it, and look things up in it.
        ("hal.vm", "hal.vm.modules", "hal.vm.operations"),
        ("hal.vm.build",),
        ("hal.module",),
        ("hal.module.build",),
    ),
}

APART = (
    ("hw.apple", "hw.torq"),
    ("compiler.foundry", "compiler.torq"),
    ("compiler.foundry", "compiler.graph"),
    ("compiler.msl", "compiler.torq"),
    ("compiler.msl", "compiler.verify"),
    ("compiler.torq", "compiler.verify"),
    ("compiler.msl", "compiler.graph"),
    ("hal.metal", "hal.torq"),
    ("hal.metal", "hal.cpu"),
    ("hal.cpu", "hal.torq"),
)

LATE = frozenset({"hal.metal.emulated.order.hooks"})
"""Seams: inside their functions they load what stands above them, once it is wanted."""

MOST_MODULES = 25


def rank(module: str) -> int:
    """The place of a module in the order of its layer, by the longest name that begins it."""
    rows = ORDER[module.partition(".")[0]]
    names = {name: place for place, row in enumerate(rows) for name in row}
    return names[max((name for name in names if within(module, name)), key=len)]


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def strangers(module: str) -> Iterator[str]:
    """The rooms that a module must not know, wherever they stand in the order."""
    for pair in APART:
        for room, other in (pair, pair[::-1]):
            if within(module, room):
                yield other


def unknown(modules: Iterable[str]) -> list[str]:
    """Rooms that the order names and nobody lives in."""
    there = list(modules)
    rooms = (name for rows in ORDER.values() for row in rows for name in row)
    return [room for room in rooms if not any(within(module, room) for module in there)]
