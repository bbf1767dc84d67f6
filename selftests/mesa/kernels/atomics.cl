// SPDX-License-Identifier: GPL-2.0-only
/* cells in local memory come out through from_local */
static void all_of_global(global uint *u, global int *s, uint i)
{
	atomic_add(&u[0], i);
	atomic_sub(&u[1], i);
	atomic_inc(&u[2]);
	atomic_dec(&u[3]);
	atomic_min(&u[4], i * 77u ^ 0x80000000u);
	atomic_max(&u[5], i * 77u ^ 0x80000000u);
	atomic_and(&u[6], ~(1u << i % 32));
	atomic_or(&u[7], 1u << i % 29);
	atomic_xor(&u[8], i * 0x9e3779b9u);
	atomic_min(&s[0], (int)i * 3 - 500);
	atomic_max(&s[1], (int)i * 3 - 500);
}

static void all_of_local(local uint *u, local int *s, uint i)
{
	atomic_add(&u[0], i);
	atomic_sub(&u[1], i);
	atomic_inc(&u[2]);
	atomic_dec(&u[3]);
	atomic_min(&u[4], i * 77u ^ 0x80000000u);
	atomic_max(&u[5], i * 77u ^ 0x80000000u);
	atomic_and(&u[6], ~(1u << i % 32));
	atomic_or(&u[7], 1u << i % 29);
	atomic_xor(&u[8], i * 0x9e3779b9u);
	atomic_min(&s[0], (int)i * 3 - 500);
	atomic_max(&s[1], (int)i * 3 - 500);
}

/* u: 16 cells, and what those in local memory begin with; of a single group */
kernel void atomics(global uint *u, global int *s, global uint *from_local, global uint *tickets)
{
	local uint lu[16];
	local int ls[2];
	uint i = get_local_id(0);

	if (i < 16)
		lu[i] = u[i];
	if (i < 2)
		ls[i] = s[i];
	barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
	all_of_global(u, s, i);
	all_of_local(lu, ls, i);
	/* each ticket must be drawn once */
	tickets[atomic_inc(&u[9])] = 1;
	tickets[get_local_size(0) + atomic_inc(&lu[9])] = 1;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (i < 9)
		from_local[i] = lu[i];
	if (i < 2)
		from_local[9 + i] = as_uint(ls[i]);
}

/* an exchange whose values are all seen once, and a lock-free sum */
kernel void swaps(global uint *sum, global uint *cell, global uint *seen)
{
	uint i = get_global_id(0), old, wanted;

	do {
		old = *sum;
		wanted = as_uint(as_float(old) + (float)i);
	} while (atomic_cmpxchg(sum, old, wanted) != old);
	seen[i] = atomic_xchg(cell, i);
}
