// SPDX-License-Identifier: MIT
/* A state that another build has written: what this one knows is read, what it does not is left. */
#include <selftests/unit_test.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <remote/supervisor/state.h>

struct theirs {
	uint64_t number;
	char word[16];
	int fd, newer;
	bool said;
};
static const struct state_field of_theirs[] = {
	STATE(struct theirs, number),	STATE(struct theirs, word), STATE_FD(struct theirs, fd),
	STATE_FD(struct theirs, newer), STATE(struct theirs, said), STATE_END
};
/* the same names, but for two members */
struct ours {
	uint64_t number, kept;
	char word[16];
	int fd;
	bool said;
};
static const struct state_field of_ours[] = { STATE(struct ours, number), STATE(struct ours, kept),
					      STATE(struct ours, word),	  STATE_FD(struct ours, fd),
					      STATE(struct ours, said),	  STATE_END };

static struct theirs t;
static struct ours o;
static unsigned int at;

static int set_up(void **state)
{
	t = (struct theirs){ UINT64_MAX, "a b=c@1", open("/dev/null", O_RDONLY | O_CLOEXEC),
			     open("/dev/null", O_RDONLY), true };
	o = (struct ours){ .kept = 7, .fd = -1 };
	return t.fd <= STDERR_FILENO || t.newer < 0;
}

static int tear_down(void **state)
{
	close(t.fd);
	close(t.newer);
	return 0;
}

/* a state with that record, between others */
static int state_of(const struct state_field *fields, const void *of)
{
	int fd = state_begin();

	state_write(fd, "other", 0, of_theirs, &t);
	state_write(fd, "one", 1234, fields, of);
	assert_int_equal(state_seal(fd), 0);
	assert_int_not_equal(ftruncate(fd, 1), 0);
	return fd;
}

static const char *read_back(const struct state_field *fields, const void *of, const char *kind)
{
	int fd = state_of(fields, of);
	const char *why, *s = state_open(fd, &why), *record, *wrong;

	close(fd);
	assert_non_null(s);
	record = state_next(s, NULL, kind);
	assert_non_null(record);
	assert_null(state_next(s, record, kind));
	wrong = state_read(record, &at, of_ours, &o);
	state_close(s);
	return wrong;
}

TEST(another_builds_record)
{
	assert_null(read_back(of_theirs, &t, "one"));
	assert_int_equal(at, 1234);
	assert_true(o.number == UINT64_MAX && o.said && o.kept == 7);
	assert_string_equal(o.word, "a b=c@1");
	assert_int_equal(o.fd, t.fd);
	assert_true(fcntl(o.fd, F_GETFD) & FD_CLOEXEC);
	/* nobody would close it else */
	assert_int_equal(fcntl(t.newer, F_GETFD), -1);
}

TEST(descriptors_that_exec_keeps)
{
	int fd = state_of(of_theirs, &t);
	const char *why, *s = state_open(fd, &why);

	state_descriptors(s, 0);
	assert_int_equal(fcntl(t.fd, F_GETFD), 0);
	state_descriptors(s, FD_CLOEXEC);
	assert_int_equal(fcntl(t.newer, F_GETFD), FD_CLOEXEC);
	state_close(s);
	close(fd);
}

TEST(records_of_a_kind_that_is_not_known)
{
	const struct state_field theirs[] = { STATE_FD(struct theirs, newer), STATE_END };
	const struct state_field known[] = { STATE_FD(struct theirs, fd), STATE_END };
	int fd = state_begin();
	const char *why, *s;

	state_write(fd, "other", 0, theirs, &t);
	state_write(fd, "one", 0, known, &t);
	assert_int_equal(state_seal(fd), 0);
	s = state_open(fd, &why);
	state_descriptors(s, 0);
	assert_null(state_read(state_next(s, NULL, "one"), &at, of_ours, &o));
	state_close_rest(s);
	assert_int_equal(fcntl(t.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(t.newer, F_GETFD), -1);
	state_close(s);
	close(fd);
}

/* Members of other sizes, and a descriptor that is not open. */
TEST(what_does_not_fit)
{
	struct {
		char number[30], word[30];
		uint32_t fd, said;
	} odd = { "18446744073709551616", "more than fifteen", 5, 2 };
#define ODD(member, what)                                                             \
	{                                                                             \
#member, (char *)&odd.member - (char *)&odd, sizeof(odd.member), what \
	}
	const struct state_field wrong[][2] = { { ODD(number, STATE_TEXT), STATE_END },
						{ ODD(word, STATE_TEXT), STATE_END },
						{ ODD(fd, STATE_NUMBER), STATE_END },
						{ ODD(said, STATE_NUMBER), STATE_END } };
	unsigned int i;

	for (i = 0; i < 4; i++)
		assert_string_equal(read_back(wrong[i], &odd, "one"), wrong[i][0].name);
	close(t.fd);
	assert_string_equal(read_back(of_theirs, &t, "one"), "fd");
}

TEST_MAIN(set_up, tear_down)
