// SPDX-License-Identifier: GPL-2.0-only
/* bodies come through local memory a group at a time */
kernel void nbody(global const float4 *body, global float4 *force, local float4 *near, uint n, float soft)
{
	float4 me = body[get_global_id(0)], sum = (float4)(0);
	uint first, k;

	for (first = 0; first < n; first += get_local_size(0)) {
		near[get_local_id(0)] = body[first + get_local_id(0)];
		barrier(CLK_LOCAL_MEM_FENCE);
		for (k = 0; k < get_local_size(0); k++) {
			float3 d = near[k].xyz - me.xyz;
			float r = rsqrt(dot(d, d) + soft);

			sum.xyz += d * (near[k].w * r * r * r);
		}
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	force[get_global_id(0)] = sum;
}
