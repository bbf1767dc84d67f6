// SPDX-License-Identifier: MIT
/*
 * Images that are kept for a client's next program: who finds which. What a client, or a process of
 * its that was taken over, says of hashes, sizes and places gives it no other bytes than those of
 * the hash that it asks for, and nothing of another client's.
 */
#include <unistd.h>

#include <remote/channel/tls.h>

#include "ask.h"

enum { ROOM = 4096, LONG = 1000 };

static struct images *ours, *theirs;
static char image[LONG + 1];

static struct images *make(void)
{
	int fd = images_make(ROOM);
	struct images *m;

	assert_true(fd >= 0);
	assert_int_not_equal(ftruncate(fd, 1), 0); /* no process cuts it short for another one */
	assert_null(images_map(fd, ROOM + 1)); /* as a process with another configuration would */
	m = images_map(fd, ROOM);
	close(fd);
	assert_non_null(m);
	return m;
}

static int begin(void **state)
{
	const char *why;

	set_up(state);
	if (tls_load(&why))
		return -1;
	ours = make();
	theirs = make();
	s.images = ours;
	s.options.images = ROOM;
	context();
	return 0;
}

static int end(void **state)
{
	images_unmap(ours, ROOM);
	images_unmap(theirs, ROOM);
	return tear_down(state);
}

/* PTX of @n bytes with its 0, a text for each @number */
static struct q_image of_text(unsigned int number, size_t n)
{
	struct q_image q = { .bytes = n };

	memset(image, '/', n);
	image[n - 1] = 0;
	image[2] = 'a' + number;
	assert_true(tls_hash(image, n, q.hash));
	memcpy(s.arena, image, n);
	return q;
}

static CUresult load(struct q_image q)
{
	CUresult r = fake_frame(&s, OP_image, &q, sizeof(q));

	assert_false(!r && ANSWER(image)->wanted);
	assert_false(!r && !ANSWER(image)->module);
	return r;
}

/* whether the server has it */
static bool has(struct q_image q)
{
	bool wanted;

	q.kept = 1;
	memset(s.arena, 0, LONG); /* what is loaded comes from elsewhere */
	OK(fake_frame(&s, OP_image, &q, sizeof(q)));
	wanted = ANSWER(image)->wanted;
	assert_int_equal(!ANSWER(image)->module, wanted);
	if (!wanted)
		assert_memory_equal(fake_image, image, sizeof(fake_image));
	return !wanted;
}

TEST(the_next_program_has_it)
{
	struct q_image q = of_text(1, LONG), none = q;

	assert_int_equal(GET(keeps, init, .pid = 1), 1);
	assert_false(has(q));
	memset(none.hash, 0, sizeof(none.hash));
	of_text(1, LONG);
	OK(load(none)); /* without a hash */
	assert_false(has(q));
	of_text(1, LONG);
	OK(load(q));
	assert_true(has(q));
	assert_true(has(q));
	assert_false(has(none));
}

/* A module's function is asked for behind its image, whose number the client does not know yet. */
TEST(a_function_with_its_module)
{
	struct {
		struct q_image_function q;
		char name[8];
	} f = { { 2 }, "f" };
	const size_t none = sizeof(f.q);
	const struct a_function *a;
	struct q_image q;
	uint64_t module;

	FAILS(fake_frame(&s, OP_image_function, &f, sizeof(f)), INVALID_HANDLE);
	OK(load(of_text(1, LONG)));
	module = ANSWER(image)->module;
	OK(fake_frame(&s, OP_image_function, &f, sizeof(f)));
	assert_int_equal(ANSWER(image_function)->module, module);
	a = (const struct a_function *)(ANSWER(image_function) + 1);
	assert_int_equal(KVGPU_REMOTE_CLASS(a->function), CLASS_FUNCTION);
	assert_int_equal(a->name_bytes, 0);
	f.q.name_bytes = 9; /* more than there is */
	FAILS(fake_frame(&s, OP_image_function, &f, sizeof(f)), INVALID_VALUE);
	f.q.name_bytes = 0; /* the only one, where there are several */
	FAILS(fake_frame(&s, OP_image_function, &f, none), NOT_FOUND);
	fake_functions = 1;
	OK(fake_frame(&s, OP_image_function, &f, none));
	fake_functions = FAKE_FUNCTIONS;
	assert_int_equal(a->name_bytes, sizeof("kernel"));
	assert_string_equal((const char *)((const uint64_t *)(a + 1) + a->parameters), "kernel");
	/* an image that is none */
	q = of_text(1, LONG);
	q.bytes = 0;
	FAILS(load(q), INVALID_IMAGE);
	FAILS(fake_frame(&s, OP_image_function, &f, none), INVALID_HANDLE);
}

