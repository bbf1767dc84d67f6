// SPDX-License-Identifier: MIT
/* Channels whose server is chance: see liar.h. */
#include <sys/uio.h>
#include <errno.h>
#include <stdlib.h>
#include <sched.h>

#include <cuda/api/jit.h>

#include <remote/channel/tls.h>

#include "liar.h"

enum { COMPLETIONS = 64, KNOWN = 16, COPIES = 8, INDEXES = 2048 };

struct inbox {
	bool taken; /* atomic */
	uint16_t op;
	_Alignas(8) uint8_t frame[KVGPU_REMOTE_PAYLOAD_MAX];
	uint8_t *payload; /* an answer lies at the end of so much memory */
};

struct kvgpu_remote_channel {
	unsigned int peer;
	uint8_t *arena;
	uint64_t arena_bytes; /* atomic */
	uint64_t seq;
	struct inbox completion[COMPLETIONS];
	uint64_t known[NR_CLASSES][KNOWN];
	unsigned int nr_known[NR_CLASSES];
	struct q_copy_node copies[COPIES];
	unsigned int nr_copies;
};

static struct kvgpu_remote_channel channels[2];
static unsigned int nr_channels;
void (*liar_says)(struct liar_frame *f);
uint64_t liar_acks, liar_sent, liar_told;
unsigned int liar_lies = 16;
bool liar_manages;
const struct kvgpu_remote_relayed *liar_relays;
unsigned int liar_fetches, liar_lines;

/* ------------------------------------------------------------------ chance */

static __thread uint64_t state = 1;
static __thread const uint8_t *bytes, *bytes_end;

void liar_seed(uint64_t seed, const uint8_t *data, size_t n)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	bytes = data;
	bytes_end = data ? data + n : NULL;
}

bool liar_has_more(void)
{
	return !bytes || bytes < bytes_end;
}

static uint64_t some(unsigned int n)
{
	uint64_t w = 0;

	while (n-- && bytes < bytes_end)
		w = w << 8 | *bytes++;
	return w;
}

