"""Takes the pictures of "How the NPU's compiler works": python docs/images/npu_timelines.py

MobileNetV2 by the vendor's schedule and by Assay's own, the same stretch of time of both.
Needs Chromium, and the extras `tflite` and `iree`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(ROOT))

from tests.models.tflite.models import mobilenet_v2  # noqa: E402
from tests.support import chromium  # noqa: E402

# Slices without their agents, no arrows, and the same stretch of cycles of each run.
VIEW = """() => {
  const { model } = timeline;
  timeline.find("panel").style.height = "0px";
  timeline.state.arrows = false;
  model.tracks.filter((track) => track.name.startsWith("SLC")).forEach((t) => timeline.toggle(t));
  const unit = model.tracks.find((track) => track.name === "XR");
  const begin = model.begin[model.rowFirst[unit.firstRow]] + FROM;
  timeline.setView(begin, begin + CYCLES);
}"""
FROM, CYCLES = 60_000, 60_000
WIDTH = 1160
PANEL = 31
"""What is left of the closed panel below the tracks, which the pictures leave out."""
SCHEDULES = {"vendor": 419, "overlap": 449}
"""The height of each picture: one slice works by the vendor's schedule, two by the other."""


def main() -> None:
    """Compile, run and look."""
    with tempfile.TemporaryDirectory() as name, chromium.browser() as browser:
        folder = Path(name)
        (folder / "model.tflite").write_bytes(mobilenet_v2())
        for schedule, height in SCHEDULES.items():
            _assay(folder, "compile", "model.tflite", "--device", "torq", "--schedule", schedule)
            _assay(folder, "time", "model.torq", "--trace", f"{schedule}.html")
            with chromium.tab(
                browser, folder / f"{schedule}.html", size=(WIDTH, height + PANEL)
            ) as tab:
                tab.call(VIEW.replace("FROM", str(FROM)).replace("CYCLES", str(CYCLES)))
                tab.settle()
                shown = {"x": 0, "y": 0, "width": WIDTH, "height": height}
                tab.page.screenshot(path=FOLDER / f"npu-{schedule}.png", clip=shown)


def _assay(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "assay", *arguments]
    subprocess.run(command, cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
