// SPDX-License-Identifier: GPL-2.0-only
/*
 * attack SOCKET PAGE FRAMES SEED: a client that attacks kvgpu-remoted, in one session after the
 * other, until it has taken FRAMES frames: those that came before a frame which it has answered.
 * Prints what was done. Exit code 1: the server did what it must not.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link.h"
#include "page.h"

enum { ANSWER_S = 60, SMALL = 1024, LARGE = 8192, PRINT_EACH = 10000000 };

static struct {
	const char *path;
	const struct flood_page *page;
	uint64_t wanted, taken; /* frames */
	uint64_t asked, succeeded; /* answers; those with CUDA_SUCCESS */
	uint64_t sessions[LINK_KINDS], broken, refused, left, clean;
	uint64_t printed;
	int stalled;
} run = { .stalled = -1 };

static struct link conn;
static uint64_t sent; /* frames behind the last answered probe */

static unsigned int below(unsigned int n)
{
	return flood_below(n);
}

static void fail(const char *doing, const char *what) __attribute__((noreturn));
static void fail(const char *doing, const char *what)
{
	static const char *const kinds[] = { "aperture", "stream", "relay" };

	printf("FAIL: %s, after %" PRIu64 " frames, %s: %s\n", kinds[conn.kind], run.taken, doing,
	       what);
	exit(1);
}

static const char *why(const char *otherwise)
{
	return conn.wrong ? conn.wrong : otherwise;
}

static void answered(void *ctx, const struct flood_frame *f, uint32_t result,
		     const uint64_t *payload, size_t bytes)
{
	run.asked++;
	if (!result) {
		run.succeeded++;
		flood_reached(f);
	}
	flood_learn(payload, bytes);
}

static unsigned int waiting(void)
{
	return LINK_COMPLETIONS - conn.nr_free;
}

/* ------------------------------------------------------------------ frames */

static void ask(const struct flood_frame *f)
{
	if (!link_ask(&conn, f))
		fail("a frame", why("the server has ended the connection"));
	sent++;
}

static void tell(unsigned int op, const void *payload, size_t n)
{
	if (!link_send(&conn, op, 0, payload, n))
		fail("a frame", why("the server has ended the connection"));
	sent++;
}

static void probe(void)
{
	if (!link_probe(&conn, ANSWER_S))
		fail("a frame with a box", why("no answer"));
	run.taken += sent;
	sent = 0;
	if (run.taken - run.printed < PRINT_EACH)
		return;
	run.printed = run.taken;
	printf("# %" PRIu64 " frames\n", run.taken);
	fflush(stdout);
}

static void new_context(void)
{
	struct flood_frame f = { .op = OP_cuCtxCreate_v2, .words = 1 };

	ask(&f);
}

static void new_memory(void)
{
	struct flood_frame f = { .op = OP_cuMemAlloc_v2, .words = 1, .word = { 1 << 20 } };

	ask(&f);
}

static void enter(void)
{
	uint64_t words[2] = { flood_handle(CLASS_CONTEXT), 0 };

	tell(OP_current, words, sizeof(words));
}

/* bytes for the server's copy of the arena; a relay has put them there */
static void push(uint64_t at, const void *bytes, size_t n)
{
	struct kvgpu_remote_piece piece = { at, n };

	tell(KVGPU_REMOTE_OP_PUSH, &piece, sizeof(piece));
	if (conn.kind == LINK_STREAM && !link_raw(&conn, bytes, n))
		fail("a piece", why("the server has ended the connection"));
}

static void push_something(void)
{
	uint64_t words[32], n = 8 * (1 + below(32));
	unsigned int i;

	for (i = 0; i < 32; i++)
		words[i] = flood_word();
	push(below(2) ? conn.arena_bytes - n : flood_random() % (conn.arena_bytes - n), words, n);
}

