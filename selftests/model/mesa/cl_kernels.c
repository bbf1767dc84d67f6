// SPDX-License-Identifier: GPL-2.0-only
/*
 * What surrounds kernels in OpenCL, through stock rusticl, each result compared with the host's.
 *
 *   kvgpu-cl-kernels [--device NAME] [TEST...]
 *
 * --device takes another device than the card, to try out the tests themselves.
 */

#include "cl_cases.h"
#include "tap.h"

int main(int argc, char **argv)
{
	static const struct job_case *const lists[] = { cases_memory, cases_queues, cases_images };
	const char *device_name = NULL;
	char **names = names_of_tests(argv, &device_name);
	cl_device_id device = find_device(device_name);
	const struct job_case *c;
	unsigned int i;

	(void)argc;
	for (i = 0; device && i < sizeof(lists) / sizeof(lists[0]); i++)
		for (c = lists[i]; c->name; c++) {
			struct verdict v = { .name = c->name };
			struct job j = { .device = device, .what = c, .verdict = &v };

			if (!is_wanted(c->name, names))
				continue;
			job_begin(&j);
			c->run(&j);
			job_end(&j);
			verdict_print(&v);
		}
	return tap_finish();
}
