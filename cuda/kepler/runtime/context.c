// SPDX-License-Identifier: MIT
/*
 * The context of a thread's calls: the current one, if the application made it current through the
 * driver API, and has not called cudaSetDevice() since. Else the primary context of the thread's
 * device, made when a call needs it, and kept until a reset.
 */
#include <unistd.h>

#include "runtime.h"

static pthread_mutex_t primaries = PTHREAD_MUTEX_INITIALIZER;
static struct {
	CUcontext ctx; /* use __atomic: it is read without a lock, too */
	bool retained;
	bool resetting; /* by a thread, which alone uses .retained, without lock */
} primary[MAX_DEVICES];
static int cancel; /* the state of the thread that has the lock, from before */
static pthread_cond_t reset_ended = PTHREAD_COND_INITIALIZER;
static unsigned int resets; /* use __atomic */

static __thread struct {
	int device;
	bool chosen; /* .device is new, and its context not yet made current */
	unsigned int resets; /* when the context was seen alive */
	bool resetting; /* a destructor in reset() can't wait for it */
} self;

/* of this process, once the driver is in use; atomic */
static pid_t user;

bool is_child_of_user(void)
{
	pid_t pid = __atomic_load_n(&user, __ATOMIC_RELAXED);

	return pid && pid != getpid();
}

