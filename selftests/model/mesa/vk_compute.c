// SPDX-License-Identifier: GPL-2.0-only
/*
 * What surrounds compute shaders in Vulkan, through stock NVK, each result compared with the
 * host's. They are GLSL, compiled when this is built.
 *
 *   kvgpu-vk-compute [--device NAME] [TEST...]
 *
 * --device takes the first device with NAME in its name instead of the card, to try out the tests
 * themselves.
 */
#include <string.h>

#include "tap.h"
#include "vk_cases.h"

enum { MAX_DEVICES = 8 };

/* prints what it sees, and one result */
static VkPhysicalDevice find_device(const char *other)
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
		n = 0;
	for (i = 0; i < n; i++) {
		vkGetPhysicalDeviceProperties(devices[i], &p);
		tap_diag("device: %s (%x:%x)", p.deviceName, p.vendorID, p.deviceID);
		if (other ? strstr(p.deviceName, other) != NULL :
			    p.vendorID == 0x10de && strstr(p.deviceName, "K20m")) {
			tap_result(other || strstr(p.deviceName, "NVK"),
				   "Vulkan names the card: Tesla K20m by NVK", "%s", p.deviceName);
			return devices[i];
		}
	}
	tap_result(false, "Vulkan names the card: Tesla K20m by NVK", "%u devices, none of them",
		   n);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct vk_case *const lists[] = { vk_cases_commands, vk_cases_images };
	const char *device_name = NULL;
	char **names = names_of_tests(argv, &device_name);
	VkPhysicalDevice device = find_device(device_name);
	const struct vk_case *c;
	unsigned int i;

	(void)argc;
	for (i = 0; device && i < sizeof(lists) / sizeof(lists[0]); i++)
		for (c = lists[i]; c->name; c++) {
			struct verdict v = { .name = c->name };
			struct vk_job j = { .phys = device, .what = c, .verdict = &v };

			if (!is_wanted(c->name, names))
				continue;
			vk_job_begin(&j);
			c->run(&j);
			vk_job_end(&j);
			verdict_print(&v);
		}
	return tap_finish();
}
