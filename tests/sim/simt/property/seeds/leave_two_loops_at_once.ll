
declare i32 @__assay_thread_position_in_grid(i32)
declare i32 @__assay_simd_sum_u32(i32, i32) convergent nounwind
define void @kernel_entry(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = call i32 @__assay_thread_position_in_grid(i32 0)
  %x64 = zext i32 %x to i64
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %x64
  %first = load i32, ptr addrspace(1) %from, align 4
  %steps = alloca i32
  %v0 = alloca i32
  %v1 = alloca i32
  %v2 = alloca i32
  store i32 0, ptr %steps
  store i32 %first, ptr %v0
  store i32 %x, ptr %v1
  store i32 1, ptr %v2
  br label %block0
block0:
%s0 = load i32, ptr %steps
%t0 = add i32 %s0, 1
store i32 %t0, ptr %steps
%end0 = icmp uge i32 %t0, 5
br i1 %end0, label %done, label %choose0
choose0:
%w0 = load i32, ptr %v0
%h0 = lshr i32 %w0, 0
%k0 = and i32 %h0, 3
switch i32 %k0, label %block0 [ i32 0, label %block2 ]
block1:
%s1 = load i32, ptr %steps
%t1 = add i32 %s1, 1
store i32 %t1, ptr %steps
%end1 = icmp uge i32 %t1, 5
br i1 %end1, label %done, label %choose1
choose1:
%w1 = load i32, ptr %v0
%h1 = lshr i32 %w1, 0
%k1 = and i32 %h1, 3
switch i32 %k1, label %block0 [  ]
block2:
%s2 = load i32, ptr %steps
%t2 = add i32 %s2, 1
store i32 %t2, ptr %steps
%a2.0 = load i32, ptr %v0
%b2.0 = load i32, ptr %v0
%c2.0 = add i32 %a2.0, %b2.0
store i32 %c2.0, ptr %v0
%end2 = icmp uge i32 %t2, 5
br i1 %end2, label %done, label %choose2
choose2:
%w2 = load i32, ptr %v0
%h2 = lshr i32 %w2, 0
%k2 = and i32 %h2, 3
switch i32 %k2, label %block0 [  ]
done:
  %s.end = load i32, ptr %steps
  %v0.end = load i32, ptr %v0
  %v1.end = load i32, ptr %v1
  %v2.end = load i32, ptr %v2
  %together = call i32 @__assay_simd_sum_u32(i32 %v0.end, i32 32)
  %at = mul i64 %x64, 20
  %p0 = getelementptr i8, ptr addrspace(1) %out, i64 %at
  store i32 %v0.end, ptr addrspace(1) %p0, align 4
  %p1 = getelementptr i8, ptr addrspace(1) %p0, i64 4
  store i32 %v1.end, ptr addrspace(1) %p1, align 4
  %p2 = getelementptr i8, ptr addrspace(1) %p0, i64 8
  store i32 %v2.end, ptr addrspace(1) %p2, align 4
  %p3 = getelementptr i8, ptr addrspace(1) %p0, i64 12
  store i32 %s.end, ptr addrspace(1) %p3, align 4
  %p4 = getelementptr i8, ptr addrspace(1) %p0, i64 16
  store i32 %together, ptr addrspace(1) %p4, align 4
  ret void
}
