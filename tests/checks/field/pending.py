"""Bugs that are not found yet, and twins in which something is found, each with the reason."""

_THEN = "an overflow that a division, a remainder or a truncation follows is not told"

MISSED: dict[str, str] = {
    "host/wide_row": "the kernel is named, not the dispatch",
    "init/struct_member": "a member that one branch alone sets is folded to that branch's value",
    "overflow/byte_lane": _THEN,
    "overflow/widened_late": _THEN,
    "race/warp_sum": "the first store is dead to the compiler, so that the loop alone is named",
}
ALARMS: dict[str, str] = {}