/* xorshift64* */
uint64_t liar_random(void)
{
	if (bytes)
		return some(8);
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

unsigned int liar_below(unsigned int n)
{
	return (bytes ? some(n > 256 ? 2 : 1) : liar_random() >> 33) % n;
}

static bool lies(void)
{
	return liar_lies && !liar_below(liar_lies);
}

/* ------------------------------------------------------------------ words of an answer */

static uint64_t known(struct kvgpu_remote_channel *c, unsigned int class)
{
	unsigned int n = c->nr_known[class];

	return n ? c->known[class][liar_below(n < KNOWN ? n : KNOWN)] : 0;
}

static uint64_t lie(struct kvgpu_remote_channel *c)
{
	uint64_t w = liar_random();

	switch (liar_below(12)) {
	case 0:
	case 1:
		return known(c, 1 + liar_below(NR_CLASSES - 1));
	case 2:
		return known(c, 1 + liar_below(NR_CLASSES - 1)) ^ 1ull << liar_below(64);
	case 3: /* a slot that is in use */
		return KVGPU_REMOTE_INDEX(known(c, 1 + liar_below(NR_CLASSES - 1))) |
		       (uint64_t)(1 + liar_below(4)) << 32 |
		       (uint64_t)(1 + liar_below(NR_CLASSES - 1)) << 56;
	case 4:
		return liar_below(256);
	case 5:
		return 1ull << liar_below(64);
	case 6:
		return ~(uint64_t)liar_below(16);
	case 7:
		return (uintptr_t)channels[liar_below(nr_channels)].arena + liar_below(8192);
	case 8:
		return (uintptr_t)__builtin_frame_address(0);
	case 9:
		return (uint64_t)liar_below(8192) << 12;
	case 10:
		return (uint64_t)liar_below(1 << 16) << 32 | liar_below(1 << 16);
	}
	return w;
}

static uint64_t number(struct kvgpu_remote_channel *c, unsigned int class)
{
	static unsigned int last;
	uint64_t id;

	if (!liar_below(3) && c->nr_known[class])
		return known(c, class);
	id = 1 + last++ % INDEXES;
	id |= (uint64_t)(1 + liar_below(4)) << 32 | (uint64_t) class << 56;
	c->known[class][c->nr_known[class]++ % KNOWN] = id;
	return id;
}

static uint32_t narrow(void)
{
	static const uint32_t large[] = { 32,	64,    255,	  1024,	     4096,
					  4097, 65536, INT32_MAX, UINT32_MAX };

	return liar_below(6) ? liar_below(4) : large[liar_below(sizeof(large) / sizeof(*large))];
}

static uint64_t word_of(struct kvgpu_remote_channel *c, unsigned int what)
{
	if (lies())
		return lie(c);
	if (what == LIAR_NARROW)
		return (uint64_t)narrow() << 32 | narrow();
	if (what)
		return number(c, what);
	return liar_below(2) ? liar_below(LIAR_LIST + 1) : 0x700000000 + (liar_below(256) << 12);
}

/* ------------------------------------------------------- answers that chance would hardly make */

static void say_function(struct liar_frame *f)
{
	struct a_function *a = (void *)f->word;
	uint32_t *layout = (uint32_t *)(f->word + sizeof(*a) / 8), i;

	a->parameters = liar_below(4);
	a->layout_known = 1;
	for (i = 0; i < 10; i++)
		a->attribute_known[i] = a->attribute[i] = 1024;
	for (i = 0; i < a->parameters; i++) {
		layout[2 * i] = 8 * i;
		layout[2 * i + 1] = 8;
	}
	f->words += a->parameters;
	for (i = 1; i < f->words; i++)
		if (lies())
			f->word[i] = lie(f->channel);
}

static void say_copy(struct liar_frame *f)
{
	struct kvgpu_remote_channel *c = f->channel;
	const struct q_copy_node *q = f->q;
	struct a_copy_node *a = (void *)f->word;

	c->copies[c->nr_copies++ % COPIES] = *q;
	a->bounce[0] = lies() ? liar_below(8) : q->src[END_BOUNCE];
	a->bounce[1] = lies() ? liar_below(8) : q->dst[END_BOUNCE];
}

static void say_copy_got(struct liar_frame *f)
{
	const struct q_copy_node *q = &f->channel->copies[liar_below(COPIES)];
	struct a_copy_node_get *a = (void *)f->word;
	unsigned int i;

	memcpy(a->src, q->src, sizeof(a->src));
	memcpy(a->dst, q->dst, sizeof(a->dst));
	memcpy(a->size, q->size, sizeof(a->size));
	for (i = 0; i < f->words; i++)
		if (lies())
			f->word[i] = liar_below(2) ? liar_below(8) : lie(f->channel);
}

static void say_address(struct liar_frame *f)
{
	static unsigned int last;
	struct a_global *g = (void *)f->word;
	uint64_t at = 0x500000000000 + ((uint64_t)(last++ % 1024) << 16) + 8 * liar_below(1024);

	if (f->op == OP_managed) {
		f->word[0] = lies() ? lie(f->channel) : at;
	} else if (liar_manages && liar_below(2)) {
		*g = (struct a_global){
			.ptr = at, .bytes = 64, .managed = at, .managed_bytes = 1 + liar_below(8192)
		};
		if (lies())
			f->word[liar_below(4)] = lie(f->channel);
	} else {
		g->managed = g->managed_bytes = 0;
	}
}

static void say_devices(struct liar_frame *f)
{
	struct a_facts *a = (void *)f->word;
	struct a_init *i = (void *)f->word;

	if (f->op == OP_init) {
		*i = (struct a_init){ .devices = 2, .version = 11080 };
		return;
	}
	memset(a->attribute_known, 1, sizeof(a->attribute_known));
	a->attribute[2] = a->attribute[5] = 1024;
}

/* that all of the client's calls are there */
static void say_table(struct liar_frame *f)
{
	f->words = sizeof(struct kvgpu_remote_build) / 8 + TABLE_WORDS;
	memset(f->word + sizeof(struct kvgpu_remote_build) / 8, 0xff, TABLE_WORDS * 8);
}

/* bytes behind the struct, as the frame wants them */
static void say_bytes(struct liar_frame *f)
{
	const struct q_copy_out *q = f->q;
	uint64_t n = 0;

	if (f->op == OP_copy_out && q->at == KVGPU_REMOTE_NOWHERE)
		n = q->bytes;
	else if (f->op == OP_range_attribute)
		n = ((const struct q_range_attribute *)f->q)->size;
	else if (f->op == OP_kernel_node_get)
		n = ((struct a_kernel_node_get *)f->word)->bytes = 8 * liar_below(4);
	else if (f->op == OP_cuTexRefGetBorderColor)
		n = 16;
	if (n > 4096)
		n = 4096;
	f->words += (n + 7) / 8;
}

static void say_list(struct liar_frame *f)
{
	unsigned int class = liar_shapes[f->op].behind, n = 3 * LIAR_LIST, data = 0;

	if (f->op == OP_capture_info) {
		struct a_capture_info *a = (void *)f->word;

		class = CLASS_NODE;
		a->status = liar_below(4) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : narrow();
		n = a->nodes = liar_below(LIAR_LIST);
		data = a->edges ? n : 0;
		if (lies())
			a->nodes = narrow();
	}
	if (!class)
		return;
	if (lies())
		n = liar_below(4096);
	while (n--)
		f->word[f->words++] = word_of(f->channel, class);
	while (data--)
		f->word[f->words++] = liar_below(4);
}

static void say_special(struct liar_frame *f)
{
	switch (f->op) {
	case KVGPU_REMOTE_OP_TABLE:
		return say_table(f);
	case OP_init:
	case OP_facts:
		return say_devices(f);
	case OP_function:
		return say_function(f);
	case OP_copy_node:
		return say_copy(f);
	case OP_copy_node_get:
		return say_copy_got(f);
	case OP_global:
	case OP_managed:
		return say_address(f);
	case OP_pointer:
		if (!lies())
			f->word[0] = liar_below(3) ? CU_MEMORYTYPE_DEVICE : 0;
	}
	say_bytes(f);
	say_list(f);
}

static void say(struct liar_frame *f)
{
	const struct liar_shape *shape = &liar_shapes[f->op];
	unsigned int i;

	for (i = 0; i < shape->words; i++)
		f->word[i] = word_of(f->channel, shape->word[i]);
	say_special(f);
	if (lies() && !liar_below(8))
		f->words = liar_below(f->words + 1);
	if (f->op != OP_init && f->op != KVGPU_REMOTE_OP_TABLE &&
	    !liar_below(liar_lies ? 24 : 1 << 30))
		f->result = liar_below(4) ? liar_below(800) : liar_random();
}

/* ------------------------------------------------------------------ events */

void liar_tell(unsigned int peer, uint32_t event, uint64_t id, size_t n)
{
	const struct kvgpu_remote_notification h = { .kind = event,
						     .id = id,
						     .value = 1 + liar_below(2) };
	uint8_t *room = calloc(1, n ? n : 1);

	client_notified(&peers[peer], &h, room, n);
	free(room);
	__atomic_add_fetch(&liar_told, 1, __ATOMIC_RELAXED);
}

/* text is not told: it would go to the test's own output */
static void tell_something(unsigned int peer)
{
	unsigned int event = 2 + liar_below(6);
	uint64_t id = lies() ? lie(&channels[peer]) : liar_below(32);

	if (!liar_below(8))
		id |= CROSS_FENCE_BIT;
	liar_tell(peer, event, id, lies() ? liar_below(32) : 8);
}

/* ------------------------------------------------------------------ the channel's face */

int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_notified notified,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	struct kvgpu_remote_channel *c = &channels[address[0] - '0'];

	c->peer = c - channels;
	c->arena = malloc(LIAR_ARENA + LIAR_MORE);
	c->arena_bytes = LIAR_ARENA;
	*out = c;
	return c->arena ? 0 : -ENOMEM;
}

