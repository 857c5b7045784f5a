
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
%a0.0 = load i32, ptr %v1
%c0.0 = shl i32 %a0.0, 17
store i32 %c0.0, ptr %v0
%a0.1 = load i32, ptr %v0
%b0.1 = load i32, ptr %v1
%c0.1 = urem i32 %a0.1, %b0.1
store i32 %c0.1, ptr %v1
%a0.2 = load i32, ptr %v1
%c0.2 = or i32 %a0.2, 38
store i32 %c0.2, ptr %v0
%end0 = icmp uge i32 %t0, 28
br i1 %end0, label %done, label %choose0
choose0:
%w0 = load i32, ptr %v2
%h0 = lshr i32 %w0, 4
%k0 = and i32 %h0, 3
switch i32 %k0, label %block5 [ i32 0, label %block1 ]
block1:
%s1 = load i32, ptr %steps
%t1 = add i32 %s1, 1
store i32 %t1, ptr %steps
%a1.0 = load i32, ptr %v0
%b1.0 = load i32, ptr %v0
%c1.0 = shl i32 %a1.0, %b1.0
store i32 %c1.0, ptr %v1
%end1 = icmp uge i32 %t1, 28
br i1 %end1, label %done, label %choose1
choose1:
%w1 = load i32, ptr %v1
%h1 = lshr i32 %w1, 3
%k1 = and i32 %h1, 3
switch i32 %k1, label %block0 [ i32 0, label %block5 ]
block2:
%s2 = load i32, ptr %steps
%t2 = add i32 %s2, 1
store i32 %t2, ptr %steps
%a2.0 = load i32, ptr %v1
%c2.0 = shl i32 %a2.0, 18
store i32 %c2.0, ptr %v1
%a2.1 = load i32, ptr %v1
%c2.1 = and i32 %a2.1, 29
store i32 %c2.1, ptr %v0
%a2.2 = load i32, ptr %v0
%c2.2 = ashr i32 %a2.2, -1
store i32 %c2.2, ptr %v0
%end2 = icmp uge i32 %t2, 28
br i1 %end2, label %done, label %choose2
choose2:
%w2 = load i32, ptr %v1
%h2 = lshr i32 %w2, 3
%k2 = and i32 %h2, 3
switch i32 %k2, label %block1 [  ]
block3:
%s3 = load i32, ptr %steps
%t3 = add i32 %s3, 1
store i32 %t3, ptr %steps
%a3.0 = load i32, ptr %v2
%b3.0 = load i32, ptr %v1
%c3.0 = shl i32 %a3.0, %b3.0
store i32 %c3.0, ptr %v2
%end3 = icmp uge i32 %t3, 28
br i1 %end3, label %done, label %choose3
choose3:
%w3 = load i32, ptr %v0
%h3 = lshr i32 %w3, 2
%k3 = and i32 %h3, 3
switch i32 %k3, label %block0 [ i32 0, label %block2 ]
block4:
%s4 = load i32, ptr %steps
%t4 = add i32 %s4, 1
store i32 %t4, ptr %steps
%end4 = icmp uge i32 %t4, 28
br i1 %end4, label %done, label %choose4
choose4:
%w4 = load i32, ptr %v2
%h4 = lshr i32 %w4, 1
%k4 = and i32 %h4, 3
switch i32 %k4, label %block2 [ i32 0, label %block4 i32 1, label %block1 ]
block5:
%s5 = load i32, ptr %steps
%t5 = add i32 %s5, 1
store i32 %t5, ptr %steps
%a5.0 = load i32, ptr %v1
%c5.0 = urem i32 %a5.0, -1
store i32 %c5.0, ptr %v0
%end5 = icmp uge i32 %t5, 28
br i1 %end5, label %done, label %choose5
choose5:
%w5 = load i32, ptr %v1
%h5 = lshr i32 %w5, 4
%k5 = and i32 %h5, 3
switch i32 %k5, label %block3 [ i32 0, label %block1 ]
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
