"""`python -m assay.tinygrad SCRIPT [ARGUMENTS]`: run a tinygrad script on the emulated Metal.

Off a Mac the device is called METAL, too: scripts that were written for one run as they are.
"""

import sys
from pathlib import Path

from ..scripts import run_script
from .registration import install

_USAGE = """usage: python -m assay.tinygrad SCRIPT [ARGUMENTS]

Runs a Python script whose tinygrad device is the emulated Metal, unless DEV names another one.
Off a Mac, METAL is the emulated device, too.
"""


def main(arguments: list[str]) -> int:
    """Run the script that `arguments` names; 1 if it ends with an exception, 2 if there is none."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    script = Path(arguments[0])
    if not script.is_file():
        print(f"python -m assay.tinygrad: there is no file {arguments[0]!r}", file=sys.stderr)
        return 2
    install()
    return run_script(script, arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