void kvgpu_remote_disconnect(struct kvgpu_remote_channel *c)
{
}
void kvgpu_remote_tls_folder(const char *folder)
{
}
void kvgpu_remote_forked(struct kvgpu_remote_channel *c)
{
}
/* SHA-256 is another room's */
bool tls_hash(const void *bytes, size_t n, uint8_t *hash)
{
	memset(hash, 7, KVGPU_REMOTE_HASH);
	return true;
}
bool kvgpu_remote_is_gone(const struct kvgpu_remote_channel *c)
{
	return false;
}
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return !c->peer;
}
void kvgpu_remote_expect(struct kvgpu_remote_channel *c)
{
}

void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *n)
{
	*n = __atomic_load_n(&c->arena_bytes, __ATOMIC_RELAXED);
	return c->arena;
}

uint64_t kvgpu_remote_arena_most(const struct kvgpu_remote_channel *c,
				 enum kvgpu_remote_bound *bound)
{
	*bound = KVGPU_REMOTE_BOUND_PINNED;
	return LIAR_ARENA + (c->peer ? 0 : LIAR_MORE);
}

bool kvgpu_remote_arena_resize(struct kvgpu_remote_channel *c, uint64_t bytes)
{
	if (bytes > LIAR_ARENA + LIAR_MORE)
		abort();
	__atomic_store_n(&c->arena_bytes, bytes, __ATOMIC_RELAXED);
	return true;
}

