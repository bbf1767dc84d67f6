// SPDX-License-Identifier: GPL-2.0-only
/* Shaders whose invocations work together: shared memory, barriers, atomics. */
#include <string.h>

#include "vk_cases.h"

SHADER(reduce);
SHADER(matmul);
SHADER(histogram);
SHADER(atomics);
SHADER(scan);
SHADER(bitonic);

static void reduce(struct vk_job *j)
{
	enum { N = 5003, GROUPS = 6, GROUP = 128 };
	uint32_t *in = vk_random(j, N), sums[GROUPS] = { 0 }, n = N;
	int32_t maxima[GROUPS];
	struct vk_resource *s, *m;
	int i, g;

	for (g = 0; g < GROUPS; g++)
		maxima[g] = INT32_MIN;
	for (i = 0; i < N; i++) {
		g = i / GROUP % GROUPS;
		sums[g] += in[i];
		maxima[g] = (int32_t)in[i] > maxima[g] ? (int32_t)in[i] : maxima[g];
	}
	vk_storage(j, N * 4, in);
	s = vk_storage(j, sizeof(sums), NULL);
	m = vk_storage(j, sizeof(maxima), NULL);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_push(j, &n, sizeof(n));
	vk_dispatch(j, GROUPS, 1, 1);
	vk_submit(j);
	verdict_equal(j->verdict, "sum", s->map, sums, GROUPS, 4);
	verdict_equal(j->verdict, "maximum", m->map, maxima, GROUPS, 4);
}

/* small whole numbers: sums are exact in any order */
static void some_matrix(struct vk_job *j, float *m, int n)
{
	int i;

	for (i = 0; i < n * n; i++)
		m[i] = (float)rng_range(&j->rng, 0, 40) - 20;
}

/* the same code with tiles of 8 and of 16 */
static void matmul(struct vk_job *j)
{
	enum { N = 50 };
	static const uint32_t tiles[] = { 8, 16 };
	static const VkSpecializationMapEntry entry = { 0, 0, 4 };
	static float a[N * N], b[N * N], c[N * N];
	struct vk_resource *rc;
	uint32_t n = N;
	int i, k, t;

	some_matrix(j, a, N);
	some_matrix(j, b, N);
	for (i = 0; i < N * N; i++)
		for (k = 0, c[i] = 0; k < N; k++)
			c[i] += a[i / N * N + k] * b[k * N + i % N];
	vk_storage(j, sizeof(a), a);
	vk_storage(j, sizeof(b), b);
	rc = vk_storage(j, sizeof(c), NULL);
	for (t = 0; t < 2; t++)
		vk_pipeline(j, &(VkSpecializationInfo){ 1, &entry, 4, &tiles[t] });
	for (t = 0; t < 2; t++) {
		memset(rc->map, 0, sizeof(c));
		if (t) {
			vk_must(j, vkResetFences(j->dev, 1, &j->fence), "vkResetFences");
			vk_must(j, vkResetCommandPool(j->dev, j->pool, 0), "vkResetCommandPool");
		}
		vk_begin(j);
		vk_bind(j, j->pipelines[t]);
		vk_push(j, &n, sizeof(n));
		vk_dispatch(j, (N + tiles[t] - 1) / tiles[t], (N + tiles[t] - 1) / tiles[t], 1);
		vk_submit(j);
		verdict_equal(j->verdict, t ? "tiles of 16" : "tiles of 8", rc->map, c, N * N, 4);
	}
}

static void histogram(struct vk_job *j)
{
	enum { N = 7001, BINS = 64 };
	uint32_t *in = vk_random(j, N), bins[BINS], n = N;
	struct vk_resource *b;
	int i;

	for (i = 0; i < BINS; i++)
		bins[i] = i * 3;
	vk_storage(j, N * 4, in);
	b = vk_storage(j, sizeof(bins), bins);
	for (i = 0; i < N; i++) {
		in[i] >>= i % 5 ? 0 : 3;
		bins[in[i] >> 26]++;
	}
	memcpy(j->resources[0].map, in, N * 4);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_push(j, &n, sizeof(n));
	vk_dispatch(j, 7, 1, 1);
	vk_submit(j);
	verdict_equal(j->verdict, "bin", b->map, bins, BINS, 4);
}

struct totals {
	uint32_t most, least, all, any, odd, product, ticket, last;
	int32_t top, bottom;
};

