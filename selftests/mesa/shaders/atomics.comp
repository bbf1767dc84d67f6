// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* tickets[]: what atomicAdd and atomicExchange returned */
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer In { uint words[]; };
layout(std430, binding = 1) buffer Totals { uint most, least, all, any, odd, spins, ticket, last; int top, bottom; };
layout(std430, binding = 2) writeonly buffer Tickets { uint tickets[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x, w = words[i], seen, was;

	atomicMax(most, w);
	atomicMin(least, w);
	atomicMax(top, int(w));
	atomicMin(bottom, int(w));
	atomicAnd(all, w | 0xffff);
	atomicOr(any, w & 0xff00ff);
	atomicXor(odd, w);
	/* by compare and swap */
	seen = spins;
	do {
		was = seen;
		seen = atomicCompSwap(spins, was, was * (w | 1));
	} while (seen != was);
	tickets[i] = atomicAdd(ticket, 3);
	tickets[gl_NumWorkGroups.x * 32 + i] = atomicExchange(last, i);
}