const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c)
{
	return liar_relays ? &liar_relays[c->peer] : NULL;
}

void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where)
{
	return where == (uintptr_t)c->arena ? c->arena : NULL;
}

unsigned int kvgpu_remote_completion_get(struct kvgpu_remote_channel *c)
{
	unsigned int i;

	for (i = 0; i < COMPLETIONS; i++)
		if (!__atomic_exchange_n(&c->completion[i].taken, true, __ATOMIC_ACQUIRE)) {
			if (!c->completion[i].payload)
				c->completion[i].payload = malloc(KVGPU_REMOTE_PAYLOAD_MAX);
			return i + 1;
		}
	return 0;
}

void kvgpu_remote_completion_put(struct kvgpu_remote_channel *c, unsigned int completion)
{
	__atomic_store_n(&c->completion[completion - 1].taken, false, __ATOMIC_RELEASE);
}

int kvgpu_remote_send(struct kvgpu_remote_channel *c, uint16_t op, unsigned int completion,
		      const struct iovec *parts, unsigned int n, uint64_t *seq)
{
	static uint8_t unread[KVGPU_REMOTE_PAYLOAD_MAX];
	uint8_t *to = completion ? c->completion[completion - 1].frame : unread;
	unsigned int i;

	for (i = 0; i < n; to += parts[i++].iov_len)
		if (parts[i].iov_len)
			memcpy(to, parts[i].iov_base, parts[i].iov_len);
	if (completion)
		c->completion[completion - 1].op = op;
	*seq = ++c->seq;
	__atomic_add_fetch(&liar_sent, 1, __ATOMIC_RELAXED);
	return 0;
}

int kvgpu_remote_push(struct kvgpu_remote_channel *c, uint64_t at, const void *from, uint64_t n)
{
	if (!kvgpu_remote_in_arena(at, n, c->arena_bytes))
		abort();
	if (from)
		memcpy(c->arena + at, from, n);
	return 0;
}

void kvgpu_remote_read_post(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	if (!kvgpu_remote_in_arena(d->at, d->bytes, c->arena_bytes))
		abort();
}

bool kvgpu_remote_read_done(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	if (lies())
		return false;
	memset(d->to, 7, d->bytes);
	return true;
}

int kvgpu_remote_lend(struct kvgpu_remote_channel *c, int file)
{
	return 0;
}

