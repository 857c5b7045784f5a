#include <metal_stdlib>
using namespace metal;
// What a compiler of lazy tensors renders: arguments without numbers, one loop nest per kernel,
// vectors read through casts, matrix units by the elements that a lane owns.
float2 __WMMA_8_8_8_half_float(half2 a, half2 b, float2 c) {
  simdgroup_half8x8 A, B; simdgroup_float8x8 C;
  A.thread_elements()[0] = a[0]; B.thread_elements()[0] = b[0]; C.thread_elements()[0] = c[0];
  A.thread_elements()[1] = a[1]; B.thread_elements()[1] = b[1]; C.thread_elements()[1] = c[1];
  simdgroup_multiply_accumulate(C, A, B, C);
  return float2(C.thread_elements()[0], C.thread_elements()[1]);
}
kernel void E_8_32_4(device float* data0_1024, device float* data1_1024, device int* data2_1024, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  int gidx0 = gid.x; /* 8 */
  int lidx0 = lid.x; /* 32 */
  int alu0 = ((gidx0<<7)+(lidx0<<2));
  float4 val0 = (*((device float4*)((data1_1024+alu0))));
  int4 val1 = (*((device int4*)((data2_1024+alu0))));
  bool alu1 = (val1.x!=0);
  *((device float4*)((data0_1024+alu0))) = float4((alu1?precise::sin(val0.x):0.0f),((val1.y!=0)?exp2((val0.y*1.4426950408889634f)):(-INFINITY)),(((val1.z<0)!=1)?sqrt(as_type<float>((as_type<int>(val0.z)&2147483647))):NAN),(float)(((half)(val0.w))));
}
kernel void r_4_16_8_16(device float* data0_64, device half* data1_8192, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  threadgroup __attribute__((aligned(16))) float temp0[16];
  float acc0[1];
  float acc1[1];
  int gidx0 = gid.x; /* 16 */
  int gidx1 = gid.y; /* 4 */
  int lidx0 = lid.x; /* 16 */
  *(acc0+0) = (-INFINITY);
  for (int Ridx0 = 0; Ridx0 < 8; Ridx0++) {
    half val0 = (*(data1_8192+((gidx1<<11)+(gidx0<<7)+(lidx0<<3)+Ridx0)));
    float cast0 = ((float)(val0));
    float alu0 = (((*(acc0+0))<cast0)?cast0:(*(acc0+0)));
    *(acc0+0) = alu0;
  }
  *(temp0+lidx0) = (*(acc0+0));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  *(acc1+0) = (-INFINITY);
  for (int Ridx102 = 0; Ridx102 < 16; Ridx102++) {
    float val1 = (*(temp0+Ridx102));
    *(acc1+0) = (((*(acc1+0))<val1)?val1:(*(acc1+0)));
  }
  bool alu1 = (lidx0==0);
  if (alu1) {
    *(data0_64+((gidx1<<4)+gidx0)) = (*(acc1+0));
  }
}
kernel void r_2_2_32_4(device float* data0_256, device half* data1_512, device half* data2_512, uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  float acc0[2];
  int gidx0 = gid.x; /* 2 */
  int gidx1 = gid.y; /* 2 */
  int lidx0 = lid.x; /* 2 */
  int lidx1 = lid.y; /* 4 */
  int lidx2 = lid.z; /* 4 */
  int alu0 = ((lidx2>>1)<<2);
  int alu1 = (alu0+lidx1);
  int alu2 = (((lidx2&1)<<2)+(lidx0<<1));
  *(acc0+0) = 0.0f;
  *(acc0+1) = 0.0f;
  for (int Ridx0 = 0; Ridx0 < 4; Ridx0++) {
    int alu3 = ((Ridx0<<3)+alu2);
    half2 cast0 = half2((*(data1_512+((gidx1<<8)+(alu1<<5)+alu3))),(*(data1_512+((gidx1<<8)+(alu1<<5)+alu3+1))));
    half2 cast1 = half2((*(data2_512+((Ridx0<<7)+(alu1<<4)+(gidx0<<3)+alu2))),(*(data2_512+((Ridx0<<7)+(alu1<<4)+(gidx0<<3)+alu2+1))));
    float2 wmma0 = __WMMA_8_8_8_half_float(cast0, cast1, float2((*(acc0+0)),(*(acc0+1))));
    *(acc0+0) = wmma0.x;
    *(acc0+1) = wmma0.y;
  }
  *((device float2*)((data0_256+((gidx1<<7)+(alu1<<4)+(gidx0<<3)+alu2)))) = float2((*(acc0+0)),(*(acc0+1)));
}
