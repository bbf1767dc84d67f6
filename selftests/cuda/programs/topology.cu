// SPDX-License-Identifier: GPL-2.0-only
/*
 * What NVIDIA's topologyQuery asks, and deviceQuery of several GPUs. Each GPU has a place on the
 * bus and a UUID of its own, and is found by its place again.
 */
#include "want.h"

static void one(int d)
{
	struct cudaDeviceProp p, q;
	char place[32];
	int found = -1;

	CHECK(cudaGetDeviceProperties(&p, d));
	CHECK(cudaDeviceGetPCIBusId(place, sizeof(place), d));
	CHECK(cudaDeviceGetByPCIBusId(&found, place));
	printf("GPU %d: %s at %s, %d SMX, %zu MiB\n", d, p.name, place, p.multiProcessorCount,
	       p.totalGlobalMem >> 20);
	WANT(found == d);
	WANT(p.unifiedAddressing);
	for (int other = 0; other < d; other++) {
		CHECK(cudaGetDeviceProperties(&q, other));
		WANT(memcmp(&p.uuid, &q.uuid, sizeof(p.uuid)));
		WANT(p.pciBusID != q.pciBusID || p.pciDeviceID != q.pciDeviceID ||
		     p.pciDomainID != q.pciDomainID);
		/* of GPUs that are alike, the one with the lower place on the bus is first */
		WANT(strcmp(p.name, q.name) || p.pciDomainID > q.pciDomainID ||
		     p.pciBusID >= q.pciBusID);
	}
}

static void pair(int from, int to)
{
	int can = -1, rank = -1, access = -1, atomics = -1;

	CHECK(cudaDeviceCanAccessPeer(&can, from, to));
	if (from == to) {
		WANT(!can);
		WANT(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to) ==
		     cudaErrorInvalidDevice);
		return;
	}
	CHECK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, from, to));
	CHECK(cudaDeviceGetP2PAttribute(&access, cudaDevP2PAttrAccessSupported, from, to));
	CHECK(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, from, to));
	printf("GPU %d <-> GPU %d: access %d, atomics %d, rank %d\n", from, to, can, atomics, rank);
	WANT(access == can);
	WANT(can || !atomics);
	CHECK(cudaSetDevice(from));
	if (can)
		CHECK(cudaDeviceEnablePeerAccess(to, 0));
	else
		WANT(cudaDeviceEnablePeerAccess(to, 0) == cudaErrorPeerAccessUnsupported);
}

int main(int argc, char **argv)
{
	int gpus;

	CHECK(cudaGetDeviceCount(&gpus));
	for (int d = 0; d < gpus; d++)
		one(d);
	for (int d = 0; d < gpus; d++)
		for (int other = 0; other < gpus; other++)
			pair(d, other);
	cudaGetLastError();
	return verdict(gpus && !wrong, "%d GPUs, %d answers wrong", gpus, wrong);
}
