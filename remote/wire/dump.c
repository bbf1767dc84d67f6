// SPDX-License-Identifier: MIT
#include "dump.h"

#include <string.h>

static const struct kvgpu_remote_shape *shape_of(uint16_t op)
{
	return op >= KVGPU_REMOTE_FIRST_OP &&
			       op - KVGPU_REMOTE_FIRST_OP < (int)kvgpu_remote_nr_shapes ?
		       &kvgpu_remote_shapes[op - KVGPU_REMOTE_FIRST_OP] :
		       NULL;
}

const char *kvgpu_remote_op_name(uint16_t op)
{
	const struct kvgpu_remote_shape *s = shape_of(op);

	return s			    ? s->name :
	       op == KVGPU_REMOTE_OP_ACK    ? "ack" :
	       op == KVGPU_REMOTE_OP_PUSH   ? "push" :
	       op == KVGPU_REMOTE_OP_SPOILT ? "spoilt" :
	       op == KVGPU_REMOTE_OP_TABLE  ? "table" :
					      "?";
}

static void print_field(FILE *to, const struct kvgpu_remote_field *f, const uint8_t *at)
{
	uint32_t i;
	uint64_t v;

	fprintf(to, " %s=", f->name);
	if (f->bytes > sizeof(v) || f->count > 16) {
		fprintf(to, "(%u bytes)", f->bytes * f->count);
		return;
	}
	for (i = 0; i < f->count; i++) {
		v = 0;
		memcpy(&v, at + i * f->bytes, f->bytes);
		fprintf(to, "%s0x%llx", i ? "," : "", (unsigned long long)v);
	}
}

void kvgpu_remote_dump(FILE *to, const struct kvgpu_remote_head *h, const void *payload)
{
	const struct kvgpu_remote_shape *s = shape_of(h->op);
	const struct kvgpu_remote_field *f;

	fprintf(to, "%llu %s box %u, %u bytes:", (unsigned long long)h->seq,
		kvgpu_remote_op_name(h->op), h->completion, h->bytes);
	if (s && h->bytes < s->bytes)
		fprintf(to, " too short, %u are its fixed part", s->bytes);
	for (f = s && h->bytes >= s->bytes ? s->fields : NULL; f && f->name; f++)
		print_field(to, f, (const uint8_t *)payload + f->at);
	if (s && h->bytes > s->bytes)
		fprintf(to, " and %u bytes", h->bytes - s->bytes);
	fputc('\n', to);
}
