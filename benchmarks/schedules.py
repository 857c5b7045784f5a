"""`python -m benchmarks schedules`: how long networks take on the NPU by each of the schedules.

Each network is compiled in a fresh process by `--schedule vendor` and by the usual one, and run on
the emulated NPU. Published times are of boards with the vendor's compiler.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from assay.hw.torq.facts.costs import sl2610
from tests.models.tflite import models

from .shell import assay

PUBLISHED = Path(__file__).with_name("npu_published.toml")
NETWORKS: dict[str, Callable[[], bytes]] = {
    "mobilenet_v2": models.mobilenet_v2,
    "resnet18": models.resnet18,
    "resnet18_480x640": models.resnet18_480x640,
    "yolov8n": models.yolov8n,
    "yolov8n_640": partial(models.yolov8n, size=640),
    "ds_cnn": models.ds_cnn,
}
SCHEDULES = ("vendor", "overlap")
LEAST_FASTER = 1.6
"""Times that the usual schedule is faster than the vendor's."""
MOST_OFF = {"mobilenet_v2": 0.25, "resnet18_480x640": 0.30}
"""How far what `--schedule vendor` predicts may be from what is published."""
MOST_ROOFLINE = {"mobilenet_v2": 1.5, "resnet18": 1.25, "resnet18_480x640": 1.25}
"""Times the roofline of its products and transfers that the usual schedule may take; where not even
operators that load without a gap come so near, since LRAM holds too little of what later ones need,
times what those would take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A network by one schedule.

    Attributes:
        summary: what the compiler expects, as `assay compile --json` prints it.
        compile_seconds, compile_memory: processor time, and bytes at most.
        cycles: of the emulated NPU; 0 if it was not run.
        emulate_seconds, emulate_memory: the same of running it with time.
    """

    summary: Mapping[str, Any]
    compile_seconds: float
    compile_memory: int
    cycles: int = 0
    emulate_seconds: float = 0.0
    emulate_memory: int = 0

    @property
    def milliseconds(self) -> float:
        """On the NPU: as it ran, or as the compiler expects if it did not."""
        return 1e3 * (self.cycles or self.summary["cycles"]) / sl2610().clock_hz

    @property
    def above_roofline(self) -> float:
        """Times the most of its products' and its transfers' cycles."""
        return (self.cycles or self.summary["cycles"]) / self.summary["roofline"]

    @property
    def above_least(self) -> float:
        """Times what operators in order take at least, since LRAM limits what is loaded before."""
        return (self.cycles or self.summary["cycles"]) / self.summary["least"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A network by all schedules."""

    network: str
    published: Sequence[float]
    by: Mapping[str, Scheduled]

    @property
    def faster(self) -> float:
        """Times that the usual schedule is faster."""
        return self.by["vendor"].milliseconds / self.by["overlap"].milliseconds

    def off(self) -> float:
        """How far the vendor's schedule is from what is published, as a part of that."""
        least, most = min(self.published), max(self.published)
        here = self.by["vendor"].milliseconds
        near = min(max(here, least), most)
        return here / near - 1

    def missed(self) -> list[str]:
        """The bars that this network misses."""
        found = []
        if self.faster < LEAST_FASTER:
            found.append(f"{self.faster:.2f} times faster, not {LEAST_FASTER:g}")
        if self.network in MOST_OFF and abs(self.off()) > MOST_OFF[self.network]:
            found.append(f"{self.off():+.0%} from what is published")
        most = MOST_ROOFLINE.get(self.network)
        usual = self.by["overlap"]
        if most is not None and usual.above_roofline > most:
            least = usual.summary["least"] / usual.summary["roofline"]
            why = f"; operators in order take at least {least:.2f}" if least > most else ""
            found.append(f"{usual.above_roofline:.2f} times the roofline, not {most:g}{why}")
        return found


def main(arguments: Sequence[str]) -> int:
    """Measure and report; 1 if a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks schedules", description=__doc__)
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(NETWORKS)}; all if none is")
    parser.add_argument(
        "--compile-only", action="store_true", help="compile, and tell what the compiler expects"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"no network is called {unknown[0]!r}; there are {', '.join(NETWORKS)}")
    found = []
    for each in compared(options.networks or list(NETWORKS), run=not options.compile_only):
        found.append(each)
        if not options.json:
            Console(width=150).print(table(each))
    if options.json:
        print(json.dumps([as_json(each) for each in found], indent=2))
    missed = [f"{each.network}: {text}" for each in found for text in each.missed()]
    print("\n".join(f"FAIL {text}" for text in missed), end="\n" if missed else "", file=sys.stderr)
    return int(bool(missed))


def compared(networks: Sequence[str], *, run: bool) -> Iterator[Compared]:
    """Networks by name, one after the other."""
    published = tomllib.loads(PUBLISHED.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        folder = Path(name)
        for network in networks:
            (folder / "model.tflite").write_bytes(NETWORKS[network]())
            by = {each: _scheduled(each, folder, run=run) for each in SCHEDULES}
            times = published.get(network, {}).get("milliseconds", ())
            yield Compared(network=network, published=times, by=by)


def _scheduled(schedule: str, folder: Path, *, run: bool) -> Scheduled:
    arguments = ["compile", "model.tflite", "--device", "torq", "--schedule", schedule]
    made = assay([*arguments, "-o", "model.torq", "--json"], folder)
    found = Scheduled(
        summary=json.loads(made.output)["schedule"],
        compile_seconds=made.seconds,
        compile_memory=made.memory,
    )
    if not run:
        return found
    ran = assay(["time", "model.torq", "--json"], folder)
    return Scheduled(
        summary=found.summary,
        compile_seconds=found.compile_seconds,
        compile_memory=found.compile_memory,
        cycles=json.loads(ran.output)["cycles"],
        emulate_seconds=ran.seconds,
        emulate_memory=ran.memory,
    )


def as_json(each: Compared) -> dict[str, Any]:
    """All figures as JSON values."""
    by = {
        name: {
            **asdict(one),
            "milliseconds": one.milliseconds,
            "above_roofline": one.above_roofline,
            "above_least": one.above_least,
        }
        for name, one in each.by.items()
    }
    return {
        "network": each.network,
        "published": list(each.published),
        "faster": each.faster,
        "by": by,
        "missed": each.missed(),
    }


def table(each: Compared) -> Table:
    """A network's schedules side by side."""
    title = f"{each.network}: {each.faster:.2f} times faster"
    if each.published:
        times = " to ".join(f"{one:g}" for one in each.published)
        title += f"; published {times} ms, the vendor's schedule {each.off():+.0%}"
    found = Table(title=title)
    names = "schedule,ms,x roofline,x least,MACs used,overlap,MB moved,LRAM peak"
    for name in f"{names},compile s,MB,emulate s,MB".split(","):
        found.add_column(name, justify="left" if name == "schedule" else "right")
    for name, one in each.by.items():
        summary = one.summary
        found.add_row(
            name,
            f"{one.milliseconds:.3f}",
            f"{one.above_roofline:.3f}",
            f"{one.above_least:.3f}",
            f"{summary['utilisation']:.1%}",
            f"{summary['overlap']:.1%}",
            f"{(summary['loaded'] + summary['stored']) / 1e6:.2f}",
            f"{summary['lram_peak']:,}",
            f"{one.compile_seconds:.1f}",
            f"{one.compile_memory >> 20}",
            f"{one.emulate_seconds:.1f}" if one.cycles else "",
            f"{one.emulate_memory >> 20}" if one.cycles else "",
        )
    return found
