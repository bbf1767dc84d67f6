// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prometheus wants each metric once: its HELP and TYPE, and below them all its samples together, in
 * base units.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "output.h"

/*
 * A number @n of sysfs is n * times / 10^digits in base units. print_number() prints that without
 * rounding, unless n * times overflows int64_t.
 */
static const struct {
	int times, digits;
} scales[] = {
	[UNIT_ONE] = { 1, 0 },	     [UNIT_NS] = { 1, 9 },	    [UNIT_US] = { 1, 6 },
	[UNIT_MS] = { 1, 3 },	     [UNIT_MILLIDEGREE] = { 1, 3 }, [UNIT_KHZ] = { 1000, 0 },
	[UNIT_PPM] = { 1, 6 },	     [UNIT_PERCENT] = { 1, 2 },	    [UNIT_PAGES] = { 4096, 0 },
	[UNIT_MIB] = { 1 << 20, 0 },
};

static void print_number(FILE *out, int64_t n, enum unit unit)
{
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n, power = 1;
	int64_t product;

	for (int i = 0; i < scales[unit].digits; i++)
		power *= 10;
	if (__builtin_mul_overflow(n, (int64_t)scales[unit].times, &product))
		fprintf(out, " %.17g\n", (double)n * scales[unit].times);
	else if (power == 1)
		fprintf(out, " %" PRId64 "\n", product);
	else
		fprintf(out, " %s%" PRIu64 ".%0*" PRIu64 "\n", n < 0 ? "-" : "", magnitude / power,
			scales[unit].digits, magnitude % power);
}

static void print_head(FILE *out, const char *prefix, const struct field *f)
{
	size_t n = strlen(f->metric);
	const char *type = n > 6 && !strcmp(f->metric + n - 6, "_total") ? "counter" : "gauge";

	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, f->metric, f->help, prefix,
		f->metric, type);
}

/* Print a label, with quotes and backslashes in @value escaped. */
static void print_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', out);
		putc(*value, out);
	}
	putc('"', out);
}

static void print_gpus(FILE *out, const struct sample *s)
{
	if (!s->nr_gpus)
		return;
	fputs("# HELP kvgpu_gpu_info A GPU and its policy.\n# TYPE kvgpu_gpu_info gauge\n", out);
	for (size_t g = 0; g < s->nr_gpus; g++) {
		fputs("kvgpu_gpu_info{", out);
		print_label(out, "gpu", s->gpus[g].address);
		putc(',', out);
		print_label(out, "policy", s->gpus[g].policy);
		fputs("} 1\n", out);
	}
	for (int i = 0; i < GPU_FIELDS; i++) {
		bool head = false;

		for (size_t g = 0; g < s->nr_gpus; g++) {
			if (!s->gpus[g].v[i].known)
				continue;
			if (!head)
				print_head(out, "kvgpu_gpu_", &gpu_fields[i]);
			head = true;
			fprintf(out, "kvgpu_gpu_%s{", gpu_fields[i].metric);
			print_label(out, "gpu", s->gpus[g].address);
			putc('}', out);
			print_number(out, s->gpus[g].v[i].n, gpu_fields[i].unit);
		}
	}
}

static void print_types(FILE *out, const struct sample *s)
{
	bool head = false;

	for (size_t g = 0; g < s->nr_gpus; g++)
		for (size_t t = 0; t < s->gpus[g].nr_types; t++) {
			const struct gpu_type *type = &s->gpus[g].types[t];

			if (!type->available.known)
				continue;
			if (!head)
				fputs("# HELP kvgpu_gpu_available_vgpus vGPUs of a type that there is room for.\n"
				      "# TYPE kvgpu_gpu_available_vgpus gauge\n",
				      out);
			head = true;
			fputs("kvgpu_gpu_available_vgpus{", out);
			print_label(out, "gpu", s->gpus[g].address);
			putc(',', out);
			print_label(out, "type", type->name);
			putc('}', out);
			print_number(out, type->available.n, UNIT_ONE);
		}
}

static void print_firmware(FILE *out, const char *file)
{
	struct utsname u;

	if (uname(&u))
		return;
	fputs("# HELP kvgpu_firmware_present Whether the firmware file of the GPUs is there.\n"
	      "# TYPE kvgpu_firmware_present gauge\nkvgpu_firmware_present{",
	      out);
	print_label(out, "kernel", u.release);
	fprintf(out, "} %d\n", !access(file, F_OK));
}

static void print_vgpu(FILE *out, const struct vgpu *v, const char *metric, const char *label,
		       const char *value)
{
	fprintf(out, "kvgpu_vgpu_%s{", metric);
	print_label(out, "gpu", v->gpu);
	putc(',', out);
	print_label(out, "vgpu", v->uuid);
	if (label) {
		putc(',', out);
		print_label(out, label, value);
	}
	putc('}', out);
}

static void print_vgpus(FILE *out, const struct sample *s)
{
	const char *last = "";

	if (!s->nr_vgpus)
		return;
	fputs("# HELP kvgpu_vgpu_info A vGPU and its type.\n# TYPE kvgpu_vgpu_info gauge\n", out);
	for (size_t v = 0; v < s->nr_vgpus; v++) {
		print_vgpu(out, &s->vgpus[v], "info", "type", s->vgpus[v].type);
		fputs(" 1\n", out);
	}
	for (int i = 0; i < VGPU_FIELDS; i++) {
		const struct field *f = &vgpu_fields[i];

		for (size_t v = 0; v < s->nr_vgpus; v++) {
			if (!s->vgpus[v].v[i].known)
				continue;
			/*
			 * Fields of one metric have different labels and follow each other in
			 * vgpu_fields, so that HELP and TYPE are printed once.
			 */
			if (strcmp(last, f->metric))
				print_head(out, "kvgpu_vgpu_", f);
			last = f->metric;
			print_vgpu(out, &s->vgpus[v], f->metric, f->label ? "kind" : NULL,
				   f->label);
			print_number(out, s->vgpus[v].v[i].n, f->unit);
		}
	}
}

void print_prometheus(FILE *out, const struct sample *s, const char *firmware)
{
	fprintf(out,
		"# HELP kvgpu_gpus GPUs that kvgpu holds.\n# TYPE kvgpu_gpus gauge\nkvgpu_gpus %zu\n",
		s->nr_gpus);
	print_firmware(out, firmware);
	print_gpus(out, s);
	print_types(out, s);
	print_vgpus(out, s);
}
