"""Takes the picture of "Reading a timeline" from a real run: python docs/images/timeline.py

Needs Chromium.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
sys.path.insert(0, str(ROOT))

from tests.support import chromium  # noqa: E402

# Scrolled to the core, the first simdgroup's first steps in view.
VIEW = """() => {
  const { model } = timeline;
  timeline.find("panel").style.height = "110px";
  const core = model.tracks.find((track) => track.name.startsWith("core"));
  const row = model.tracks.find((track) => track.role === "simdgroup").firstRow;
  const begin = model.begin[model.rowFirst[row]];
  const length = model.end(model.rowFirst[row + 1] - 1) - begin;
  timeline.scroller.scrollTop = timeline.lines.lines.find((line) => line.track === core).y;
  timeline.setView(begin - 0.01 * length, begin + 0.62 * length);
}"""


def main() -> None:
    """Run the commands of the page, and look at what they wrote."""
    page = (FOLDER.parent / "guides" / "reading-a-timeline.md").read_text()
    with tempfile.TemporaryDirectory() as folder, chromium.browser() as browser:
        for name, text in re.findall(r"cat > (\S+) <<'END'\n(.*?)\nEND\n", page, re.DOTALL):
            (Path(folder) / name).write_text(text + "\n")
        command = re.search(r"^\$ (assay time .*)$", page, re.MULTILINE)
        assert command is not None
        words = [sys.executable, "-m", *command[1].split()]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(words, cwd=folder, check=True, env=environment)
        with chromium.tab(browser, Path(folder) / "gemm.html", size=(1160, 940)) as tab:
            tab.call(VIEW)
            tab.settle()
            tab.page.screenshot(path=FOLDER / "timeline.png")


if __name__ == "__main__":
    main()
