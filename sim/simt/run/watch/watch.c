// All that watched kernels call: the translation unit.

#include "ranges.c"
#include "lanes.c"
#include "barriers.c"
#include "events.c"
