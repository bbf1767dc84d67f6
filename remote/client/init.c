// SPDX-License-Identifier: MIT
/* The connections to the servers, which cuInit() makes, or the first question for the version. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda/api/export/export.h>
#include <cuda/api/forked.h>
#include <cuda/api/usage.h>
#include <cuda/api/visible.h>
#include <remote/channel/address.h>

#include "client.h"

enum { API_VERSION = 13000 }; /* the last CUDA whose programs find all that they need here */

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
/* written under `init_lock`; atomic, since cuDriverGetVersion() may be called before cuInit() */
static int version = API_VERSION;
/* all under `init_lock` */
static const char *address[PEERS_MAX];
static unsigned int nr_addresses;
static bool looked; /* for servers, whether they were there or not */
static bool reached; /* all servers have told their devices, for cuInit() */
static bool questions; /* kvgpu_usage_init() began, not cuInit() */

static int room_for(uint32_t n)
{
	return n < DEVICES_MAX - (uint32_t)all_devices ? (int)n : DEVICES_MAX - all_devices;
}

static bool is_proxy(const struct peer *p)
{
	return !strncmp(p->address, "unix:", 5) && strstr(p->address, "/" ADDRESS_RUN_FOLDER);
}

static void say_proxy_gone(const struct peer *p)
{
	client_say(
		"%s: kvgpu-run's proxy for this device is gone, or takes no more connections. cuInit() wants all devices, "
		"so none works. mpirun or the proxy may have said why",
		p->address);
}