int kvgpu_remote_fetch(struct kvgpu_remote_channel *c, const struct kvgpu_remote_pull *pull)
{
	if (!liar_relays)
		return -ENOTSUP;
	liar_fetches++;
	return 0;
}

int kvgpu_remote_ack(struct kvgpu_remote_channel *c, uint64_t id)
{
	__atomic_add_fetch(&liar_acks, 1, __ATOMIC_RELAXED);
	return 0;
}

int kvgpu_remote_await(struct kvgpu_remote_channel *c, unsigned int completion, uint64_t seq,
		       struct kvgpu_remote_answer *a, const void **payload)
{
	static __thread struct liar_frame f;
	struct inbox *b = &c->completion[completion - 1];

	f.channel = c;
	f.op = b->op;
	f.q = b->frame;
	f.words = liar_shapes[f.op].words;
	f.result = 0;
	if (liar_says) {
		memset(f.word, 0, sizeof(f.word));
		if (f.op == KVGPU_REMOTE_OP_TABLE)
			say_table(&f);
		liar_says(&f);
	} else {
		/* a fence's stream comes, or the call would wait for ever */
		if (f.op == OP_host_call && ((const struct q_host_call *)f.q)->id & CROSS_FENCE_BIT)
			liar_tell(c->peer, KVGPU_REMOTE_NOTIFY_CALL,
				  ((const struct q_host_call *)f.q)->id, 8);
		if (liar_lies && !liar_below(16))
			tell_something(c->peer);
		say(&f);
	}
	*payload = memcpy(b->payload + KVGPU_REMOTE_PAYLOAD_MAX - 8 * f.words, f.word, 8 * f.words);
	*a = (struct kvgpu_remote_answer){ .seq = seq, .result = f.result, .bytes = 8 * f.words };
	__atomic_add_fetch(&liar_told, 1, __ATOMIC_RELAXED);
	return 0;
}

/* ------------------------------------------------------------------ */

/* the client keeps, for the program, what the server has lost; the sanitizer would call it lost */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* instead of what other files of the client print */
void __wrap_client_say(const char *format, ...);
void __wrap_client_say(const char *format, ...)
{
	__atomic_add_fetch(&liar_lines, 1, __ATOMIC_RELAXED);
}

/* The sanitizer's memory about memory is no memory of a program, but the kernel can read it. */
ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nr_to,
				const struct iovec *from, unsigned long nr_from,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nr_to,
				const struct iovec *from, unsigned long nr_from,
				unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *to, unsigned long nr_to,
				const struct iovec *from, unsigned long nr_from,
				unsigned long flags)
{
	enum { SHADOW = 0x7fff8000 };
	uintptr_t at = (uintptr_t)from->iov_base;

	if (at >= SHADOW && at < (1ull << 44) + SHADOW) {
		errno = EFAULT;
		return -1;
	}
	return __real_process_vm_readv(pid, to, nr_to, from, nr_from, flags);
}

/* in the place of jit.c: no compiler is here, and no file is read */
CUresult jit_options(struct jit *j, unsigned int n, CUjit_option *options, void **values)
{
	return CUDA_SUCCESS;
}

CUresult jit_compile(struct jit *j, const char *ptx, size_t n, enum jit_form form, uint8_t **cubin,
		     size_t *size)
{
	return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

CUresult jit_link(struct jit *j, uint8_t *const *cubin, const size_t *size, unsigned int n,
		  uint8_t **result, size_t *result_size)
{
	return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

void jit_say(struct jit *j, const char *fmt, ...)
{
}

void jit_report(struct jit *j)
{
}

CUresult read_file(const char *name, uint8_t **out, size_t *size)
{
	return CUDA_ERROR_FILE_NOT_FOUND;
}

unsigned int find_servers(const char *address[], const char **tls_folder)
{
	address[0] = "0";
	address[1] = "1";
	*tls_folder = NULL;
	return nr_channels;
}

void liar_begin(unsigned int servers)
{
	nr_channels = servers;
	if (cuInit(0))
		abort();
}
