// SPDX-License-Identifier: MIT
/*
 * Managed memory at the client: which pages are sent, when, and how many at a time. The server is
 * an array in this test.
 */
#include <errno.h>
#include <limits.h>
#include <selftests/unit_test.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <remote/client/client.h>

enum { ARENA = 16 << 20, BYTES = 4 << 20, PAGE = 4096 };

/* ------------------------- in the place of the client's other files, a channel and a server */

static struct object context, second_context = { .peer = 1, .dev = 1 };
static int module, second_module; /* of the second server */
static uint8_t there[BYTES + PAGE]; /* the server's memory */
static uintptr_t base; /* its address at the client and at the server */
static uintptr_t next_at; /* of the next allocation, if not at base */
static uint64_t bytes_in, bytes_out;
static unsigned int frames_in, frames_out, idles, fences, words_in;
static CUresult result;
static bool inside; /* in a host function */

void *current_context(void)
{
	return &context;
}
uint64_t current_id(const struct peer *p, uint32_t *mode)
{
	return 1;
}
void context_borrow(void *ctx, uint64_t id)
{
	assert_true(ctx == &context || ctx == &second_context);
}
struct peer *current_peer(void)
{
	return peers;
}
bool in_host_function(void)
{
	return inside;
}
const struct object *object_context(const struct object *o)
{
	return (const void *)o == &second_module ? &second_context : &context;
}

void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *bytes)
{
	static uint8_t *arena;

	if (!arena)
		arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			     0);
	*bytes = ARENA;
	return arena;
}

static uint8_t *mirror; /* of mapped memory, in the server's arena */
static uint64_t mirror_at;
int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t bytes)
{
	assert_null(from);
	memcpy(mirror + (at - mirror_at), arena_at(peers, at), bytes);
	bytes_in += bytes;
	frames_in++;
	return 0;
}

CUresult call_fence(struct peer *p, uint64_t upto)
{
	fences++;
	return result;
}

static uint8_t *server(uint64_t at, uint64_t bytes)
{
	assert_true(at >= base && at + bytes <= base + sizeof(there));
	return there + (at - base);
}

static uint64_t variable; /* a copy ends where this begins, as NVIDIA's library asks for */

static void within_variable(uint64_t at, uint64_t bytes)
{
	assert_true(bytes && (at + bytes <= variable || at >= variable));
}

static CUresult in(const struct q_managed_in *q)
{
	within_variable(q->dst, q->bytes);
	memcpy(server(q->dst, q->bytes), arena_at(peers, q->at), q->bytes);
	bytes_in += q->bytes;
	frames_in++;
	return result;
}

static CUresult out(const struct q_managed_out *q)
{
	within_variable(q->src, q->bytes);
	memcpy(arena_at(peers, q->at), server(q->src, q->bytes), q->bytes);
	bytes_out += q->bytes;
	frames_out++;
	return result;
}

static bool busy; /* the GPU has work, which a look tells */
static __thread unsigned int asked; /* by this thread */

static CUresult mapped_in(const struct q_mapped_in *q, size_t bytes)
{
	const uint32_t *pair = (const uint32_t *)(q + 1);
	uint64_t i;

	assert_int_equal(bytes, sizeof(*q) + q->words * 8);
	for (i = 0; i < q->words; i++, pair += 2)
		memcpy(mirror + (q->at - mirror_at) + pair[0], &pair[1], 4);
	__atomic_add_fetch(&words_in, q->words, __ATOMIC_RELEASE);
	return result;
}

static CUresult mapped_out(const struct q_mapped_out *q)
{
	memcpy(arena_at(peers, q->at), mirror + (q->at - mirror_at), q->bytes);
	bytes_out += q->bytes;
	frames_out++;
	return result;
}

CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_managed a;

	switch (c->op) {
	case OP_managed:
		a.ptr = next_at ? next_at : base;
		c->answer = &a;
		return CUDA_SUCCESS;
	case OP_managed_in:
		return in(c->fixed);
	case OP_managed_out:
		return out(c->fixed);
	case OP_mapped_out:
		return mapped_out(c->fixed);
	case OP_mapped_in:
		return mapped_in(c->fixed, c->bytes);
	case OP_idle:
		asked++;
		__atomic_add_fetch(&idles, 1, __ATOMIC_RELEASE);
		return ((const struct q_idle *)c->fixed)->look && busy ? CUDA_ERROR_NOT_READY :
									 result;
	}
	fail_msg("operation %u", c->op);
	return CUDA_ERROR_UNKNOWN;
}

CUresult call_async(struct call *c)
{
	return call_sync(c, 0);
}

/* ------------------------------------------------------------------ */

/* so many times Linux divides mappings; others may change as a whole, if .all is false */
static struct {
	unsigned int left;
	bool all;
} divides = { UINT_MAX, false };

int __real_mprotect(void *address, size_t bytes, int prot);
int __wrap_mprotect(void *address, size_t bytes, int prot)
{
	if ((bytes != BYTES || divides.all) && !divides.left) {
		errno = ENOMEM;
		return -1;
	}
	divides.left -= divides.left && divides.left != UINT_MAX;
	return __real_mprotect(address, bytes, prot);
}

static void work(void)
{
	managed_work_begins(peers, NULL);
	managed_work_sent();
}

static void count_anew(void)
{
	bytes_in = bytes_out = frames_in = frames_out = idles = fences = words_in = 0;
}

static volatile uint8_t *at;

