// SPDX-License-Identifier: GPL-2.0-only
/* a small stack machine, with a program for each item */
static int run(global const uchar *code, int steps, int seed)
{
	int stack[8], top = 1, at = 0, a;

	stack[0] = seed;
	while (steps-- > 0) {
		a = stack[top - 1];
		switch (code[at]) {
		case 0: stack[top - 1] = a + code[at + 1]; at += 2; break;
		case 1: stack[top - 1] = a * 3; at++; break;
		case 2: if (top < 8) stack[top++] = a ^ 0x55; at++; break;
		case 3: if (top > 1) { top--; stack[top - 1] -= a; } at++; break;
		case 4: at = a & 1 ? code[at + 1] : at + 2; break;
		case 5: stack[top - 1] = a >> 1; at++; break;
		case 6: at = 0; break;
		case 7: return a + top * 1000;
		default: return -1;
		}
	}
	return stack[top - 1] ^ at;
}

kernel void machine(global const uchar *code, int size, int steps, global int *out)
{
	int i = get_global_id(0);

	out[i] = run(code + i * size, steps, i);
}
