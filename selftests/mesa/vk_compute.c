// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute shaders of many kinds through stock NVK, each result compared with the host's. They are
 * GLSL, compiled when this is built.
 *
 *   kvgpu-vk-compute [--device NAME] [TEST...]
 *
 * --device takes the first device with NAME in its name instead of the card, to try out the tests
 * themselves.
 */
#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "vk_cases.h"
#include "workers.h"

enum { MAX_DEVICES = 8 };

static const char *device_name;
static VkPhysicalDevice device;
static struct suite suite;

static bool open_device(char *name, size_t size)
{
	VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
				  .apiVersion = VK_API_VERSION_1_0 };
	VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
				      .pApplicationInfo = &app };
	VkPhysicalDevice devices[MAX_DEVICES];
	VkPhysicalDeviceProperties p;
	uint32_t n = MAX_DEVICES, i;
	VkInstance instance;

	if (vkCreateInstance(&info, NULL, &instance) ||
	    vkEnumeratePhysicalDevices(instance, &n, devices) < 0)
		return false;
	for (i = 0; i < n; i++) {
		vkGetPhysicalDeviceProperties(devices[i], &p);
		tap_diag("device: %s (%x:%x)", p.deviceName, p.vendorID, p.deviceID);
		if (device_name ? strstr(p.deviceName, device_name) != NULL :
				  p.vendorID == 0x10de && strstr(p.deviceName, "K20m")) {
			device = devices[i];
			snprintf(name, size, "%s", p.deviceName);
			return true;
		}
	}
	return false;
}

static void run(unsigned int i, struct verdict *v)
{
	struct vk_job j = { .phys = device, .what = suite.tests[i].what, .verdict = v };

	vk_job_begin(&j);
	j.what->run(&j);
	vk_job_end(&j);
}

static void add_cases(const struct vk_case *c, char **names)
{
	for (; c->name; c++)
		add_test(&suite, &(struct test){ c->name, c->bug, c->sign, c }, names);
}

int main(int argc, char **argv)
{
	char **names = names_of_tests(argv, &device_name);

	(void)argc;
	add_cases(vk_cases_groups, names);
	add_cases(vk_cases_numbers, names);
	add_cases(vk_cases_commands, names);
	add_cases(vk_cases_images, names);
	suite.open = open_device;
	suite.run = run;
	return run_suite(&suite);
}
