// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu-top's JSON. A number that is not known is null. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "output.h"

static json_t *number(struct value v)
{
	return v.known ? json_integer(v.n) : json_null();
}

static json_t *real(double d)
{
	return isfinite(d) ? json_real(d) : json_null();
}

static json_t *text(const char *s)
{
	return *s ? json_string(s) : json_null();
}

/*
 * Put @v into @object, and take over the caller's reference to @v. Return false if memory ran out,
 * now or earlier: an earlier failure left NULL in @object or @v.
 */
static bool put(json_t *object, const char *key, json_t *v)
{
	return !json_object_set_new(object, key, v);
}

static json_t *vgpu_object(const struct sample *before, const struct vgpu *v)
{
	struct vgpu_rates r = vgpu_rates(before, v);
	json_t *o = json_object();
	bool ok = o && put(o, "uuid", text(v->uuid)) && put(o, "type", text(v->type)) &&
		  put(o, "share", real(r.share)) && put(o, "copy_share", real(r.copies)) &&
		  put(o, "slices_per_s", real(r.slices_s)) &&
		  put(o, "exits_per_s", real(r.exits_s)) &&
		  put(o, "preempt_ns_mean", real(r.preempt_ns));

	for (int i = 0; ok && i < VGPU_FIELDS; i++)
		ok = put(o, vgpu_fields[i].file, number(v->v[i]));
	if (ok)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *gpu_object(const struct sample *before, const struct sample *now,
			  const struct gpu *g)
{
	json_t *o = json_object(), *vgpus = json_array();
	bool ok = o && put(o, "address", text(g->address)) && put(o, "policy", text(g->policy)) &&
		  put(o, "busy", real(gpu_busy(before, g)));

	for (int i = 0; ok && i < GPU_FIELDS; i++)
		ok = put(o, gpu_fields[i].file, number(g->v[i]));
	for (size_t i = 0; ok && i < now->nr_vgpus; i++)
		if (!strcmp(now->vgpus[i].gpu, g->address))
			ok = !json_array_append_new(vgpus, vgpu_object(before, &now->vgpus[i]));
	if (ok && put(o, "vgpus", json_incref(vgpus))) {
		json_decref(vgpus);
		return o;
	}
	json_decref(vgpus);
	json_decref(o);
	return NULL;
}

bool print_json(FILE *out, const struct sample *before, const struct sample *now)
{
	json_t *o = json_object(), *gpus = json_array();
	bool ok = o && gpus;

	for (size_t i = 0; ok && i < now->nr_gpus; i++)
		ok = !json_array_append_new(gpus, gpu_object(before, now, &now->gpus[i]));
	ok = ok && put(o, "gpus", json_incref(gpus)) &&
	     !json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(gpus);
	json_decref(o);
	if (ok)
		putc('\n', out);
	else
		fprintf(stderr,
			"kvgpu-top: can't write JSON: out of memory, or the output is closed\n");
	return ok;
}
