/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Video instructions, compared with the description of them in PTX's documentation. Included by
 * kernels_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_KERNELS_VIDEO_H
#define KVGPU_SELFTESTS_SM_KERNELS_VIDEO_H

static int64_t vpart(uint32_t v, unsigned int at, unsigned int bits, bool sign)
{
	v >>= at;
	if (bits < 32)
		v &= (1u << bits) - 1;
	return sign && v >> (bits - 1) & 1 ? (int64_t)v - (1ll << bits) : (int64_t)v;
}

static int64_t vsat(int64_t v, unsigned int bits, bool sign)
{
	int64_t hi = sign ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, lo = sign ? -hi - 1 : 0;

	return v < lo ? lo : v > hi ? hi : v;
}

enum vop { VADD, VSUB, VDIF, VMIN, VMAX, VAVG, VGT, VEQ, VLE, VLT, VNE };

static int64_t vdo(enum vop op, int64_t a, int64_t b)
{
	switch (op) {
	case VADD:
		return a + b;
	case VSUB:
		return a - b;
	case VDIF:
		return a > b ? a - b : b - a;
	case VMIN:
		return a < b ? a : b;
	case VMAX:
		return a > b ? a : b;
	case VAVG:
		return (a + b + (a + b >= 0)) >> 1;
	case VGT:
		return a > b;
	case VEQ:
		return a == b;
	case VLE:
		return a <= b;
	case VLT:
		return a < b;
	default:
		return a != b;
	}
}

struct packed {
	enum vop op;
	unsigned int bits;
	bool sa, sb, sd, sat, add;
	unsigned int mask;
};

static uint32_t pack(struct packed v, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = v.add ? 0 : c, sum = c, n = 32 / v.bits, ones = (1u << v.bits) - 1;

	for (unsigned int i = 0; i < n; i++) {
		int64_t p = vdo(v.op, vpart(a, i * v.bits, v.bits, v.sa),
				vpart(b, i * v.bits, v.bits, v.sb));

		if (v.mask && !(v.mask >> i & 1))
			continue;
		if (v.sat)
			p = vsat(p, v.bits, v.sd);
		sum += (uint32_t)p;
		r = (r & ~(ones << (i * v.bits))) | ((uint32_t)p & ones) << (i * v.bits);
	}
	return v.add ? sum : r;
}

static uint32_t pick(uint32_t a, uint32_t b, const char *sel)
{
	uint64_t v = a | (uint64_t)b << 32;
	uint32_t r = 0;

	/* the selector names the most significant byte first */
	for (unsigned int i = 0; i < 4; i++)
		r |= (uint32_t)(v >> (8 * (sel[3 - i] - '0')) & 255) << (8 * i);
	return r;
}

static unsigned int oracle_packed(uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{
	unsigned int n = 0;

	/* the intrinsics use all lanes */
	out[n++] = pack((struct packed){ .op = VADD, .bits = 8 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VSUB, .bits = 8 }, a, b, 0);
	out[n++] = pack(
		(struct packed){
			.op = VADD, .bits = 8, .sa = true, .sb = true, .sd = true, .sat = true },
		a, b, 0);
	out[n++] = pack((struct packed){ .op = VADD, .bits = 8, .sat = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 8, .sa = true, .sb = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 8 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VMIN, .bits = 8, .sa = true, .sb = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VMAX, .bits = 8 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VAVG, .bits = 8 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VGT, .bits = 8, .sa = true, .sb = true }, a, b, 0) *
		   255;
	out[n++] = pack((struct packed){ .op = VEQ, .bits = 8 }, a, b, 0) * 255;
	out[n++] = pack((struct packed){ .op = VLE, .bits = 8 }, a, b, 0);
	out[n++] = pack(
		(struct packed){
			.op = VDIF, .bits = 8, .sa = true, .sb = true, .sd = true, .add = true },
		a, b, 0);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 8, .add = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VADD, .bits = 16 }, a, b, 0);
	out[n++] = pack(
		(struct packed){
			.op = VSUB, .bits = 16, .sa = true, .sb = true, .sd = true, .sat = true },
		a, b, 0);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 16 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VMAX, .bits = 16, .sa = true, .sb = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VMIN, .bits = 16 }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VLT, .bits = 16, .sa = true, .sb = true }, a, b, 0) *
		   65535;
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 16, .add = true }, a, b, 0);
	out[n++] = pack((struct packed){ .op = VSUB, .bits = 8 }, 0, a, 0);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 16, .sa = true, .sb = true }, a, 0, 0);
	out[n++] = pack((struct packed){ .op = VAVG, .bits = 16, .sa = true, .sb = true }, a, b, 0);
	return n;
}

