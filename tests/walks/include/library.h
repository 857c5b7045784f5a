#pragma once
#define BLOCK 32

typedef struct {
    int32_t ne00;
    int32_t ne01;
    uint64_t nb01;
    uint64_t nb11;
    uint64_t nb1;
} library_args_mul_mv;

typedef struct {
    int32_t ne0;
    int32_t ne10;
} library_args_add;
