// SPDX-License-Identifier: GPL-2.0-only
/* What commands and pipelines bring into a shader; memory that a group shares. */
#include <string.h>

#include "vk_cases.h"

SHADER(constants);
SHADER(indirect);
SHADER(places);
SHADER(reduce);

static void constants(struct vk_job *j)
{
	enum { LENGTH = 6, GROUP = 24, N = GROUP * 2, WORDS = N * LENGTH };
	static const struct {
		uint32_t length, backwards;
		float factor;
		uint32_t group;
	} spec = { LENGTH, VK_TRUE, -2.5f, GROUP };
	static const VkSpecializationMapEntry entries[] = {
		{ 0, 0, 4 }, { 1, 4, 4 }, { 2, 8, 4 }, { 3, 12, 4 }
	};
	struct {
		float add[4][4];
		uint32_t rotate, unused[3];
	} block = { .rotate = 2 };
	/* the second pipeline sets only the group's size */
	static const uint32_t group = GROUP;
	static const VkSpecializationMapEntry only_group = { 3, 0, 4 };
	float in[WORDS], want[2][WORDS] = { 0 };
	struct vk_resource *out;
	int i, k, p;

	for (i = 0; i < WORDS; i++)
		in[i] = (float)rng_range(&j->rng, 0, 2000) - 1000;
	for (i = 0; i < 16; i++)
		block.add[i / 4][i % 4] = i * 0.25f;
	for (i = 0; i < N; i++) {
		for (k = 0; k < LENGTH; k++)
			want[0][i * LENGTH + LENGTH - 1 - k] =
				in[i * LENGTH + k] * -2.5f + block.add[k % 4][k / 4] - 7;
		for (k = 0; k < 4; k++)
			want[1][i * 4 + k] =
				in[i * 4 + (k + 2) % 4] + block.add[(k + 2) % 4][0] - 7;
	}
	vk_buffer(j, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, sizeof(block), &block);
	vk_storage(j, sizeof(in), in);
	out = vk_storage(j, sizeof(in), NULL);
	vk_pipeline(j, &(VkSpecializationInfo){ 4, entries, sizeof(spec), &spec });
	vk_pipeline(j, &(VkSpecializationInfo){ 1, &only_group, 4, &group });
	for (p = 0; p < 2; p++) {
		if (p) {
			memset(out->map, 0, sizeof(in));
			vk_must(j, vkResetFences(j->dev, 1, &j->fence), "vkResetFences");
			vk_must(j, vkResetCommandPool(j->dev, j->pool, 0), "vkResetCommandPool");
		}
		vk_begin(j);
		vk_bind(j, j->pipelines[p]);
		vk_dispatch(j, N / GROUP, 1, 1);
		vk_submit(j);
		verdict_equal(j->verdict,
			      p ? "by the shader's constants" : "by the pipeline's constants",
			      out->map, want[p], WORDS, 4);
	}
}

/* the second dispatch's size lies behind a word that is not part of it */
static void indirect(struct vk_job *j)
{
	enum { GROUPS = 5 * 3 * 2, ITEMS = 32 };
	uint32_t want[GROUPS], size[] = { 99, 5, 3, 2 }, phase = 0;
	struct vk_resource *groups = vk_storage(j, sizeof(size), NULL),
			   *out = vk_storage(j, sizeof(want), NULL);
	int i;

	*(uint32_t *)groups->map = size[0];
	for (i = 0; i < GROUPS; i++)
		want[i] = ITEMS * (ITEMS + 1) / 2;
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	vk_push(j, &phase, sizeof(phase));
	vk_dispatch(j, 1, 1, 1);
	vk_barrier(j);
	phase = 1;
	vk_push(j, &phase, sizeof(phase));
	vkCmdDispatchIndirect(j->cmd, groups->buffer, 4);
	vk_submit(j);
	verdict_equal(j->verdict, "size", groups->map, size, 4, 4);
	verdict_equal(j->verdict, "group", out->map, want, GROUPS, 4);
}

static uint32_t packed(const uint32_t *v)
{
	return v[0] | v[1] << 8 | v[2] << 16;
}

