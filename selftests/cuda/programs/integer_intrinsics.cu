// SPDX-License-Identifier: GPL-2.0-only
/* Integer functions against what they mean. */
#include "check.h"

enum { N = 8192, OPS = 24 };

struct answer { unsigned long long v[OPS]; };

__global__ void compute(const unsigned int *in, answer *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned int a = in[i], b = in[(i + 1) % N], c = in[(i + 2) % N];
	unsigned long long ab = (unsigned long long)a << 32 | b,
			   cb = (unsigned long long)c << 32 | b;
	unsigned long long *v = out[i].v;

	v[0] = __popc(a);
	v[1] = __clz(a);
	v[2] = __ffs(a);
	v[3] = __brev(a);
	v[4] = __popcll(ab);
	v[5] = __clzll(ab >> (c & 63));
	v[6] = __ffsll(ab << (c & 63));
	v[7] = __brevll(ab);
	v[8] = __byte_perm(a, b, c & 0x7777);
	v[9] = __umulhi(a, b);
	v[10] = (unsigned int)__mulhi((int)a, (int)b);
	v[11] = __umul64hi(ab, cb);
	v[12] = __mul64hi((long long)ab, (long long)cb);
	v[13] = __usad(a, b, c);
	v[14] = __sad((int)a, (int)b, c);
	v[15] = (unsigned int)__mul24((int)a, (int)b);
	v[16] = __umul24(a, b);
	v[17] = __funnelshift_l(a, b, c);
	v[18] = __funnelshift_rc(a, b, c & 63);
	v[19] = __uhadd(a, b);
	v[20] = (unsigned int)__rhadd((int)a, (int)b);
	v[21] = __vaddus4(a, b);
	v[22] = __vabsdiffu4(a, b);
	v[23] = __vcmpgts2(a, b);
}

static unsigned long long reverse(unsigned long long v, int bits)
{
	unsigned long long r = 0;

	for (int i = 0; i < bits; i++)
		r |= (v >> i & 1) << (bits - 1 - i);
	return r;
}

static void compute_cpu(unsigned int a, unsigned int b, unsigned int c, unsigned long long *v)
{
	unsigned long long ab = (unsigned long long)a << 32 | b,
			   cb = (unsigned long long)c << 32 | b, s;
	long long d = (long long)(int)a - (int)b;
	unsigned char bytes[8];

	memset(v, 0, OPS * sizeof(*v));
	for (int i = 0; i < 64; i++) {
		v[0] += i < 32 && a >> i & 1;
		v[4] += ab >> i & 1;
	}
	v[1] = a ? __builtin_clz(a) : 32;
	v[2] = a ? __builtin_ctz(a) + 1 : 0;
	v[3] = reverse(a, 32);
	s = ab >> (c & 63);
	v[5] = s ? __builtin_clzll(s) : 64;
	s = ab << (c & 63);
	v[6] = s ? __builtin_ctzll(s) + 1 : 0;
	v[7] = reverse(ab, 64);
	memcpy(bytes, &a, 4);
	memcpy(bytes + 4, &b, 4);
	for (int i = 0; i < 4; i++)
		v[8] |= (unsigned long long)bytes[c >> 4 * i & 7] << 8 * i;
	v[9] = (unsigned long long)a * b >> 32;
	v[10] = (unsigned int)((long long)(int)a * (int)b >> 32);
	v[11] = (unsigned __int128)ab * cb >> 64;
	v[12] = (__int128)(long long)ab * (long long)cb >> 64;
	v[13] = (unsigned int)(c + (a > b ? a - b : b - a));
	v[14] = (unsigned int)(c + (unsigned int)(d < 0 ? -d : d));
	v[15] = (unsigned int)(((int)(a << 8) >> 8) * (long long)((int)(b << 8) >> 8));
	v[16] = (unsigned int)((unsigned long long)(a & 0xffffff) * (b & 0xffffff));
	v[17] = (unsigned int)((((unsigned long long)b << 32 | a) << (c & 31)) >> 32);
	s = (c & 63) > 32 ? 32 : c & 63;
	v[18] = (unsigned int)(((unsigned long long)b << 32 | a) >> s);
	v[19] = (unsigned int)(((unsigned long long)a + b) >> 1);
	v[20] = (unsigned int)(((long long)(int)a + (int)b + 1) >> 1);
	for (int i = 0; i < 4; i++) {
		unsigned int x = a >> 8 * i & 255, y = b >> 8 * i & 255;

		v[21] |= (unsigned long long)(x + y > 255 ? 255 : x + y) << 8 * i;
		v[22] |= (unsigned long long)(x > y ? x - y : y - x) << 8 * i;
	}
	for (int i = 0; i < 2; i++)
		v[23] |= (short)(a >> 16 * i) > (short)(b >> 16 * i) ? 0xffffull << 16 * i : 0;
}

int main(void)
{
	static unsigned int in[N];
	static answer got[N];
	unsigned int *d_in;
	answer *d_out;
	int wrong[OPS] = { 0 }, bad = 0;
	uint32_t seed = 28;

	for (int i = 0; i < N; i++)
		in[i] = i % 16 == 0 ? (i / 16 % 5 == 0 ? 0 :
				       i / 16 % 5 == 1 ? ~0u :
				       i / 16 % 5 == 2 ? 0x80000000 :
							 i / 16) :
				      random_bits(&seed);
	CHECK(cudaMalloc(&d_in, sizeof(in)));
	CHECK(cudaMalloc(&d_out, sizeof(got)));
	CHECK(cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice));
	compute<<<N / 256, 256>>>(d_in, d_out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_out, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		unsigned long long want[OPS];

		compute_cpu(in[i], in[(i + 1) % N], in[(i + 2) % N], want);
		for (int k = 0; k < OPS; k++)
			wrong[k] += got[i].v[k] != want[k];
	}
	for (int k = 0; k < OPS; k++) {
		if (wrong[k])
			printf("operation %d: %d wrong\n", k, wrong[k]);
		bad += wrong[k] != 0;
	}
	return verdict(!bad, "%d operations of %d operands, %d of them wrong", OPS, N, bad);
}