/* Called in the test itself, because cmocka sets its own handler of SIGSEGV before each test. */
static void begin_test(void)
{
	CUdeviceptr ptr;
	void *free_range = mmap(NULL, sizeof(there), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(free_range, sizeof(there));
	base = (uintptr_t)free_range;
	memset(there, 0, sizeof(there));
	assert_int_equal(cuMemAllocManaged(&ptr, BYTES, 1), CUDA_SUCCESS);
	assert_int_equal(peers[0].slow, SLOW_MANAGED);
	at = (uint8_t *)(uintptr_t)ptr;
	count_anew();
}

static int tear_down(void **state)
{
	result = CUDA_SUCCESS;
	inside = false;
	divides.left = UINT_MAX;
	divides.all = false;
	managed_freed(base);
	managed_end(&context);
	assert_false(managed_any());
	assert_int_equal(peers[0].slow, 0);
	return 0;
}

TEST(what_is_written_goes_out)
{
	begin_test();
	at[5] = 1;
	at[10 * PAGE] = 2;
	at[11 * PAGE + 7] = 3;
	(void)at[20 * PAGE];
	work();
	assert_int_equal(bytes_in, 3 * PAGE);
	assert_int_equal(frames_in, 2);
	assert_int_equal(bytes_out, 0);
	assert_int_equal(there[5], 1);
	assert_int_equal(there[10 * PAGE], 2);
	assert_int_equal(there[11 * PAGE + 7], 3);
	/* pages that were sent are not sent again */
	work();
	assert_int_equal(frames_in, 2);
	assert_int_equal(idles, 0);
	/*
	 * a page that is written again is fetched first, with what the GPU wrote beside it, and
	 * sent again
	 */
	there[10 * PAGE + 1] = 77;
	at[10 * PAGE] = 4;
	assert_int_equal(at[10 * PAGE + 1], 77);
	work();
	assert_int_equal(bytes_in, 4 * PAGE);
	assert_int_equal(there[10 * PAGE], 4);
	assert_int_equal(there[10 * PAGE + 1], 77);
}

/*
 * 4 MiB go in frames of 1 MiB at most. The room in the arena that the frames share is not written
 * again before the server has read it.
 */
TEST(much_is_cut)
{
	begin_test();
	memset((void *)(uintptr_t)at, 9, BYTES);
	work();
	assert_int_equal(bytes_in, BYTES);
	assert_int_equal(frames_in, BYTES >> 20);
	assert_true(fences == frames_in || fences == frames_in - 1);
	assert_int_equal(there[BYTES - 1], 9);
}

TEST(what_is_touched_comes)
{
	unsigned int i, sum = 0;

	begin_test();
	work();
	memset(there, 3, BYTES);
	assert_int_equal(at[100 * PAGE], 3);
	assert_int_equal(idles, 1); /* the client waits for the work once */
	assert_int_equal(frames_out, 1);
	assert_int_equal(bytes_out, 4 * PAGE);
	assert_int_equal(at[500 * PAGE], 3);
	assert_int_equal(idles, 1);
	assert_int_equal(bytes_out, 8 * PAGE);
	work();
	count_anew();
	for (i = 0; i < BYTES; i += PAGE)
		sum += at[i];
	assert_int_equal(sum, 3 * BYTES / PAGE);
	assert_int_equal(bytes_out, BYTES); /* each page was fetched once */
	assert_true(frames_out < 20);
	assert_int_equal(bytes_in, 0);
}

/*
 * A host function may have work behind it in its stream. So pages that the function read are
 * fetched again after that work.
 */
TEST(in_functions)
{
	begin_test();
	work();
	inside = true;
	there[0] = 1;
	assert_int_equal(at[0], 1);
	assert_int_equal(idles, 0);
	at[1] = 2;
	managed_function_ends();
	assert_int_equal(there[1], 2);
	assert_int_equal(fences, 1);
	inside = false;
	there[0] = 5;
	managed_waited();
	assert_int_equal(at[0], 5);
	assert_int_equal(at[1], 2);
	/* the next wait does not close the page again */
	count_anew();
	managed_waited();
	assert_int_equal(at[0], 5);
	assert_int_equal(frames_out, 0);
}

TEST(errors_open_pages)
{
	begin_test();
	at[3] = 8;
	work();
	result = CUDA_ERROR_SYSTEM_NOT_READY;
	assert_int_equal(at[3], 8);
	at[4 * PAGE] = 1;
	work();
	assert_int_equal(at[4 * PAGE], 1);
}

/* Variables begin and end within pages: bytes beside a variable are neither read nor written. */
TEST(variables)
{
	const uint64_t begin = base + BYTES - 100, n = 300;
	volatile uint8_t *v = (uint8_t *)(uintptr_t)begin;

	begin_test();
	managed_freed(base);
	memset(there, 0, sizeof(there));
	there[BYTES - 101] = there[BYTES + 200] = 0xee;
	there[BYTES - 100] = 4;
	assert_int_equal(managed_variables(&module, begin, n), CUDA_SUCCESS);
	assert_int_equal(managed_variables(&module, begin, n), CUDA_SUCCESS);
	assert_int_equal(v[0], 4); /* the value in the image */
	assert_int_equal(bytes_out, n);
	memset((void *)(uintptr_t)v, 6, n);
	work();
	assert_int_equal(bytes_in, n);
	assert_int_equal(there[BYTES - 101], 0xee);
	assert_int_equal(there[BYTES + 200], 0xee);
	assert_int_equal(there[BYTES + 199], 6);
	/* a second variable, a part of which lies in a page that the client has already */
	there[BYTES + 300] = 8;
	there[BYTES - PAGE - 1] = 9;
	assert_int_equal(managed_variables(&module, base + BYTES - PAGE - 1, PAGE + 401),
			 CUDA_SUCCESS);
	assert_int_equal(v[100 + 300], 8);
	assert_int_equal(v[100 - PAGE - 1], 9);
	assert_int_equal(v[99], 6);
	v[99] = 7;
	v[100 - PAGE - 1] = 10;
	work();
	assert_int_equal(there[BYTES - 1], 7);
	assert_int_equal(there[BYTES - PAGE - 1], 10);
	assert_int_equal(there[BYTES - PAGE - 2], 0);
	managed_module_ends(&module);
	assert_false(managed_has(begin));
	assert_false(managed_has(base + BYTES - PAGE - 1));
}

/* Two variables on one page are copied one by one. What is between them is not copied. */
TEST(variables_of_a_page)
{
	const uint64_t begin = base;
	volatile uint8_t *v = (uint8_t *)(uintptr_t)begin;

	begin_test();
	managed_freed(base);
	memset(there, 0, sizeof(there));
	variable = begin + 512;
	there[0] = 3;
	there[100] = there[4600] = 0xee;
	there[512] = 4;
	there[4511] = 5;
	assert_int_equal(managed_variables(&module, variable, 4000), CUDA_SUCCESS);
	assert_int_equal(managed_variables(&module, begin, 4), CUDA_SUCCESS);
	assert_int_equal(v[0], 3);
	assert_int_equal(v[512], 4);
	assert_int_equal(v[4511], 5);
	assert_int_equal(bytes_out, 4004);
	v[0] = 6;
	v[100] = v[4600] = 7;
	v[4511] = 8;
	work();
	assert_int_equal(bytes_in, 4004);
	assert_int_equal(there[0], 6);
	assert_int_equal(there[100], 0xee);
	assert_int_equal(there[4600], 0xee);
	assert_int_equal(there[512], 4);
	assert_int_equal(there[4511], 8);
	managed_module_ends(&module);
	variable = 0;
}

/* NVIDIA's library gives the next 512 bytes: each stays what it is until it is freed. */
TEST(small_allocations)
{
	CUdeviceptr ptr[20];
	volatile uint8_t *v;
	int i;

	begin_test();
	managed_freed(base);
	for (i = 0; i < 20; i++) {
		next_at = base + i * 512;
		assert_int_equal(cuMemAllocManaged(&ptr[i], i == 6 ? 1500 : 40, 1), CUDA_SUCCESS);
		assert_int_equal(ptr[i], next_at);
		i += i == 6 ? 2 : 0;
	}
	for (i = 0; i < 20; i += i == 6 ? 3 : 1)
		*(volatile uint8_t *)(uintptr_t)ptr[i] = 100 + i;
	work();
	for (i = 0; i < 20; i += i == 6 ? 3 : 1) {
		assert_int_equal(there[i * 512], 100 + i);
		if (i != 12)
			managed_freed(ptr[i]);
	}
	assert_true(managed_has(ptr[12]));
	assert_false(managed_has(ptr[0]));
	there[12 * 512] = 7;
	v = (uint8_t *)(uintptr_t)ptr[12];
	assert_int_equal(*v, 7);
	/* what comes onto its page later does not take its bytes */
	v[1] = 8;
	next_at = base + 9 * 512;
	assert_int_equal(cuMemAllocManaged(&ptr[9], 40, 1), CUDA_SUCCESS);
	there[13 * 512] = 9;
	assert_int_equal(managed_variables(&module, base + 13 * 512, 40), CUDA_SUCCESS);
	assert_int_equal(there[12 * 512 + 1], 8);
	assert_int_equal(*(volatile uint8_t *)(base + 13 * 512), 9);
	managed_module_ends(&module);
	managed_freed(ptr[9]);
	assert_int_equal(v[1], 8);
	managed_freed(ptr[12]);
	next_at = 0;
}

/*
 * A variable is of its module's server, whatever context is current. Two devices don't have some at
 * once: to the program they are one variable, which has one address.
 */
TEST(variables_of_two_devices)
{
	volatile uint8_t *second;

	begin_test();
	managed_freed(base);
	memset(there, 0, sizeof(there));
	assert_int_equal(managed_variables(&module, base, 4), CUDA_SUCCESS);
	assert_int_equal(managed_variables(&second_module, base, 4), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(managed_variables(&second_module, base + PAGE, 4),
			 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(managed_variables(&second_module, 0, 0), CUDA_SUCCESS);
	assert_int_equal(managed_variables(&module, base + 8, 4), CUDA_SUCCESS);
	managed_module_ends(&module);
	assert_int_equal(managed_variables(&second_module, base + PAGE, 4), CUDA_SUCCESS);
	second = (uint8_t *)(base + PAGE);
	*second = 7;
	work();
	assert_int_equal(there[PAGE], 0);
	managed_work_begins(&peers[1], &second_context);
	managed_work_sent();
	assert_int_equal(there[PAGE], 7);
	managed_module_ends(&second_module);
	managed_end(&second_context);
}

/* If other memory is at the address already, it stays as it is. */
TEST(taken)
{
	CUdeviceptr ptr;
	uint8_t *mine;

	begin_test();
	managed_freed(base);
	mine = mmap((void *)base, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_int_equal((uintptr_t)mine, base);
	*mine = 3;
	assert_int_equal(cuMemAllocManaged(&ptr, BYTES, 1), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(*mine, 3);
	munmap(mine, PAGE);
}

enum { PAGES = 600 };
static struct host_range mapped = { .bytes = PAGES * PAGE - 100, .peer = peers, .ctx = &context };

static void begin_mapped(void)
{
	mapped.at = arena_get(peers, mapped.bytes);
	mirror = calloc(PAGES, PAGE);
	mirror_at = mapped.at;
	mapped.base = mremap(arena_at(peers, mapped.at), 0, PAGES * PAGE, MREMAP_MAYMOVE);
	assert_true(mapped.base != MAP_FAILED);
	mapped.base[7] = 5;
	assert_true(mapped_begin(&mapped));
	at = mapped.base;
	count_anew();
}

static void end_mapped(void)
{
	busy = false;
	munmap(mapped.base, PAGES * PAGE);
	arena_put(peers, mapped.at);
	free(mirror);
	begin_test(); /* for tear_down() */
}

/*
 * Mapped memory is a part of the arena, mapped a second time. Its pages come and go without another
 * copy. What it had before it was mapped memory goes out whole.
 */
TEST(mapped_memory)
{
	const uint64_t last = mapped.bytes - 1;

	begin_mapped();
	assert_true(managed_has((uintptr_t)mapped.base + last));
	at[last] = 6;
	work();
	assert_int_equal(bytes_in, PAGES * PAGE);
	assert_int_equal(frames_in, 3); /* of 1 MiB at most */
	assert_int_equal(mirror[7], 5);
	assert_int_equal(mirror[last], 6);
	mirror[8] = 9;
	assert_int_equal(at[8], 9);
	assert_int_equal(bytes_out, 4 * PAGE);
	at[100 * PAGE] = 3;
	work();
	assert_int_equal(mirror[100 * PAGE], 3);
	mapped_end(mapped.base + PAGE);
	assert_true(managed_any());
	mapped_end(mapped.base);
	assert_false(managed_any());
	/* pinned memory as before; it goes with its context */
	at[200 * PAGE] = 4;
	assert_int_equal(at[7], 5);
	assert_true(mapped_begin(&mapped));
	work();
	managed_end(&context);
	at[6 * PAGE] = 1;
	end_mapped();
}

/*
 * A touch is one turn, and so is a write to a page that was read: whether there is work the watcher
 * asks. When it has heard that there is none, pages go out whole.
 */
TEST(mapped_memory_in_one_turn)
{
	begin_mapped();
	work();
	count_anew();
	asked = 0;
	mirror[8] = 9;
	assert_int_equal(at[8], 9);
	at[8] = 10;
	assert_int_equal(asked, 0);
	while (!__atomic_load_n(&idles, __ATOMIC_ACQUIRE))
		;
	for (;;) {
		count_anew();
		at[9] = 11;
		work();
		if (bytes_in == PAGE)
			break;
		usleep(1000);
	}
	assert_int_equal(words_in, 0);
	assert_int_equal(mirror[9], 11);
	mapped_end(mapped.base);
	end_mapped();
}

/*
 * While the GPU has work a touch does not wait for it. Then words that the program changes go out
 * alone, and what was opened is fetched again: after a while, and when a call has waited.
 */
TEST(mapped_memory_meanwhile)
{
	volatile uint32_t *word;
	uint32_t *there_word;

	begin_mapped();
	word = (volatile uint32_t *)at;
	there_word = (uint32_t *)mirror;
	work();
	busy = true;
	count_anew();
	word[10] = 1;
	__atomic_store_n(&there_word[11], 2, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&words_in, __ATOMIC_ACQUIRE))
		;
	assert_int_equal(words_in, 1);
	assert_int_equal(there_word[10], 1);
	assert_int_equal(there_word[11], 2);
	while (word[11] != 2)
		;
	__atomic_store_n(&there_word[12], 3, __ATOMIC_RELEASE);
	while (word[12] != 3)
		;
	/* many words of a page, ahead of more work */
	memset(mapped.base + 5 * PAGE, 0x11, PAGE);
	work();
	assert_int_equal(words_in, 1 + 1024);
	assert_int_equal(mirror[6 * PAGE - 1], 0x11);
	assert_int_equal(bytes_in, 0);
	/* a wait */
	word[20] = 6;
	there_word[21] = 7;
	managed_waited();
	assert_int_equal(there_word[20], 6);
	assert_int_equal(word[21], 7);
	/* ahead of a wait for work that may wait for the word */
	count_anew();
	word[22] = 8;
	managed_wait_begins(peers);
	assert_int_equal(there_word[22], 8);
	assert_int_equal(words_in, 1);
	mapped_end(mapped.base);
	end_mapped();
}

static volatile unsigned int first_got, second_got;
static struct sigaction replaced;
static sigjmp_buf after;

static void first(int signal)
{
	first_got++;
	siglongjmp(after, 1);
}

/* as what prints a stack does */
static void second(int signal, siginfo_t *info, void *context)
{
	if (++second_got < 10)
		replaced.sa_sigaction(signal, info, context);
	siglongjmp(after, 1);
}

/* Where Linux divides no mapping any more, what is written and read is right all the same. */
TEST(too_many_mappings)
{
	unsigned int i, round;

	begin_test();
	for (round = 1; round < 4; round++) {
		divides.left = 100;
		for (i = 0; i < BYTES; i += 2 * PAGE)
			at[i] = round;
		divides.left = 0; /* what is sent is closed before, too */
		work();
		for (i = 0; i < BYTES; i += PAGE)
			assert_int_equal(there[i], i / PAGE % 2 ? round - 1 : round);
		/* what the GPU writes */
		for (i = PAGE; i < BYTES; i += 2 * PAGE)
			there[i] = round;
		divides.left = 10;
		for (i = 0; i < BYTES; i += 7 * PAGE)
			assert_int_equal(at[i], round);
		managed_waited();
	}
}

/* A page that Linux opens in no way is a fault of the program's. */
TEST(never_opened)
{
	volatile unsigned int faults = 0;

	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = first, .sa_flags = SA_NODEFER },
		  NULL);
	begin_test();
	divides.left = 0;
	divides.all = true;
	if (sigsetjmp(after, 1))
		faults++;
	else
		at[5] = 1;
	assert_int_equal(faults, 1);
	divides.all = false;
	at[5] = 1;
	work();
	assert_int_equal(there[5], 1);
}

/*
 * A handler that the program has set after ours, and that hands on to ours, gets each fault of the
 * program's once, and so does the handler from before ours.
 */
TEST(a_handler_hands_on)
{
	unsigned int i;

	first_got = 0;
	sigaction(SIGSEGV, &(struct sigaction){ .sa_handler = first, .sa_flags = SA_NODEFER },
		  NULL);
	begin_test();
	sigaction(SIGSEGV,
		  &(struct sigaction){ .sa_sigaction = second,
				       .sa_flags = SA_SIGINFO | SA_NODEFER },
		  &replaced);
	for (i = 1; i < 5; i++) {
		work();
		at[5] = i;
		assert_int_equal(second_got, i - 1);
		if (!sigsetjmp(after, 1))
			*(volatile int *)16 = 1;
		assert_int_equal(second_got, i);
		assert_int_equal(first_got, i);
	}
}

int main(void)
{
	if (sysconf(_SC_PAGESIZE) != PAGE)
		return 0;
	peer_init(&peers[0]);
	peer_init(&peers[1]);
	nr_peers = 2;
	arena_init(&peers[0]);
	arena_init(&peers[1]);
	return unit_tests_run(NULL, tear_down, NULL, NULL);
}
