"""The instruction set of IREE VM bytecode 17.0 as a table: opcode, mnemonic, operand encoding.

Facts taken from `runtime/src/iree/vm/bytecode/isa/isa.json` of iree-org/iree (commit b48a5955).
One row per instruction: `set opcode mnemonic : fields`. Fields, in encoding order:
`i32 i64 f32 f64 ref` a register that is read, `>i32 ...` a register that is written,
`#i32 ...` an inline constant, `global` a byte offset or ref ordinal, `rodata`, `function` and
`type` ordinals, `string` inline text, `list:x` a register list, `results` a result register list,
`segments` sizes of the spans of a call, `target` a branch target, `remap` its register moves,
`count` and `cases` a branch table.
"""

BYTECODE_MAJOR = 17
BLOCK_MARKER = 0x79
PREFIX_F32 = 0xE0
PREFIX_F64 = 0xE1

ROWS = """\
core 00 global.load.i32 : global >i32
core 01 global.store.i32 : global i32
core 02 global.load.indirect.i32 : i32 >i32
core 03 global.store.indirect.i32 : i32 i32
core 04 global.load.i64 : global >i64
core 05 global.store.i64 : global i64
core 06 global.load.indirect.i64 : i32 >i64
core 07 global.store.indirect.i64 : i32 i64
core 08 global.load.ref : global type >ref
core 09 global.store.ref : global type ref
core 0a global.load.indirect.ref : i32 type >ref
core 0b global.store.indirect.ref : i32 type ref
core 0c const.i32.zero : >i32
core 0d const.i32 : #i32 >i32
core 0e const.i64.zero : >i64
core 0f const.i64 : #i64 >i64
core 10 const.ref.zero : >ref
core 11 const.ref.rodata : rodata >ref
core 12 list.alloc : type i32 >ref
core 13 list.reserve : ref i32
core 14 list.size : ref >i32
core 15 list.resize : ref i32
core 16 list.get.i32 : ref i32 >i32
core 17 list.set.i32 : ref i32 i32
core 18 list.get.i64 : ref i32 >i64
core 19 list.set.i64 : ref i32 i64
core 1a list.get.ref : ref i32 type >ref
core 1b list.set.ref : ref i32 ref
core 1c select.i32 : i32 i32 i32 >i32
core 1d select.i64 : i32 i64 i64 >i64
core 1e select.ref : i32 type ref ref >ref
core 1f switch.i32 : i32 i32 list:i32 >i32
core 20 switch.i64 : i32 i64 list:i64 >i64
core 21 switch.ref : i32 type ref list:ref >ref
core 22 add.i32 : i32 i32 >i32
core 23 sub.i32 : i32 i32 >i32
core 24 mul.i32 : i32 i32 >i32
core 25 div.i32.s : i32 i32 >i32
core 26 div.i32.u : i32 i32 >i32
core 27 rem.i32.s : i32 i32 >i32
core 28 rem.i32.u : i32 i32 >i32
core 29 fma.i32 : i32 i32 i32 >i32
core 2a add.i64 : i64 i64 >i64
core 2b sub.i64 : i64 i64 >i64
core 2c mul.i64 : i64 i64 >i64
core 2d div.i64.s : i64 i64 >i64
core 2e div.i64.u : i64 i64 >i64
core 2f rem.i64.s : i64 i64 >i64
core 30 rem.i64.u : i64 i64 >i64
core 31 fma.i64 : i64 i64 i64 >i64
core 32 not.i32 : i32 >i32
core 33 and.i32 : i32 i32 >i32
core 34 or.i32 : i32 i32 >i32
core 35 xor.i32 : i32 i32 >i32
core 36 not.i64 : i64 >i64
core 37 and.i64 : i64 i64 >i64
core 38 or.i64 : i64 i64 >i64
core 39 xor.i64 : i64 i64 >i64
core 3a shl.i32 : i32 i32 >i32
core 3b shr.i32.s : i32 i32 >i32
core 3c shr.i32.u : i32 i32 >i32
core 3d shl.i64 : i64 i32 >i64
core 3e shr.i64.s : i64 i32 >i64
core 3f shr.i64.u : i64 i32 >i64
core 40 trunc.i32.i8 : i32 >i32
core 41 trunc.i32.i16 : i32 >i32
core 42 trunc.i64.i32 : i64 >i32
core 43 ext.i8.i32.s : i32 >i32
core 44 ext.i8.i32.u : i32 >i32
core 45 ext.i16.i32.s : i32 >i32
core 46 ext.i16.i32.u : i32 >i32
core 47 ext.i32.i64.s : i32 >i64
core 48 ext.i32.i64.u : i32 >i64
core 49 cmp.eq.i32 : i32 i32 >i32
core 4a cmp.ne.i32 : i32 i32 >i32
core 4b cmp.lt.i32.s : i32 i32 >i32
core 4c cmp.lt.i32.u : i32 i32 >i32
core 4d cmp.nz.i32 : i32 >i32
core 4e cmp.eq.i64 : i64 i64 >i32
core 4f cmp.ne.i64 : i64 i64 >i32
core 50 cmp.lt.i64.s : i64 i64 >i32
core 51 cmp.lt.i64.u : i64 i64 >i32
core 52 cmp.nz.i64 : i64 >i32
core 53 cmp.eq.ref : ref ref >i32
core 54 cmp.ne.ref : ref ref >i32
core 55 cmp.nz.ref : ref >i32
core 56 br : target remap
core 57 cond_br : i32 target remap target remap
core 58 call : function list:any results
core 59 call.variadic : function segments list:any results
core 5a return : list:any
core 5b fail : i32 string
core 5c import.resolved : function >i32
core 5d yield : target remap
core 5e trace : string list:any
core 5f print : string list:any
core 60 cond_break : i32 target remap
core 61 break : target remap
core 62 buffer.load.i8.u : ref i64 >i32
core 63 buffer.load.i8.s : ref i64 >i32
core 64 buffer.load.i16.u : ref i64 >i32
core 65 buffer.load.i16.s : ref i64 >i32
core 66 buffer.load.i32 : ref i64 >i32
core 67 buffer.load.i64 : ref i64 >i64
core 68 buffer.store.i8 : ref i64 i32
core 69 buffer.store.i16 : ref i64 i32
core 6a buffer.store.i32 : ref i64 i32
core 6b buffer.store.i64 : ref i64 i64
core 6c buffer.alloc : i64 i32 >ref
core 6d buffer.clone : ref i64 i64 i32 >ref
core 6e buffer.length : ref >i64
core 6f buffer.copy : ref i64 ref i64 i64
core 70 buffer.compare : ref i64 ref i64 i64 >i32
core 71 buffer.fill.i8 : ref i64 i64 i32
core 72 buffer.fill.i16 : ref i64 i64 i32
core 73 buffer.fill.i32 : ref i64 i64 i32
core 74 buffer.fill.i64 : ref i64 i64 i64
core 75 ctlz.i32 : i32 >i32
core 76 ctlz.i64 : i64 >i64
core 77 abs.i32 : i32 >i32
core 78 abs.i64 : i64 >i64
core 7a min.i32.s : i32 i32 >i32
core 7b min.i32.u : i32 i32 >i32
core 7c max.i32.s : i32 i32 >i32
core 7d max.i32.u : i32 i32 >i32
core 7e min.i64.s : i64 i64 >i64
core 7f min.i64.u : i64 i64 >i64
core 80 max.i64.s : i64 i64 >i64
core 81 max.i64.u : i64 i64 >i64
core 82 cast.any.ref : ref type >ref
core 83 br_table : i32 target remap count cases
core 84 buffer.hash : ref i64 i64 >i64
core 85 discard.refs : list:any
core 86 assign.ref : ref >ref
core 87 call.yieldable : function list:any target results
core 88 call.variadic.yieldable : function segments list:any target results
f32 00 global.load.f32 : global >f32
f32 01 global.store.f32 : global f32
f32 02 global.load.indirect.f32 : i32 >f32
f32 03 global.store.indirect.f32 : i32 f32
f32 04 const.f32.zero : >f32
f32 05 const.f32 : #f32 >f32
f32 06 list.get.f32 : ref i32 >f32
f32 07 list.set.f32 : ref i32 f32
f32 08 select.f32 : i32 f32 f32 >f32
f32 09 switch.f32 : i32 f32 list:f32 >f32
f32 0a add.f32 : f32 f32 >f32
f32 0b sub.f32 : f32 f32 >f32
f32 0c mul.f32 : f32 f32 >f32
f32 0d div.f32 : f32 f32 >f32
f32 0e rem.f32 : f32 f32 >f32
f32 0f fma.f32 : f32 f32 f32 >f32
f32 10 abs.f32 : f32 >f32
f32 11 neg.f32 : f32 >f32
f32 12 ceil.f32 : f32 >f32
f32 13 floor.f32 : f32 >f32
f32 14 cast.si32.f32 : i32 >f32
f32 15 cast.ui32.f32 : i32 >f32
f32 16 cast.f32.si32 : f32 >i32
f32 17 cast.f32.ui32 : f32 >i32
f32 18 bitcast.i32.f32 : i32 >f32
f32 19 bitcast.f32.i32 : f32 >i32
f32 1a atan.f32 : f32 >f32
f32 1b atan2.f32 : f32 f32 >f32
f32 1c cos.f32 : f32 >f32
f32 1d sin.f32 : f32 >f32
f32 1e exp.f32 : f32 >f32
f32 1f exp2.f32 : f32 >f32
f32 20 expm1.f32 : f32 >f32
f32 21 log.f32 : f32 >f32
f32 22 log10.f32 : f32 >f32
f32 23 log1p.f32 : f32 >f32
f32 24 log2.f32 : f32 >f32
f32 25 pow.f32 : f32 f32 >f32
f32 26 rsqrt.f32 : f32 >f32
f32 27 sqrt.f32 : f32 >f32
f32 28 tanh.f32 : f32 >f32
f32 29 erf.f32 : f32 >f32
f32 2a cmp.eq.f32.o : f32 f32 >i32
f32 2b cmp.eq.f32.u : f32 f32 >i32
f32 2c cmp.ne.f32.o : f32 f32 >i32
f32 2d cmp.ne.f32.u : f32 f32 >i32
f32 2e cmp.lt.f32.o : f32 f32 >i32
f32 2f cmp.lt.f32.u : f32 f32 >i32
f32 30 cmp.lte.f32.o : f32 f32 >i32
f32 31 cmp.lte.f32.u : f32 f32 >i32
f32 32 cmp.nan.f32 : f32 >i32
f32 33 buffer.load.f32 : ref i64 >f32
f32 34 buffer.store.f32 : ref i64 f32
f32 35 buffer.fill.f32 : ref i64 i64 f32
f32 36 round.f32 : f32 >f32
f32 37 min.f32 : f32 f32 >f32
f32 38 max.f32 : f32 f32 >f32
f32 39 round.f32.even : f32 >f32
f32 3a cast.f32.si64 : f32 >i64
f32 3b cast.f32.ui64 : f32 >i64
f32 3c cast.si64.f32 : i64 >f32
f32 3d cast.ui64.f32 : i64 >f32
f64 00 global.load.f64 : global >f64
f64 01 global.store.f64 : global f64
f64 02 global.load.indirect.f64 : i32 >f64
f64 03 global.store.indirect.f64 : i32 f64
f64 04 const.f64.zero : >f64
f64 05 const.f64 : #f64 >f64
f64 06 list.get.f64 : ref i32 >f64
f64 07 list.set.f64 : ref i32 f64
f64 08 select.f64 : i32 f64 f64 >f64
f64 09 switch.f64 : i32 f64 list:f64 >f64
f64 0a add.f64 : f64 f64 >f64
f64 0b sub.f64 : f64 f64 >f64
f64 0c mul.f64 : f64 f64 >f64
f64 0d div.f64 : f64 f64 >f64
f64 0e rem.f64 : f64 f64 >f64
f64 0f fma.f64 : f64 f64 f64 >f64
f64 10 abs.f64 : f64 >f64
f64 11 neg.f64 : f64 >f64
f64 12 ceil.f64 : f64 >f64
f64 13 floor.f64 : f64 >f64
f64 14 trunc.f64.f32 : f64 >f32
f64 15 ext.f32.f64 : f32 >f64
f64 16 cast.si32.f64 : i32 >f64
f64 17 cast.ui32.f64 : i32 >f64
f64 18 cast.f64.si32 : f64 >i32
f64 19 cast.f64.ui32 : f64 >i32
f64 1a cast.si64.f64 : i64 >f64
f64 1b cast.ui64.f64 : i64 >f64
f64 1c cast.f64.si64 : f64 >i64
f64 1d cast.f64.ui64 : f64 >i64
f64 1e bitcast.i64.f64 : i64 >f64
f64 1f bitcast.f64.i64 : f64 >i64
f64 20 atan.f64 : f64 >f64
f64 21 atan2.f64 : f64 f64 >f64
f64 22 cos.f64 : f64 >f64
f64 23 sin.f64 : f64 >f64
f64 24 exp.f64 : f64 >f64
f64 25 exp2.f64 : f64 >f64
f64 26 expm1.f64 : f64 >f64
f64 27 log.f64 : f64 >f64
f64 28 log10.f64 : f64 >f64
f64 29 log1p.f64 : f64 >f64
f64 2a log2.f64 : f64 >f64
f64 2b pow.f64 : f64 f64 >f64
f64 2c rsqrt.f64 : f64 >f64
f64 2d sqrt.f64 : f64 >f64
f64 2e tanh.f64 : f64 >f64
f64 2f erf.f64 : f64 >f64
f64 30 cmp.eq.f64.o : f64 f64 >i32
f64 31 cmp.eq.f64.u : f64 f64 >i32
f64 32 cmp.ne.f64.o : f64 f64 >i32
f64 33 cmp.ne.f64.u : f64 f64 >i32
f64 34 cmp.lt.f64.o : f64 f64 >i32
f64 35 cmp.lt.f64.u : f64 f64 >i32
f64 36 cmp.lte.f64.o : f64 f64 >i32
f64 37 cmp.lte.f64.u : f64 f64 >i32
f64 38 cmp.nan.f64 : f64 >i32
f64 39 buffer.load.f64 : ref i64 >f64
f64 3a buffer.store.f64 : ref i64 f64
f64 3b buffer.fill.f64 : ref i64 i64 f64
f64 3c round.f64 : f64 >f64
f64 3d min.f64 : f64 f64 >f64
f64 3e max.f64 : f64 f64 >f64
f64 3f round.f64.even : f64 >f64
"""
