#!/usr/bin/env bash
# A student compares four transposes: which is fastest, why, and whether padding helps.
# Runs in an empty folder with the `assay` of an environment that has nothing but Assay.
# The kernels are those of the file that is given.
set -euo pipefail

say() { printf '== %s\n' "$1"; }
has() { grep -qE -- "$2" "$1" || { echo "expected '$2' in:"; head -c 4000 "$1"; exit 1; }; }
hasnt() { ! grep -qE -- "$2" "$1" || { echo "did not expect '$2' in:"; head -c 4000 "$1"; exit 1; }; }

cp "$1" transpose.metal

say "is it right?"
assay check transpose.metal >check.txt
has check.txt '4 kernels, no findings'

say "which is fastest, on which chip?"
assay time transpose.metal --compare m4-max --trace all.html >table.txt
for kernel in copy naive tiled padded; do has table.txt "^$kernel +m1 "; done
has table.txt '^ +m4-max '
has table.txt '16\.5 \(32\)'  # ways of conflict without padding
has table.txt '1\.00 \(1\)'   # and with it
hasnt table.txt 'no bound|0 FLOP/s'
test -s all.html

say "why is the naive one slow?"
assay time transpose.metal -f naive --trace naive.pftrace >naive.txt
assay time transpose.metal -f padded --trace padded.pftrace >padded.txt
has naive.txt '^l2 +[6-9][0-9]%'
has naive.txt '^SLC '
assay trace summary naive.pftrace --track 'GPU.core 0.partition*' --json >naive.json
python3 - <<'END'
import json, re

tracks = json.load(open("naive.json"))["tracks"]
spent = {}
for track in tracks:
    for cause, ticks in track["causes"].items():
        spent[cause] = spent.get(cause, 0) + ticks
drawn = 100 * spent["l2"] / sum(spent.values())
said = float(re.search(r"^l2 +([\d.]+)%", open("naive.txt").read(), re.M)[1])
assert abs(drawn - said) < 6, f"the text says {said} % l2, the timeline {drawn} %"
END

say "what did it bring?"
assay trace diff naive.pftrace padded.pftrace --limit 3 >diff.txt && exit 1
has diff.txt 'this is the answer'
has diff.txt 'naive -> padded +1 .* 0\.[23]'
assay view naive.pftrace padded.pftrace -o both.html --no-open >view.txt
has both.html 'us predicted: naive \| .* us predicted: padded of transpose.metal'
for kernel in naive padded; do assay trace export $kernel.pftrace -o $kernel.html >/dev/null; done
assay view naive.html padded.html -o pages.html --no-open >view.txt
has pages.html 'us predicted: naive \| .* us predicted: padded of transpose.metal'

say "walked"
