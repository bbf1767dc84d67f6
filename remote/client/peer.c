// SPDX-License-Identifier: MIT
/* The servers. cuInit() fills the table (init.c); afterwards it is read without a lock. */
#include "client.h"

struct peer peers[PEERS_MAX];
unsigned int nr_peers;
bool several;
int all_devices, device_at[DEVICES_MAX];

void peer_init(struct peer *p)
{
	fair_lock_init(&p->submit);
	pthread_mutex_init(&p->arena.lock, NULL);
	p->room = KVGPU_REMOTE_NOWHERE;
}

void peer_slow(struct peer *p, enum slow why, bool is)
{
	if (is)
		__atomic_or_fetch(&p->slow, why, __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(&p->slow, ~why, __ATOMIC_RELEASE);
}

void peers_slow(enum slow why, bool is)
{
	unsigned int i;

	for (i = 0; i < nr_peers; i++)
		peer_slow(&peers[i], why, is);
}

struct peer *peer_of_number(int dev, uint32_t *number)
{
	unsigned int i;

	for (i = 0; i < nr_peers; i++)
		if (dev >= peers[i].first_device &&
		    dev - peers[i].first_device < peers[i].nr_devices) {
			*number = dev - peers[i].first_device;
			return &peers[i];
		}
	return NULL;
}

struct peer *peer_of_device(CUdevice dev, uint32_t *number)
{
	return dev >= 0 && dev < all_devices ? peer_of_number(device_at[dev], number) : NULL;
}

CUdevice device_here(const struct peer *p, uint32_t number)
{
	int dev;

	for (dev = 0; dev < all_devices; dev++)
		if (device_at[dev] == p->first_device + (int)number)
			return dev;
	return -1;
}
