#!/usr/bin/env bash
# A contributor to a big project finds what is wrong in its one large .metal file.
# Runs in an empty folder with the `assay` of an environment that has nothing but Assay.
# The file and the folder of its headers are given.
set -euo pipefail

say() { printf '== %s\n' "$1"; }
has() { grep -qE -- "$2" "$1" || { echo "expected '$2' in:"; cat "$1"; exit 1; }; }
hasnt() { ! grep -qE -- "$2" "$1" || { echo "did not expect '$2' in:"; cat "$1"; exit 1; }; }
ends() { local want=$1 code=0; shift; "$@" >out.txt 2>&1 || code=$?; test "$code" = "$want" || { echo "exit code $code of: $*"; cat out.txt; exit 1; }; }

cp "$1" library.metal

say "its header is somewhere else"
ends 2 assay check library.metal
has out.txt "'library.h' file not found: give its folder with -I DIR"

say "one kernel does not compile: the others are checked"
ends 1 assay check library.metal -I "$2" --format sarif --output all.sarif
has out.txt "kernel 'unfinished' was not checked: library.metal:.*undeclared identifier 'not_written_yet'"
has out.txt '5 kernels, .* 1 kernel not checked'
has all.sarif '"ruleId": "compile-error"'

say "a clean run that ran nothing says so"
ends 0 assay check library.metal -I "$2" -f mul_mv_q4
has out.txt 'assumed for mul_mv_q4: .*ne00 = 16.*; SIMDGROUPS = 8|assumed for mul_mv_q4: SIMDGROUPS = 8; .*ne00 = 16'
hasnt out.txt 'HAS_BIAS'
has out.txt "warning: of kernel 'mul_mv_q4' not all was checked: never entered: the loop at library.metal:41; never touched: 'src0', 'src1': state args"

ends 0 assay time library.metal -I "$2" -f mul_mv_q4
has out.txt "warning: of kernel 'mul_mv_q4' not all is timed: never entered: the loop at"

say "what may be stated?"
assay inspect library.metal -I "$2" --function mul_mv_q4 --args-template >args.toml
has args.toml 'arguments.args = \{ ne00 = 16, ne01 = 16, nb01 = 16, nb11 = 16, nb1 = 16 \}'
sed -i.bak 's/ne00 = 16, ne01 = 16, nb01 = 16, nb11 = 16, nb1 = 16/ne00 = 4096, ne01 = 8, nb01 = 2304, nb11 = 16384, nb1 = 32/; s/^threadgroups.*/threadgroups = [4, 2]/; s/^threadgroup = .*/threadgroup = 64/; s/SIMDGROUPS = 8/SIMDGROUPS = 2/; s/shape = \[[0-9]*\]/shape = [32768]/' args.toml

say "all of it runs now"
ends 0 assay check library.metal -I "$2" --args args.toml --only-listed
has out.txt '1 kernel, no findings'
hasnt out.txt 'not all was checked|assumed for'

say "mistakes are named"
ends 2 assay check library.metal -I "$2" -f mul_mv_q5
has out.txt "there is no kernel 'mul_mv_q5'; did you mean 'mul_mv_q[48]'\?"
sed 's/nb01 = 2304/nb02 = 2304/' args.toml >wrong.toml
ends 2 assay check library.metal -I "$2" --args wrong.toml -f 'mul_mv_*'
has out.txt "kernel 'mul_mv_q4' was not checked: .*has no member 'nb02'; did you mean 'nb01'\?"
has out.txt '1 kernel, no findings, 1 kernel not checked'
has out.txt "note: nothing says how kernel 'mul_mv_q8' is run"

say "the race in the soft-max"
ends 1 assay check library.metal -I "$2" -f soft_max -f 'add_*' --jobs 2 --timeout-per-kernel 100
has out.txt "library.metal:[0-9]+:[0-9]+: error: no barrier between two accesses to 'shmem'"

say "how long does it take?"
ends 2 assay time library.metal -I "$2" -f mul_mv_q4 --args args.toml --chip 'M4 Max'
has out.txt "did you mean 'm4-max'\?"
ends 0 assay time library.metal -I "$2" -f mul_mv_q4 --args args.toml --chip m4-max
has out.txt '^caches +warm'
has out.txt 'idle .* partitions without a simdgroup \(.* of 4\)'
has out.txt '^elsewhere: cycles of no function'

say "walked"