/* an image in parts, the first of which another image has had before */
TEST(of_parts)
{
	struct q_image q = of_text(2, LONG);

	q.parts = 1;
	OK(ASK(image_part, .at = 1, .bytes = 400));
	OK(ASK(image_part, .at = 0, .bytes = 600));
	OK(ASK(image_part, .at = 600, .bytes = 300, .more = 1));
	q.at = 900;
	OK(load(q));
	q.parts = 0;
	assert_true(has(q));
	/* parts in another order have another hash */
	q = of_text(3, LONG);
	q.parts = 1;
	OK(ASK(image_part, .at = 500, .bytes = 500));
	OK(load(q));
	assert_false(has(q));
}

TEST(another_client_has_not)
{
	struct q_image q = of_text(1, LONG);

	OK(load(q));
	s.images = theirs;
	assert_false(has(q));
	s.images = NULL;
	assert_false(has(q));
	assert_int_equal(GET(keeps, init, .pid = 1), 0);
	of_text(1, LONG);
	OK(load(q));
	s.images = ours;
	assert_true(has(q));
}

TEST(lies)
{
	struct q_image q = of_text(1, LONG), lie;

	/* other bytes under the hash: nobody gets them, and the right ones are found afterwards */
	of_text(2, LONG);
	OK(load(q));
	assert_false(has(q));
	of_text(1, LONG);
	OK(load(q));
	assert_true(has(q));
	/* other sizes */
	lie = q;
	lie.bytes = LONG - 1;
	assert_false(has(lie));
	lie.bytes = 0;
	assert_false(has(lie));
	lie.bytes = UINT64_MAX;
	assert_false(has(lie));
	lie.bytes = ROOM + 1;
	assert_false(has(lie));
	/* what the library refuses, or is larger than all the room, pushes out no other one */
	memset(s.arena, 1, LONG);
	FAILS(load(q), INVALID_IMAGE);
	s.options.images = LONG - 1;
	lie = of_text(4, LONG);
	OK(load(lie));
	s.options.images = ROOM;
	assert_false(has(lie));
	of_text(1, LONG);
	assert_true(has(q));
}

TEST(the_oldest_go)
{
	struct q_image q[6];
	unsigned int i;

	for (i = 0; i < 6; i++) {
		q[i] = of_text(i, LONG);
		OK(load(q[i]));
	}
	/* 4 of 1,000 bytes in 4,096 */
	for (i = 0; i < 6; i++) {
		of_text(i, LONG);
		assert_int_equal(has(q[i]), i >= 2);
	}
}

/* A process of the same client's that was taken over writes to all of it. */
TEST(spoilt_memory)
{
	struct q_image q = of_text(1, LONG);
	uint8_t *bytes = (uint8_t *)ours, was;
	size_t at, n = 0;
	unsigned int i;

	OK(load(q));
	for (at = 0; memcmp(bytes + at, image, LONG); at++)
		;
	was = bytes[at + LONG / 2];
	bytes[at + LONG / 2] ^= 1;
	assert_false(has(q));
	bytes[at + LONG / 2] = was;
	assert_true(has(q));
	/* each byte of the positions and of the row */
	for (n = 0; n < 16 + 2 * (32 + 8 + 8); n++)
		for (i = 0; i < 2; i++) {
			was = bytes[n];
			bytes[n] = i ? 0xff : was ^ 1;
			has(q);
			of_text(1, LONG);
			bytes[n] = was;
		}
	assert_true(has(q));
	memset(bytes, 0xff, at);
	assert_false(has(q));
	of_text(1, LONG);
	OK(load(q));
	assert_true(has(q));
}

TEST_MAIN(begin, end)