/* each replaced value was returned to one invocation */
static void check_tickets(struct vk_job *j, const uint32_t *added, const uint32_t *exchanged,
			  uint32_t last, uint32_t n)
{
	uint8_t *seen = vk_memory(j, n), *left = vk_memory(j, n);
	uint32_t i, unique = 0, firsts = 0;

	for (i = 0; i < n; i++) {
		if (added[i] % 3 == 0 && added[i] / 3 < n && !seen[added[i] / 3])
			unique += seen[added[i] / 3] = 1;
		firsts += exchanged[i] == n;
		if (exchanged[i] < n)
			left[exchanged[i]]++;
	}
	verdict_true(j->verdict, unique == n, "%u of %u tickets are each somebody's", unique, n);
	verdict_true(j->verdict, firsts == 1, "%u took what was there first", firsts);
	for (i = 0; i < n; i++)
		verdict_true(j->verdict, left[i] == (i != last),
			     "what %u left behind was found %u times", i, left[i]);
}

static void atomics(struct vk_job *j)
{
	enum { N = 256 };
	uint32_t *in = vk_random(j, N);
	struct totals t = { .least = ~0u,
			    .all = ~0u,
			    .product = 1,
			    .last = N,
			    .top = INT32_MIN,
			    .bottom = INT32_MAX },
		      want = t;
	struct vk_resource *rt, *tickets;
	const struct totals *got;
	int i;

	for (i = 0; i < N; i++) {
		want.most = in[i] > want.most ? in[i] : want.most;
		want.least = in[i] < want.least ? in[i] : want.least;
		want.top = (int32_t)in[i] > want.top ? (int32_t)in[i] : want.top;
		want.bottom = (int32_t)in[i] < want.bottom ? (int32_t)in[i] : want.bottom;
		want.all &= in[i] | 0xffff;
		want.any |= in[i] & 0xff00ff;
		want.odd ^= in[i];
		want.product *= in[i] | 1;
	}
	want.ticket = 3 * N;
	vk_storage(j, N * 4, in);
	rt = vk_storage(j, sizeof(t), &t);
	tickets = vk_storage(j, 2 * N * 4, NULL);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_dispatch(j, N / 32, 1, 1);
	vk_submit(j);
	got = rt->map;
	want.last = got->last;
	verdict_equal(j->verdict, "total", got, &want, sizeof(t) / 4, 4);
	check_tickets(j, tickets->map, (const uint32_t *)tickets->map + N, got->last, N);
}

static void scan(struct vk_job *j)
{
	enum { GROUP = 128, N = GROUP * GROUP };
	uint32_t *in = vk_random(j, N), *want = vk_memory(j, N * 4), sum = 0, phase;
	struct vk_resource *out;
	int i;

	for (i = 0; i < N; sum += in[i++])
		want[i] = sum;
	vk_storage(j, N * 4, in);
	out = vk_storage(j, N * 4, NULL);
	vk_storage(j, GROUP * 4, NULL);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	for (phase = 0; phase < 3; phase++) {
		vk_push(j, &phase, sizeof(phase));
		vk_dispatch(j, phase == 1 ? 1 : GROUP, 1, 1);
		vk_barrier(j);
	}
	vk_submit(j);
	verdict_equal(j->verdict, "sum", out->map, want, N, 4);
}

static void bitonic(struct vk_job *j)
{
	enum { N = 1024 };
	uint32_t *in = vk_random(j, N), *want = vk_memory(j, N * 4), i, k, run, span;
	struct vk_resource *keys = vk_storage(j, N * 4, in);

	for (i = 0; i < N; i++) {
		for (k = i; k && want[k - 1] > in[i]; k--)
			want[k] = want[k - 1];
		want[k] = in[i];
	}
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	for (run = 2; run <= N; run *= 2)
		for (span = run / 2; span; span /= 2) {
			vk_push(j, (uint32_t[]){ run, span }, 8);
			vk_dispatch(j, N / 2 / 64, 1, 1);
			vk_barrier(j);
		}
	vk_submit(j);
	verdict_equal(j->verdict, "key", keys->map, want, N, 4);
}

const struct vk_case vk_cases_groups[] = {
	{ "reduction", reduce, CODE(reduce), NULL, NULL },
	{ "matrix-multiply", matmul, CODE(matmul), NULL, NULL },
	{ "histogram", histogram, CODE(histogram), NULL, NULL },
	{ "atomics", atomics, CODE(atomics), NULL, NULL },
	{ "scan", scan, CODE(scan), NULL, NULL },
	{ "bitonic-sort", bitonic, CODE(bitonic), NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
