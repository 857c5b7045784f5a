#include <metal_stdlib>
using namespace metal;

struct Mesh {
  device packed_float3* v;
  constant uint* idx;
  uint n;
};
struct Scene {
  device Mesh* meshes;
  uint count;
};
kernel void k(constant Scene& s [[buffer(0)]], device float* o [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {
  o[i] = s.meshes[i].v[s.meshes[i].idx[0]].x;
}
