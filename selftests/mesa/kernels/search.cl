// SPDX-License-Identifier: GPL-2.0-only
/* found bytes are marked, and shorts made of pairs of bytes */
kernel void search(global const char *text, constant char *word, int length, int n, global uchar *marks, global short *pairs, global int *count)
{
	int i = get_global_id(0), k = 0;

	if (i >= n)
		return;
	while (k < length && i + k < n && text[i + k] == word[k])
		k++;
	marks[i] = k == length ? 'x' : k;
	if (k == length)
		atomic_inc(count);
	pairs[i] = (short)(text[i] * 3 - text[n - 1 - i] * 5);
}
