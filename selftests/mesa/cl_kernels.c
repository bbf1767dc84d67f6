// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenCL C kernels of many kinds through stock rusticl, each result compared with the host's.
 *
 *   kvgpu-cl-kernels [--device NAME] [TEST...]
 *
 * --device takes another device than the card, to try out the tests themselves.
 */

#include "cl_cases.h"
#include "workers.h"

static const char *device_name;
static cl_device_id device;
static struct suite suite;

static bool open_device(char *name, size_t size)
{
	device = find_device(device_name);
	if (device)
		clGetDeviceInfo(device, CL_DEVICE_NAME, size, name, NULL);
	return device;
}

static void run(unsigned int i, struct verdict *v)
{
	struct job j = { .device = device, .what = suite.tests[i].what, .verdict = v };

	job_begin(&j);
	j.what->run(&j);
	job_end(&j);
}

static void add_cases(const struct job_case *c, char **names)
{
	for (; c->name; c++)
		add_test(&suite, &(struct test){ c->name, c->bug, c->sign, c }, names);
}

int main(int argc, char **argv)
{
	char **names = names_of_tests(argv, &device_name);

	(void)argc;
	add_cases(cases_memory, names);
	add_cases(cases_groups, names);
	add_cases(cases_numbers, names);
	add_cases(cases_control, names);
	add_cases(cases_queues, names);
	add_cases(cases_images, names);
	add_cases(cases_limits, names);
	suite.open = open_device;
	suite.run = run;
	return run_suite(&suite);
}
