"""`python -m tests.campaigns [NAME ...]` runs the slow campaigns; without names it lists them.

They take too long for every change: `.ci/run` makes the fast tests of the same subjects. `all`
runs every campaign. Times are those of two cores.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = ("tests/walks", "tests/packaging", "tests/docs/test_documented_commands.py")
"""What installs into new environments, and the commands of pages: run first, so that no worker is
left with some minutes of them at the end."""
IN_CI = (
    *LONGEST,
    "tests/checks/field",
    "tests/checks/test_near_misses.py",
    "tests/checks/test_planted.py",
)
"""Slow tests that `.ci/run` makes, by the mark `ci`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What one campaign runs.

    Attributes:
        what: what it does, in a line.
        minutes: about how long it takes.
        paths: files or folders of tests, from the top of the checkout.
        options: further ones of pytest.
        variables: of the environment.
        module: a module to run instead of tests.
    """

    what: str
    minutes: int
    paths: tuple[str, ...] = ()
    options: tuple[str, ...] = ("-m", "slow")
    variables: dict[str, str] = field(default_factory=dict)
    module: tuple[str, ...] = ()

    def command(self) -> list[str]:
        """What is run."""
        if self.module:
            return [sys.executable, "-m", *self.module]
        parallel = ("-n", "2", "--dist", "loadfile", "--max-worker-restart", "0")
        pytest = [sys.executable, "-m", "pytest", "-q", *parallel]
        return [*pytest, *self.options, *self.paths]


_PROPERTY = "tests/sim/simt/property"
CAMPAIGNS: dict[str, Campaign] = {
    "mutation": Campaign(
        what="kernels damaged once or twice: what can go wrong is reported",
        minutes=30,
        paths=("tests/checks/mutation/test_mutation.py",),
    ),
    "corpus": Campaign(
        what="all planted bugs, near misses and pairs; an oracle's view of them, other orders",
        minutes=20,
        paths=(
            "tests/checks/field",
            "tests/checks/test_brief_code.py",
            "tests/checks/test_near_misses.py",
            "tests/checks/test_oracle_agrees.py",
            "tests/checks/test_planted.py",
        ),
    ),
    "proofs": Campaign(
        what="proofs for all sizes and repairs: dropped barriers, mutants, other provers' kernels",
        minutes=5,
        paths=(
            "tests/compiler/verify",
            "tests/assay/proofs",
            "tests/assay/repairs",
            "tests/benchmarks/test_proving_peers.py",
        ),
    ),
    "own-proofs": Campaign(
        what="our own kernels for all sizes: pipelines, the Foundry's library, the benchmarks'",
        minutes=10,
        module=("benchmarks", "proofs"),
    ),
    "repair": Campaign(
        what="damaged kernels of the mutation corpus that small changes mend: 60% at least",
        minutes=60,
        module=("benchmarks", "repair"),
    ),
    "reduce": Campaign(
        what="a failing kernel of the corpus becomes small, with the same finding",
        minutes=1,
        paths=("tests/assay/reduction",),
    ),
    "random-proofs": Campaign(
        what="100,000 random kernels: what their threads do contradicts no proof",
        minutes=90,
        module=("tests.compiler.verify.soak", "--kernels", "100000"),
    ),
    "foundry": Campaign(
        what="kernels put together in Python: all forms and formats, mutants, seeded variants",
        minutes=60,
        paths=(
            "tests/assay/foundry",
            "tests/compiler/foundry",
            "tests/benchmarks/test_pipelines.py",
        ),
    ),
    "sweeps": Campaign(
        what="sweeps that are stopped, on several workers; tuned kernels against all of them",
        minutes=10,
        paths=("tests/assay/sweeps",),
    ),
    "networks": Campaign(
        what="whole networks for the NPU after every pass, against TOSA's reference and IREE",
        minutes=10,
        paths=(
            "tests/compiler/graph",
            "tests/compiler/torq/hl",
            "tests/compiler/torq/legalise",
            "tests/compiler/torq/passes",
            "tests/compiler/torq/schedule",
            "tests/hal/torq/listing",
        ),
    ),
    "drawn-networks": Campaign(
        what="10,000 random quantised networks on the NPU against TOSA's reference, all checks on",
        minutes=400,
        paths=("tests/compiler/torq/schedule/test_drawn_networks.py",),
        options=("-m", "slow", "--dist", "load"),
        variables={"ASSAY_NETWORK_CASES": "10000"},
    ),
    "constants": Campaign(
        what="10,000 calculations with constants against the same at run time",
        minutes=10,
        paths=(f"{_PROPERTY}/test_constants_agree.py",),
        variables={"ASSAY_CONSTANT_CASES": "10000"},
    ),
    "graphs": Campaign(
        what="10,000 random control-flow graphs on engine and reference",
        minutes=30,
        paths=(f"{_PROPERTY}/test_engines_agree.py",),
        options=("-m", "slow", "-k", "many_control_flow_graphs"),
        variables={"ASSAY_GRAPH_CASES": "10000"},
    ),
    "lanes": Campaign(
        what="8,000 random kernels with lanes that have no work of their own, against all lanes",
        minutes=15,
        paths=(
            f"{_PROPERTY}/test_live_lanes_agree.py",
            f"{_PROPERTY}/test_compact_kernels_agree.py",
        ),
        options=("-m", "slow"),
        variables={"ASSAY_LANE_CASES": "2000"},
    ),
    "engines": Campaign(
        what="random kernels on engine and reference, their tapes, their lowering",
        minutes=20,
        paths=(
            f"{_PROPERTY}/test_engines_agree.py",
            f"{_PROPERTY}/test_matrix_products.py",
            f"{_PROPERTY}/test_tapes.py",
            f"{_PROPERTY}/test_lowering.py",
        ),
    ),
    "engine": Campaign(
        what="more kernels for what the engine reads, analyses and makes; samplers, full disks",
        minutes=3,
        paths=(
            "tests/sim/simt/analysis",
            "tests/sim/simt/emit",
            "tests/sim/simt/read",
            "tests/sim/native",
            "tests/hw/apple/lower",
            "tests/hal/metal/test_texture_sampling.py",
        ),
    ),
    "libraries": Campaign(
        what="kernels that Apple compiled, out of wheels for Macs, which are fetched",
        minutes=2,
        paths=("tests/compiler/air",),
    ),
    "tensors": Campaign(
        what="Metal 4's tensors from source: more types, shapes and operations; swizzles",
        minutes=1,
        paths=("tests/compiler/msl/test_tensors.py", "tests/compiler/msl/test_swizzles.py"),
    ),
    "recordings": Campaign(
        what="all cases of the suite for Macs, recorded and replayed on the emulated device",
        minutes=1,
        paths=("tests/assay/recordings",),
    ),
    "programs": Campaign(
        what="the programs of tests/programs with all checks on",
        minutes=10,
        paths=("tests/programs",),
    ),
    "host-order": Campaign(
        what="10,000 random host programs judged as by an oracle",
        minutes=10,
        paths=("tests/hal/metal/order/test_command_order.py",),
    ),
    "explore": Campaign(
        what="other examples of the property tests than the usual ones",
        minutes=20,
        paths=("tests/sim", "tests/hw", "tests/compiler", "tests/traces"),
        options=("--hypothesis-profile=explore",),
    ),
    "fuzz": Campaign(
        what="damaged modules, Torq executables and sources end in clear errors",
        minutes=15,
        paths=(
            "tests/fuzz",
            "tests/hal/vm/test_damaged_modules.py",
            "tests/compiler/msl/test_hostile_sources.py",
        ),
    ),
    "modules": Campaign(
        what="Assay modules of whole models: shape sets and devices against IREE",
        minutes=5,
        paths=("tests/hal/module", "tests/benchmarks/test_modules.py"),
    ),
    "npu": Campaign(
        what="damaged programs of the NPU, refused words, kernels against IREE",
        minutes=20,
        paths=(
            "tests/compiler/torq/test_convolution_tiles.py",
            "tests/compiler/torq/test_mutants.py",
            "tests/compiler/torq/test_tiles.py",
            "tests/hw/torq/datapath/test_refusals.py",
            "tests/compiler/torq/test_kernels_equal_iree.py",
        ),
    ),
    "npu-mutants": Campaign(
        what="1,000 damaged programs of the NPU each as TorqHL, TorqHW and words",
        minutes=25,
        paths=("tests/fuzz/test_torq_mutants.py",),
        options=("-m", "slow", "-n", "0"),
    ),
    "documents": Campaign(
        what="every command of README and the documentation; damaged caches; ends of errors",
        minutes=8,
        paths=("tests/docs", "tests/assay/cli", "tests/assay/test_tracebacks.py"),
    ),
    "models": Campaign(
        what="every model family under all checks, and all of IREE's check suites",
        minutes=5,
        paths=("tests/models",),
    ),
    "predictions": Campaign(
        what="times of whole kernels, the kernels of the validation, loops on the core model",
        minutes=10,
        paths=(
            "tests/hw/apple/core/test_properties.py",
            "tests/validation/test_kernels.py",
            "tests/assay/prediction/test_model.py",
            "tests/assay/checks/test_source.py",
        ),
    ),
    "viewer": Campaign(
        what="large traces in a browser and in Perfetto's engine",
        minutes=5,
        paths=("tests/traces",),
    ),
    "tinygrad": Campaign(
        what="tinygrad's models and, with ASSAY_TINYGRAD_CHECKOUT, its own tests",
        minutes=20,
        paths=("tests/dropins",),
    ),
    "sanitizers": Campaign(
        what="the C code under AddressSanitizer and UBSan",
        minutes=5,
        module=("tests.sanitizers",),
    ),
}
"""The campaigns by name."""


@cache
def is_among(path: Path, paths: tuple[str, ...]) -> bool:
    """Whether a file is one of those, or in one of those folders."""
    return any(path.is_relative_to(ROOT / each) for each in paths)


def listing() -> str:
    """What there is, a line each."""
    width = max(map(len, CAMPAIGNS))
    rows = (f"{n:{width}}  {c.minutes:3} min  {c.what}" for n, c in CAMPAIGNS.items())
    return "\n".join(rows)


def main(names: list[str]) -> int:
    """Run campaigns one after the other; 1 if one of them fails."""
    if not names or {"-h", "--help"} & set(names):
        print(f"usage: python -m tests.campaigns [all | NAME ...]\n\n{listing()}")
        return 0
    if unknown := [name for name in names if name not in (*CAMPAIGNS, "all")]:
        print(f"no campaign is called {', '.join(unknown)}; there are\n{listing()}")
        return 2
    failed = []
    for name in CAMPAIGNS if "all" in names else names:
        campaign = CAMPAIGNS[name]
        print(f"== {name}: {campaign.what} (about {campaign.minutes} minutes)", flush=True)
        environment = {**os.environ, **campaign.variables}
        if subprocess.run(campaign.command(), cwd=ROOT, env=environment).returncode:
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
