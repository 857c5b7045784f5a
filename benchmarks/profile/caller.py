"""Calls a model by whichever Assay is on the path: `caller.py FILE`, which has a pickled mapping.

It answers each number that it reads, a line, with the median processor time of so many calls. The
file stands alone: an earlier Assay runs it, whose benchmarks may be others.
"""

from __future__ import annotations

import json
import pickle
import statistics
import sys
import time
from pathlib import Path


def main() -> None:
    import assay

    subject = pickle.loads(Path(sys.argv[1]).read_bytes())
    module = assay.load(subject["metal"], parameters=subject["parameters"])
    call = module[subject["function"]].invoke
    call(subject["arguments"])  # compiles
    for line in sys.stdin:
        taken = []
        for _ in range(int(line)):
            start = time.process_time()
            call(subject["arguments"])
            taken.append(time.process_time() - start)
        print(json.dumps({"seconds": statistics.median(taken)}), flush=True)


if __name__ == "__main__":
    main()
