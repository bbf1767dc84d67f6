// SPDX-License-Identifier: MIT
/*
 * The answer by which a runtime sees that the driver is one that it knows: an HMAC (RFC 2104) over
 * MD2 (RFC 1319) of what both sides see, with a key that ZLUDA (dark_api) and Lupine publish. A
 * packager can leave this file out: then there is no such table, and NVIDIA's runtimes give errors.
 * Whether NVIDIA's licence allows the answer is for who uses or ships it to judge.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "slots.h"

enum { BLOCK = 16, STATE = 3 * BLOCK, ROUNDS = 18 };

/* ------------------------------------------------------------------ RFC 1319, RFC 2104 */

/* section 3.2: a permutation of 0 to 255 made of the digits of pi */
static const uint8_t pi[256] = {
	/* clang-format off */
	 41,  46,  67, 201, 162, 216, 124,   1,  61,  54,  84, 161, 236, 240,   6,  19,
	 98, 167,   5, 243, 192, 199, 115, 140, 152, 147,  43, 217, 188,  76, 130, 202,
	 30, 155,  87,  60, 253, 212, 224,  22, 103,  66, 111,  24, 138,  23, 229,  18,
	190,  78, 196, 214, 218, 158, 222,  73, 160, 251, 245, 142, 187,  47, 238, 122,
	169, 104, 121, 145,  21, 178,   7,  63, 148, 194,  16, 137,  11,  34,  95,  33,
	128, 127,  93, 154,  90, 144,  50,  39,  53,  62, 204, 231, 191, 247, 151,   3,
	255,  25,  48, 179,  72, 165, 181, 209, 215,  94, 146,  42, 172,  86, 170, 198,
	 79, 184,  56, 210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116,   4, 241,
	 69, 157, 112,  89, 100, 113, 135,  32, 134,  91, 207, 101, 230,  45, 168,   2,
	 27,  96,  37, 173, 174, 176, 185, 246,  28,  70,  97, 105,  52,  64, 126,  15,
	 85,  71, 163,  35, 221,  81, 175,  58, 195,  92, 249, 206, 186, 197, 234,  38,
	 44,  83,  13, 110, 133,  40, 132,   9, 211, 223, 205, 244,  65, 129,  77,  82,
	106, 220,  55, 200, 108, 193, 171, 250,  36, 225, 123,   8,  12, 189, 177,  74,
	120, 136, 149, 139, 227,  99, 232, 109, 233, 203, 213, 254,  59,   0,  29,  57,
	242, 239, 183,  14, 102,  88, 208, 228, 166, 119, 114, 248, 235, 117,  75,  10,
	 49,  68,  80, 180, 143, 237,  31,  26, 219, 153, 141,  51, 159,  17, 131,  20,
	/* clang-format on */
};

static void md2_block(struct md2 *m, const uint8_t block[BLOCK])
{
	unsigned int i, j;
	uint8_t t = 0;

	for (i = 0; i < BLOCK; i++) {
		m->state[BLOCK + i] = block[i];
		m->state[2 * BLOCK + i] = block[i] ^ m->state[i];
	}
	for (i = 0; i < ROUNDS; i++) {
		for (j = 0; j < STATE; j++)
			t = m->state[j] ^= pi[t];
		t += i;
	}
	t = m->sum[BLOCK - 1];
	for (i = 0; i < BLOCK; i++)
		t = m->sum[i] ^= pi[block[i] ^ t];
}

void md2_add(struct md2 *m, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	while (n--) {
		m->block[m->used++] = *at++;
		if (m->used < BLOCK)
			continue;
		md2_block(m, m->block);
		m->used = 0;
	}
}

void md2_end(struct md2 *m, uint8_t out[16])
{
	uint8_t padding = BLOCK - m->used, sum[BLOCK];

	do
		md2_add(m, &padding, 1);
	while (m->used);
	memcpy(sum, m->sum, sizeof(sum));
	md2_block(m, sum);
	memcpy(out, m->state, BLOCK);
}

static void begin_keyed(struct md2 *m, uint8_t with)
{
	static const uint8_t key[BLOCK] = { 0x14, 0x6a, 0xdd, 0xae, 0x53, 0xa9, 0xa7, 0x52,
					    0xaa, 0x08, 0x41, 0x36, 0x0b, 0xf5, 0x5a, 0x9f };
	uint8_t padded[BLOCK];
	unsigned int i;

	for (i = 0; i < BLOCK; i++)
		padded[i] = key[i] ^ with;
	memset(m, 0, sizeof(*m));
	md2_add(m, padded, sizeof(padded));
}

/* ------------------------------------------------------------------ what both sides see */

static CUresult add_process(struct md2 *m, unsigned int version, uint64_t time)
{
	const CUuuid contexts_id = { EXPORT_CONTEXTS }, check_id = { EXPORT_CHECK };
	const void *contexts, *check;
	uint32_t word[4] = { 0, version, getpid(), (uint32_t)pthread_self() };
	uint64_t address[4];
	int driver;
	CUresult r = cuDriverGetVersion(&driver);

	if (!r)
		r = cuGetExportTable(&contexts, &contexts_id);
	if (!r)
		r = cuGetExportTable(&check, &check_id);
	if (r)
		return r;
	word[0] = driver;
	md2_add(m, word, sizeof(word));
	address[0] = (uintptr_t)contexts;
	address[1] = (uintptr_t)check;
	address[2] = (uintptr_t)check_answer;
	address[3] = time;
	md2_add(m, address, sizeof(address));
	return CUDA_SUCCESS;
}

static CUresult add_device(struct md2 *m, CUdevice dev)
{
	static const int place[] = { 50 /* PCI_DOMAIN_ID */, 33 /* PCI_BUS_ID */,
				     34 /* PCI_DEVICE_ID */ };
	CUuuid uuid;
	unsigned int i;
	int value;
	CUresult r = cuDeviceGetUuid_v2(&uuid, dev);

	if (!r)
		md2_add(m, uuid.bytes, sizeof(uuid.bytes));
	for (i = 0; i < sizeof(place) / sizeof(*place) && !r; i++) {
		r = cuDeviceGetAttribute(&value, place[i], dev);
		if (!r)
			md2_add(m, &value, sizeof(value));
	}
	return r;
}

CUresult check_answer(unsigned int version, uint64_t time, uint8_t out[16])
{
	static const uint8_t known[BLOCK] = { 0x5c, 0x67, 0xcb, 0x03, 0x1c, 0x18, 0x41, 0x33,
					      0xe8, 0xd1, 0x4c, 0x1f, 0xaa, 0x83, 0xd3, 0x8e };
	struct md2 m;
	int devices, i;
	CUresult r;

	if (version % 10 < 2) {
		memcpy(out, known, sizeof(known));
		out[7] = version % 10 ? 0x18 : known[7];
		return CUDA_SUCCESS;
	}
	begin_keyed(&m, 0x36);
	r = add_process(&m, version, time);
	if (!r)
		r = cuDeviceGetCount(&devices);
	for (i = 0; !r && i < devices; i++)
		r = add_device(&m, i);
	if (r)
		return r;
	md2_end(&m, out);
	begin_keyed(&m, 0x5c);
	md2_add(&m, out, BLOCK);
	md2_end(&m, out);
	return CUDA_SUCCESS;
}
