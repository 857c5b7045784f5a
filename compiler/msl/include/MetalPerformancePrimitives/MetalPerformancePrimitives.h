// A header that programs name; everything is declared before the program begins.
#pragma once
#include <assay/macros.h>
