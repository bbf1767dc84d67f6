// SPDX-License-Identifier: GPL-2.0-only
#define N 24

/* sorts words in a private array, and counts them by their low four bits */
kernel void private_sort(global const uint *in, global uint *out)
{
	size_t i = get_global_id(0);
	uint a[N], count[16], k, v;
	int m;

	for (k = 0; k < 16; k++)
		count[k] = 0;
	for (k = 0; k < N; k++) {
		v = in[i * N + k];
		count[v % 16]++;
		for (m = (int)k - 1; m >= 0 && a[m] > v; m--)
			a[m + 1] = a[m];
		a[m + 1] = v;
	}
	for (k = 0; k < N; k++)
		out[i * N + k] = a[(k * 7) % N] + (count[a[k] % 16] << 28);
}