/* a module of what looks like PTX, and a function of some module */
static void new_module(void)
{
	static const char text[16] = ".version 7.8\n";
	struct q_image q = { .bytes = sizeof(text) };
	struct q_function function = { .module = flood_handle(CLASS_MODULE), .name_bytes = 2 };
	struct flood_frame f = { .op = OP_image, .words = sizeof(q) / 8 };

	if (conn.arena)
		memcpy(conn.arena, text, sizeof(text));
	else
		push(0, text, sizeof(text));
	memcpy(f.word, &q, sizeof(q));
	ask(&f);
	f = (struct flood_frame){ .op = OP_function, .words = sizeof(function) / 8 + 1 };
	memcpy(f.word, &function, sizeof(function));
	f.word[f.words - 1] = 'f';
	ask(&f);
}

/* objects end with their contexts, and chance makes few new ones */
static void new_object(void)
{
	static const uint16_t made[] = { OP_cuStreamCreate,   OP_cuEventCreate, OP_cuGraphCreate,
					 OP_cuArrayCreate_v2, OP_user_object,	OP_link_create,
					 OP_instantiate };
	unsigned int i = below(sizeof(made) / sizeof(*made) + 1);
	struct flood_frame f;

	if (i == sizeof(made) / sizeof(*made)) {
		new_module();
		return;
	}
	flood_make_of(&f, made[i]);
	ask(&f);
}

/* of the channel itself: they get no answer */
static bool has_no_answer(const struct flood_frame *f)
{
	return conn.kind != LINK_SHMEM &&
	       ((f->op == KVGPU_REMOTE_OP_ACK && f->words == 1) ||
		(f->op == KVGPU_REMOTE_OP_SPOILT && conn.kind == LINK_RELAY));
}

/* with work for the library's thread, which chance makes too seldom */
static const uint16_t work[] = { OP_copy_in,
				 OP_copy_out,
				 OP_box,
				 OP_host_call,
				 OP_host_node,
				 OP_copy_node,
				 OP_cuMemsetD32Async,
				 OP_cuEventRecord,
				 OP_cuStreamWaitEvent,
				 OP_cuStreamSynchronize,
				 OP_cuStreamQuery,
				 OP_cuEventSynchronize,
				 OP_cuGraphAddChildGraphNode,
				 OP_cuGraphDestroy };

static void step(void)
{
	struct flood_frame f;

	if (below(8))
		flood_make(&f);
	else
		flood_make_of(&f, work[below(sizeof(work) / sizeof(*work))]);
	if (conn.kind != LINK_SHMEM &&
	    ((f.op == KVGPU_REMOTE_OP_PUSH && f.words == 2) || !below(64)))
		push_something();
	else if (has_no_answer(&f) || !below(4))
		tell(f.op, f.word, 8 * f.words);
	else
		ask(&f);
}

static void batch(void)
{
	unsigned int i, n = 64 + below(below(2) ? SMALL : LARGE);

	for (i = 0; i < n; i++) {
		if (i % 256 == 0)
			new_context();
		if (i % 16 == 0)
			enter();
		if (i % 32 == 0)
			new_object();
		step();
		if (i % 64 == 0) {
			link_tamper(&conn);
			if (!link_flush(&conn) || !link_answers(&conn, 0))
				fail("frames", why("the server has ended the connection"));
		}
	}
	if (!link_flush(&conn))
		fail("frames", why("the server has ended the connection"));
	link_tamper(&conn);
	probe();
}

/* ------------------------------------------------------------------ ends of sessions */

/* The server answers each frame, however late: what its frames wait for happens. */
static void end_clean(void)
{
	struct flood_frame f = { .op = OP_fence, .words = 1, .word = { conn.seq } };
	unsigned int rounds;

	ask(&f);
	probe();
	for (rounds = 0; waiting() && rounds < ANSWER_S * 20; rounds++) {
		if (!link_answers(&conn, 50))
			fail("the end", why("the server has ended the connection"));
	}
	if (waiting())
		fail("the end", "frames are not answered");
	run.clean++;
}

static void end_in_the_middle(void)
{
	unsigned int i;

	for (i = below(200); i; i--)
		step();
	if (below(2))
		link_flush(&conn);
	run.left++;
}