static void places_on_host(uint32_t *w, const uint32_t *size, const uint32_t *groups,
			   const uint32_t *group)
{
	uint32_t at[3], in[3], of[3];
	int d;

	for (at[2] = 0; at[2] < size[2]; at[2]++)
		for (at[1] = 0; at[1] < size[1]; at[1]++)
			for (at[0] = 0; at[0] < size[0]; at[0]++, w += 6) {
				for (d = 0; d < 3; d++) {
					in[d] = at[d] % group[d];
					of[d] = at[d] / group[d];
				}
				w[0] = packed(at);
				w[1] = packed(in);
				w[2] = packed(of);
				w[3] = packed(groups);
				w[4] = packed(group);
				w[5] = (in[2] * group[1] + in[1]) * group[0] + in[0];
			}
}

static VkQueryPool statistics(struct vk_job *j)
{
	VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
		.queryCount = 1,
		.pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT
	};
	VkQueryPool pool;

	vk_must(j, vkCreateQueryPool(j->dev, &info, NULL, &pool), "vkCreateQueryPool");
	return pool;
}

/* Where the device counts invocations their number is right, too. */
static void places(struct vk_job *j)
{
	static const uint32_t groups[3] = { 4, 5, 3 }, group[3] = { 4, 3, 2 },
			      size[3] = { 16, 15, 6 };
	enum { ITEMS = 16 * 15 * 6, WORDS = ITEMS * 6 };
	struct vk_resource *out = vk_storage(j, WORDS * 4, NULL);
	uint32_t *want = vk_memory(j, WORDS * 4);
	VkQueryPool pool = j->features.pipelineStatisticsQuery ? statistics(j) : VK_NULL_HANDLE;
	uint64_t invocations = 0;

	places_on_host(want, size, groups, group);
	vk_pipeline(j, NULL);
	vk_begin(j);
	vk_bind(j, j->pipelines[0]);
	if (pool) {
		vkCmdResetQueryPool(j->cmd, pool, 0, 1);
		vkCmdBeginQuery(j->cmd, pool, 0, 0);
	}
	vk_dispatch(j, groups[0], groups[1], groups[2]);
	if (pool)
		vkCmdEndQuery(j->cmd, pool, 0);
	vk_submit(j);
	verdict_equal(j->verdict, "word", out->map, want, WORDS, 4);
	if (!pool)
		return;
	vk_must(j,
		vkGetQueryPoolResults(j->dev, pool, 0, 1, sizeof(invocations), &invocations, 8,
				      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
		"vkGetQueryPoolResults");
	verdict_true(j->verdict, invocations == ITEMS, "%llu invocations, not %u",
		     (unsigned long long)invocations, ITEMS);
	vkDestroyQueryPool(j->dev, pool, NULL);
}

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

/* whole, at odd places, and filled */
static void copies(struct vk_job *j)
{
	enum { BYTES = 8 << 20 };
	static const VkBufferCopy whole = { 0, 0, BYTES }, piece = { 1001, 2003, 12345 };
	uint8_t *in = vk_memory(j, BYTES), *filled = vk_memory(j, BYTES);
	struct vk_resource *a, *b = vk_storage(j, BYTES, NULL);

	pattern_fill(in, BYTES, 1);
	memset(filled, 0x8a, BYTES);
	a = vk_storage(j, BYTES, in);
	memset(b->map, 0x55, BYTES);
	vk_begin(j);
	vkCmdCopyBuffer(j->cmd, a->buffer, b->buffer, 1, &whole);
	vk_barrier(j);
	vkCmdCopyBuffer(j->cmd, a->buffer, b->buffer, 1, &piece);
	vk_barrier(j);
	vkCmdFillBuffer(j->cmd, a->buffer, 0, VK_WHOLE_SIZE, 0x8a8a8a8a);
	vk_submit(j);
	memmove(in + piece.dstOffset, in + piece.srcOffset, piece.size);
	verdict_equal(j->verdict, "copied byte", b->map, in, BYTES, 1);
	verdict_equal(j->verdict, "filled byte", a->map, filled, BYTES, 1);
}

const struct vk_case vk_cases_commands[] = {
	{ "constants", constants, CODE(constants) },
	{ "indirect-dispatch", indirect, CODE(indirect) },
	{ "places", places, CODE(places) },
	{ "reduction", reduce, CODE(reduce) },
	{ "copies", copies, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