static CUresult ask_for_devices(struct peer *p)
{
	struct q_init q = { .pid = getpid() };
	struct call c = { .op = OP_init, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	const struct a_init *a;
	CUresult r = table_tell(p);

	r = r ? r : call_sync(&c, sizeof(struct a_init));
	a = c.answer;
	if (r == CUDA_ERROR_SYSTEM_NOT_READY && is_proxy(p))
		say_proxy_gone(p);
	else if (r == CUDA_ERROR_SYSTEM_NOT_READY)
		client_say(
			"%s: the server ended the connection. Its log says why (there: journalctl -u kvgpu-remoted): it may "
			"have no libcuda.so.1, or not let this client in; or its VM stood still for longer than "
			"KVGPU_REMOTE_PATIENCE_MS",
			p->address);
	if (r)
		return r;
	arena_is_seen_at(p, a->arena);
	p->keeps = a->keeps;
	p->first_device = all_devices;
	p->nr_devices = room_for(a->devices);
	all_devices += p->nr_devices;
	if (__atomic_load_n(&version, __ATOMIC_RELAXED) > (int)a->version)
		__atomic_store_n(&version, a->version, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

static CUresult connect_to(struct peer *p)
{
	const char *why;
	int r = kvgpu_remote_connect(p->address, KVGPU_REMOTE_VERSION, client_notified, p,
				     &p->channel, &why);

	if (r) {
		/* no folder, no listener, or a listener that hangs up */
		if (is_proxy(p) && (r == -ENOENT || r == -ECONNREFUSED || r == -ECONNRESET))
			say_proxy_gone(p);
		else
			client_say("%s: %s", p->address, why);
		return CUDA_ERROR_SYSTEM_NOT_READY;
	}
	peer_init(p);
	peer_slow(p, SLOW_TRACE, trace_begin(&why));
	if (arena_init(p))
		return CUDA_SUCCESS;
	client_say("%s: the server's arena has a size that can't be", p->address);
	kvgpu_remote_disconnect(p->channel);
	return CUDA_ERROR_SYSTEM_NOT_READY;
}

/* A UUID in the list is one that cuDeviceGetUuid() tells without the list. */
static CUresult choose_devices(void)
{
	const char *list = questions ? NULL : getenv("CUDA_VISIBLE_DEVICES");
	unsigned int at[DEVICES_MAX], n = all_devices, i;
	static CUuuid uuid[DEVICES_MAX];
	CUresult r = CUDA_SUCCESS;

	for (i = 0; i < n && list && !r; i++)
		r = device_uuid(i, &uuid[i]);
	if (r)
		return r;
	all_devices = visible_devices(list, uuid, n, at);
	for (i = 0; i < (unsigned int)all_devices; i++)
		device_at[i] = at[i];
	return all_devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

/*
 * A child of fork() keeps no connection open. If cuInit() has not succeeded before, the child is as
 * a new process, though another thread may have held the lock; so it is after kvgpu_usage_init().
 */
static void in_child(void)
{
	unsigned int i;

	if (forked_is_child())
		return; /* of a child that closed them */
	for (i = 0; i < nr_peers; i++)
		kvgpu_remote_forked(peers[i].channel);
	if (client_is_ready() && !questions)
		return;
	client_set_ready(false);
	pthread_mutex_init(&init_lock, NULL);
	memset(peers, 0, nr_peers * sizeof(*peers));
	nr_peers = nr_addresses = 0;
	looked = reached = false;
	__atomic_store_n(&version, API_VERSION, __ATOMIC_RELAXED);
	call_forked();
}

static CUresult connect_all(void)
{
	static bool expected;
	const char *folder, *why;
	CUresult r = CUDA_SUCCESS;

	if (!expected)
		pthread_atfork(NULL, NULL, in_child);
	expected = true;
	trace_begin(&why);
	if (why)
		client_say("KVGPU_REMOTE_TRACE: %s", why);
	if (!nr_addresses) {
		nr_addresses = find_servers(address, &folder);
		if (!nr_addresses)
			return CUDA_ERROR_NO_DEVICE;
		if (folder)
			kvgpu_remote_tls_folder(folder);
	}
	for (; nr_peers < nr_addresses && !r; nr_peers += !r) {
		peers[nr_peers].address = address[nr_peers];
		r = connect_to(&peers[nr_peers]);
	}
	if (!nr_peers)
		nr_addresses = 0; /* find the servers anew next time */
	return r;
}

/* Connect to all servers or fail, so that devices have the same numbers each time. */
static CUresult reach_servers(void)
{
	unsigned int i;
	CUresult r = connect_all();

	looked = true;
	if (r)
		return r;
	several = nr_peers > 1;
	peers_slow(SLOW_SEVERAL, several);
	all_devices = 0;
	for (i = 0; i < nr_peers && !r; i++) {
		r = ask_for_devices(&peers[i]);
		if (r != CUDA_ERROR_NO_DEVICE || !several)
			continue;
		client_say("%s: this server has no GPU", peers[i].address);
		/* each proxy of kvgpu-run was promised to have one */
		if (!is_proxy(&peers[i]))
			r = CUDA_SUCCESS;
	}
	return r;
}

/* What questions about devices don't need: addresses that are kept free. Children can't use it. */
static CUresult reserve_addresses(void)
{
	unsigned int i;

	if (!objects_begin()) {
		client_say(
			"no addresses can be reserved for handles: is this process's address space limited (ulimit -v)?");
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	for (i = 0; i < nr_peers; i++)
		pools_set_apart(&peers[i]);
	forked_expect();
	return CUDA_SUCCESS;
}

static CUresult start_client(void)
{
	CUresult r = reached ? CUDA_SUCCESS : reach_servers();

	reached = false;
	if (!r)
		r = choose_devices();
	if (!r && !questions)
		r = reserve_addresses();
	if (!r)
		client_set_ready(true);
	return r;
}

static CUresult init(bool for_questions)
{
	CUresult r = CUDA_SUCCESS;

	pthread_mutex_lock(&init_lock);
	if (!client_is_ready()) {
		questions = for_questions;
		r = start_client();
	}
	pthread_mutex_unlock(&init_lock);
	return r;
}

CUresult cuInit(unsigned int flags)
{
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	export_tools_look();
	return forked_is_child() ? CUDA_ERROR_NOT_INITIALIZED : init(false);
}

CUresult kvgpu_usage_init(void)
{
	return init(true);
}

/*
 * Runtimes ask for the version before cuInit(), and it may not change then. If a server isn't
 * there, cuInit() will say so.
 */
static void look_for_version(void)
{
	pthread_mutex_lock(&init_lock);
	if (!looked) {
		client_quiet(true);
		reached = !reach_servers();
		client_quiet(false);
	}
	pthread_mutex_unlock(&init_lock);
}

CUresult cuDriverGetVersion(int *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!client_is_ready())
		look_for_version();
	*out = __atomic_load_n(&version, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}

CUresult cuProfilerStart(void)
{
	return client_ready();
}

CUresult cuProfilerStop(void)
{
	return client_ready();
}