/* functions that the client never acknowledges, and a call that waits for them */
static void end_mute(void)
{
	struct q_host_call q = { .stream = flood_handle(CLASS_STREAM), .id = 7 };
	struct flood_frame f = { .op = OP_cuCtxSynchronize };
	unsigned int i;

	__atomic_store_n(&conn.acks, false, __ATOMIC_RELAXED);
	for (i = 0; i < 100; i++)
		tell(OP_host_call, &q, sizeof(q));
	ask(&f);
	link_flush(&conn);
	usleep(20000);
	run.left++;
}

static void end_broken(void)
{
	const char *name;

	run.broken++;
	if (!link_break(&conn, &name))
		return;
	run.refused++;
	if (!link_ends(&conn, ANSWER_S))
		fail(name, "the server goes on");
}

static void end(void)
{
	unsigned int how = below(16);

	if (!how)
		end_mute();
	else if (how < 3)
		end_in_the_middle();
	else if (how < 9)
		end_clean();
	else
		end_broken();
	link_close(&conn);
	sent = 0;
}

/* ------------------------------------------------------------------ sessions */

/* From now on the library is on this client's side. */
static void begin_to_attack(void)
{
	struct flood_frame f = { .op = OP_cuDeviceGetByPCIBusId };
	struct q_cuDeviceGetByPCIBusId q = { 0 };
	char text[64] = { 0 };

	q.id_bytes = snprintf(text, sizeof(text), FLOOD_ATTACKS "%" PRIu64, flood_random()) + 1;
	memcpy(f.word, &q, sizeof(q));
	memcpy((uint8_t *)f.word + sizeof(q), text, sizeof(text));
	f.words = (sizeof(q) + q.id_bytes + 7) / 8;
	ask(&f);
}

static uint64_t length(void)
{
	uint64_t n = below(2) ? 1000 + below(20000) :
		     below(4) ? 20000 + below(80000) :
				100000 + below(200000),
		 most = run.wanted / 64 + 1000, left = run.wanted - run.taken;

	n = n < most ? n : most;
	return n < left ? n : left;
}

static void session(void)
{
	enum link_kind kind = below(4) ? LINK_SHMEM : LINK_STREAM + below(2);
	const char *what = link_open(&conn, run.path, kind);
	uint64_t until = run.taken + length();

	if (what)
		fail("a new client", what);
	conn.answered = answered;
	run.sessions[kind]++;
	flood_session(conn.arena_bytes);
	begin_to_attack();
	new_context();
	probe();
	enter();
	new_memory();
	while (run.taken < until)
		batch();
	end();
	while (!below(2)) {
		what = link_hello(run.path, &run.stalled);
		if (what)
			fail("a hello", what);
	}
}

static void report(void)
{
	uint64_t frames;
	unsigned int operations = flood_operations(&frames), all, rules = link_rules(&all);

	printf("taken=%" PRIu64 " asked=%" PRIu64 " succeeded=%" PRIu64 " operations=%u of=%u\n",
	       run.taken, run.asked, run.succeeded, operations, KVGPU_REMOTE_OPS - OP_current);
	printf("apertures=%" PRIu64 " streams=%" PRIu64 " relays=%" PRIu64, run.sessions[0],
	       run.sessions[1], run.sessions[2]);
	printf(" clean=%" PRIu64 " left=%" PRIu64 " broken=%" PRIu64 " refused=%" PRIu64 "\n",
	       run.clean, run.left, run.broken, run.refused);
	printf("rules=%u rules_of=%u\n", rules, all);
	printf("calls=%" PRIu64 " ends=%" PRIu64 " later=%" PRIu64 " verified=%" PRIu64 "\n",
	       run.page->calls, run.page->ends, run.page->later, run.page->verified);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 5)
		return 2;
	run.path = argv[1];
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	run.page = mmap(NULL, sizeof(*run.page), PROT_READ, MAP_SHARED, fd, 0);
	if (fd < 0 || run.page == MAP_FAILED)
		return 2;
	run.wanted = strtoull(argv[3], NULL, 0);
	flood_begin(strtoull(argv[4], NULL, 0));
	while (run.taken < run.wanted)
		session();
	report();
	return 0;
}