cudaError_t use_driver(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool ready;
	CUresult r = CUDA_SUCCESS;

	if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	pthread_mutex_lock(&lock);
	if (!ready)
		r = cuInit(0);
	if (!r) {
		__atomic_store_n(&user, getpid(), __ATOMIC_RELAXED);
		__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return from_driver(r);
}

cudaError_t check_device(int device)
{
	cudaError_t e = use_driver();
	int n;

	if (!e)
		e = from_driver(cuDeviceGetCount(&n));
	if (!e && (device < 0 || device >= n || device >= MAX_DEVICES))
		e = cudaErrorInvalidDevice;
	return e;
}

/* The device that has this primary context, or -1. */
static int device_of(CUcontext ctx)
{
	int i;

	for (i = 0; i < MAX_DEVICES; i++)
		if (__atomic_load_n(&primary[i].ctx, __ATOMIC_ACQUIRE) == ctx)
			return i;
	return -1;
}

/*
 * Lock `primaries`, when no thread resets @device; after an error nothing is locked. A reset waits
 * for host functions and destructors, so these may not wait for it: the driver refuses host
 * functions, self.resetting is set in a destructor. The thread can't be cancelled while it has the
 * lock.
 */
static cudaError_t primaries_enter(int device)
{
	unsigned int flags;
	int active, before;
	cudaError_t e = self.resetting ?
				cudaErrorNotPermitted :
				from_driver(cuDevicePrimaryCtxGetState(device, &flags, &active));

	if (e)
		return e;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	pthread_mutex_lock(&primaries);
	while (primary[device].resetting)
		pthread_cond_wait(&reset_ended, &primaries);
	cancel = before;
	return cudaSuccess;
}

static void primaries_leave(void)
{
	int before = cancel;

	pthread_mutex_unlock(&primaries);
	pthread_setcancelstate(before, NULL);
}

/* After primaries_enter(@device). */
static cudaError_t retain_primary(int device)
{
	CUcontext ctx;
	cudaError_t e;

	if (primary[device].retained)
		return cudaSuccess;
	e = from_driver(cuDevicePrimaryCtxRetain(&ctx, device));
	if (!e) {
		__atomic_store_n(&primary[device].ctx, ctx, __ATOMIC_RELEASE);
		primary[device].retained = true;
	}
	return e;
}

/* After primaries_enter(@device). The context may be current and dead: a reset keeps the handle. */
static cudaError_t take_primary(int device)
{
	cudaError_t e = retain_primary(device);

	return e ? e : from_driver(cuCtxSetCurrent(primary[device].ctx));
}

cudaError_t use_context(void)
{
	CUcontext ctx = NULL;
	cudaError_t e = use_driver();
	unsigned int seen = __atomic_load_n(&resets, __ATOMIC_ACQUIRE);
	int device;

	if (!e)
		e = from_driver(cuCtxGetCurrent(&ctx));
	if (e || (ctx && !self.chosen && self.resets == seen))
		return e;
	e = check_device(self.device);
	if (e)
		return e;
	device = ctx && !self.chosen ? device_of(ctx) : self.device;
	if (device >= 0) {
		e = primaries_enter(device);
		if (e)
			return e;
		seen = __atomic_load_n(&resets, __ATOMIC_ACQUIRE);
		e = take_primary(device);
		primaries_leave();
	}
	if (!e) {
		self.chosen = false;
		self.resets = seen;
	}
	return e;
}

cudaError_t context_of(int device, CUcontext *out)
{
	int current;
	cudaError_t e = check_device(device);

	if (!e)
		e = use_context();
	if (!e)
		e = cudaGetDevice(&current);
	if (e)
		return e;
	if (device == current)
		return from_driver(cuCtxGetCurrent(out));
	e = primaries_enter(device);
	if (e)
		return e;
	e = retain_primary(device);
	*out = primary[device].ctx;
	primaries_leave();
	return e;
}

cudaError_t cudaSetDevice(int device)
{
	cudaError_t e = check_device(device);

	if (!e) {
		self.device = device;
		self.chosen = true;
		/*
		 * If the context can't be made the one before stays current; later calls try again
		 * and return the error.
		 */
		(void)use_context();
	}
	return set_last_error(e);
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
	cudaError_t e = use_driver();
	int i;

	if (!e && (n < 0 || (n && !devices)))
		e = cudaErrorInvalidValue;
	for (i = 0; i < n && !e; i++)
		e = check_device(devices[i]);
	if (!e) {
		self.device = n ? devices[0] : 0;
		self.chosen = true;
	}
	return set_last_error(e);
}

cudaError_t cudaGetDevice(int *device)
{
	CUcontext ctx = NULL;
	cudaError_t e = use_driver();
	int of;

	if (!e && !device)
		e = cudaErrorInvalidValue;
	if (!e)
		e = from_driver(cuCtxGetCurrent(&ctx));
	if (e)
		return set_last_error(e);
	*device = self.device;
	if (!ctx || self.chosen)
		return cudaSuccess;
	of = device_of(ctx);
	if (of >= 0)
		*device = of;
	else
		e = from_driver(cuCtxGetDevice(device));
	return set_last_error(e);
}

/* With .resetting set, and nothing locked: the driver calls destructors. */
static cudaError_t end_primary(int device)
{
	cudaError_t e = from_driver(cuDevicePrimaryCtxReset_v2(device));

	if (e || !primary[device].retained)
		return e;
	forget_modules(primary[device].ctx);
	primary[device].retained = false;
	__atomic_fetch_add(&resets, 1, __ATOMIC_RELEASE);
	return from_driver(cuDevicePrimaryCtxRelease_v2(device));
}

static cudaError_t reset(int device)
{
	cudaError_t e = primaries_enter(device);
	int before;

	if (e)
		return e;
	primary[device].resetting = true;
	before = cancel;
	pthread_mutex_unlock(&primaries);
	self.resetting = true;
	e = end_primary(device);
	self.resetting = false;
	pthread_mutex_lock(&primaries);
	primary[device].resetting = false;
	pthread_cond_broadcast(&reset_ended);
	cancel = before;
	primaries_leave();
	return e;
}

cudaError_t cudaDeviceReset(void)
{
	int device;
	cudaError_t e = cudaGetDevice(&device);

	if (e)
		return e;
	forget_errors();
	return set_last_error(reset(device));
}

cudaError_t cudaThreadExit(void)
{
	return cudaDeviceReset();
}

cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t e = use_context();

	return set_last_error(e ? e : from_driver(cuCtxSynchronize()));
}

cudaError_t cudaThreadSynchronize(void)
{
	return cudaDeviceSynchronize();
}
