// SPDX-License-Identifier: GPL-2.0-only
/* cl_device.h has the contracts. */
#include "cl_device.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { MAX_IDS = 8 };

/* nvc0 calls the chip by its code name, NVF0 */
static bool wanted(const char *name, const char *other)
{
	if (other)
		return strstr(name, other);
	return strstr(name, "K20m") || strstr(name, "NVF0") || strstr(name, "GK110");
}

cl_device_id find_device(const char *other)
{
	cl_platform_id platforms[MAX_IDS];
	cl_uint np = 0, nd, p, d;

	if (clGetPlatformIDs(MAX_IDS, platforms, &np) != CL_SUCCESS)
		np = 0;
	for (p = 0; p < np && p < MAX_IDS; p++) {
		cl_device_id devices[MAX_IDS];

		if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_IDS, devices, &nd))
			continue;
		for (d = 0; d < nd && d < MAX_IDS; d++) {
			char name[256] = "", platform[256] = "";

			clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof(name), name, NULL);
			clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof(platform),
					  platform, NULL);
			tap_diag("device: %s (platform %s)", name, platform);
			if (wanted(name, other)) {
				tap_result(strstr(platform, "rusticl"),
					   "OpenCL names the card, by rusticl", "%s", name);
				return devices[d];
			}
		}
	}
	tap_result(false, "OpenCL names the card, by rusticl", "%u platforms, none has it", np);
	return NULL;
}
