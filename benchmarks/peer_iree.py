"""IREE's CPU backend in a process of its own: `peer_iree MODULE ARGUMENTS.npz RESULT.npy`.

Prints the processor time of a call on one thread, the least of some; arguments are on its device.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

_LEAST_SECONDS = 0.5
_LEAST_CALLS = 9


def main() -> None:
    import iree.runtime as runtime

    module, given, result = (Path(word) for word in sys.argv[1:4])
    config = runtime.Config("local-sync")
    loaded = runtime.VmModule.copy_buffer(config.vm_instance, module.read_bytes())
    function = runtime.SystemContext(vm_modules=[loaded], config=config).modules[loaded.name][
        "main"
    ]
    with np.load(given) as arrays:
        ordered = [arrays[f"arr_{number}"] for number in range(len(arrays.files))]
    arguments = [runtime.asdevicearray(config.device, each) for each in ordered]
    taken: list[float] = []
    while sum(taken) < _LEAST_SECONDS or len(taken) < _LEAST_CALLS:
        start = time.process_time()
        found = function(*arguments)
        taken.append(time.process_time() - start)
    np.save(result, found.to_host())
    print(json.dumps({"seconds": min(taken)}))


if __name__ == "__main__":
    main()
