// SPDX-License-Identifier: GPL-2.0-only
struct node {
	ulong weight;
	int next;
	int tag;
	uint flags[2];
};

/* a list from each item's head, at most limit nodes */
kernel void chase(global const struct node *nodes, global const int *heads, global ulong *sums, global int *lengths, int limit)
{
	size_t i = get_global_id(0);
	global const struct node *p;
	ulong sum = 0;
	int at = heads[i], n = 0;

	while (at >= 0 && n < limit) {
		p = nodes + at;
		sum = sum * 31 + p->weight + p->tag * (p->flags[0] & 1 ? 3 : -5) + p->flags[1];
		at = p->next;
		n++;
	}
	sums[i] = sum;
	lengths[i] = n;
}
