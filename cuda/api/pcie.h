/* SPDX-License-Identifier: MIT */
/*
 * The PCIe link of a GPU of this machine, as Linux tells it: what its two ends can do. What the
 * link does now changes with the load, so it would tell of other users of the GPU.
 */
#ifndef KVGPU_CUDA_API_PCIE_H
#define KVGPU_CUDA_API_PCIE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PCIE_DEVICES "/sys/bus/pci/devices"

struct pcie_link {
	uint32_t generation, width; /* 0: not known */
};

/* The number that a file of the device begins with; @base: its base. 0: there is none. */
static inline uint32_t pcie_number(const char *devices, const char *place, const char *file,
				   int base)
{
	char path[256], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", devices, place, file);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	return strtoul(text, NULL, base);
}

static inline uint32_t pcie_generation(uint32_t gigatransfers)
{
	static const uint32_t first[] = { 2 /* 2.5 */, 5, 8, 16, 32, 64, 128 };
	uint32_t n = 0;

	while (n < sizeof(first) / sizeof(*first) && gigatransfers >= first[n])
		n++;
	return n;
}

/* of the device and of what it is plugged into the lower one */
static inline uint32_t pcie_lower(uint32_t device, uint32_t port)
{
	return port && port < device ? port : device;
}

/*
 * @devices: PCIE_DEVICES, or a test's. @bus_id: as cuDeviceGetPCIBusId() gives it. All is 0 for
 * what is no device of NVIDIA's, or has no such link.
 */
static inline struct pcie_link pcie_link(const char *devices, const char *bus_id)
{
	enum { VENDOR = 0x10de };
	unsigned int domain, bus, slot;
	struct pcie_link none = { 0 };
	char place[32];

	if (sscanf(bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3)
		return none;
	snprintf(place, sizeof(place), "%04x:%02x:%02x.0", domain, bus, slot);
	if (pcie_number(devices, place, "vendor", 16) != VENDOR)
		return none;
	return (struct pcie_link){
		pcie_lower(pcie_generation(pcie_number(devices, place, "max_link_speed", 10)),
			   pcie_generation(pcie_number(devices, place, "../max_link_speed", 10))),
		pcie_lower(pcie_number(devices, place, "max_link_width", 10),
			   pcie_number(devices, place, "../max_link_width", 10)),
	};
}

#endif