static uint32_t lesser(int32_t a, int32_t b)
{
	return a < b ? a : b;
}

static unsigned int oracle_scalar(uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{
	int32_t sa = a, sb = b, sc = c;
	uint32_t by = b & 255, p;
	unsigned int n = 0;

	out[n++] = (uint32_t)(vpart(a, 16, 8, false) + vpart(b, 16, 16, true));
	out[n++] = (uint32_t)vsat((int64_t)sa + b, 32, true);
	out[n++] = (a >> 8 & 255) + (b >> 24) + c;
	out[n++] = lesser((int32_t)(vpart(a, 0, 16, true) - vpart(b, 16, 16, true)), sc);
	out[n++] = (uint32_t)llabs((int64_t)sa - sb);
	out[n++] = (uint32_t)llabs((int64_t)(a & 255) - (b >> 8 & 255)) + c;
	p = (uint32_t)vdo(VMIN, vpart(a, 0, 16, true), vpart(b, 16, 16, true));
	out[n++] = p << 16 | (c & 0xffff);
	p = (a & 255) > b >> 24 ? a & 255 : b >> 24;
	out[n++] = (c & 0xff00ffff) | p << 16;
	out[n++] = by > 31 ? 0 : a << by;
	out[n++] = (uint32_t)(sa >> (by & 31)) + c;
	out[n++] = (uint32_t)(vpart(a, 0, 16, true) * vpart(b, 16, 16, true) + sc);
	out[n++] = (uint32_t)(((uint64_t)(a >> 16) * (b & 0xffff) + c) >> 7);
	out[n++] = (uint32_t)vsat((vpart(a, 16, 16, true) * vpart(b, 0, 16, true) - sc) >> 15, 32,
				  true);
	out[n++] = vpart(a, 8, 8, true) < vpart(b, 16, 8, false);
	out[n++] = (a >= b) + c;
	out[n++] = pack((struct packed){ .op = VADD, .bits = 8, .sb = true }, a, b, c);
	out[n++] = pack((struct packed){ .op = VADD, .bits = 8, .sat = true, .mask = 5 },
			pick(a, b, "7531"), pick(a, b, "6420"), c);
	out[n++] = pack(
		(struct packed){
			.op = VSUB, .bits = 8, .sa = true, .sb = true, .sd = true, .add = true },
		a, b, c);
	out[n++] = pack((struct packed){ .op = VAVG, .bits = 8, .sa = true }, pick(a, b, "0123"),
			pick(a, b, "4567"), c);
	out[n++] = pack((struct packed){ .op = VDIF, .bits = 8, .add = true }, a, b, c);
	out[n++] =
		pack((struct packed){ .op = VMIN, .bits = 8, .sb = true, .sd = true, .sat = true },
		     a, b, c);
	out[n++] = pack(
		(struct packed){
			.op = VMAX, .bits = 16, .sa = true, .sb = true, .sd = true, .add = true },
		a, b, c);
	out[n++] = pack((struct packed){ .op = VGT, .bits = 8, .sb = true, .add = true }, a, b, c);
	out[n++] = pack((struct packed){ .op = VNE, .bits = 16, .sa = true, .sb = true }, a, b, c);
	out[n++] =
		pack((struct packed){ .op = VAVG, .bits = 16, .sa = true, .sb = true, .mask = 2 },
		     a, b, c);
	return n;
}

static void video_instructions(void **state)
{
	static uint32_t a[N], b[N], c[N];
	const void *in[] = { a, b, c };
	uint32_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = int_value();
		b[i] = i % 4 ? int_value() : a[i] ^ 0x00010000;
		c[i] = int_value();
	}
	got = columns(*state, "video", in, 3, (const unsigned int[]){ 4, 4, 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		unsigned int n = oracle_packed(a[i], b[i], c[i], want);

		compare32("video", got, i, want, n + oracle_scalar(a[i], b[i], c[i], want + n));
	}
}

#endif
