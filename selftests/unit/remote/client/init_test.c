// SPDX-License-Identifier: MIT
/*
 * A program with another CUDA runtime: the client says once why it refuses it. There is no server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <remote/client/client.h>

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
unsigned int nr_peers;
bool several;

unsigned int find_servers(const char *address[], const char **tls_folder) { return 0; }
void kvgpu_remote_tls_folder(const char *folder) { }
bool kvgpu_remote_is_gone(const struct kvgpu_remote_channel *c) { return true; }
void kvgpu_remote_forked(struct kvgpu_remote_channel *c) { }
void peer_init(struct peer *p) { }
void arena_init(struct peer *p) { }
void client_happened(void *ctx, const struct kvgpu_remote_happening *h, const void *bytes, size_t n)
{
}
CUresult call_ask(struct call *c, size_t fixed) { return CUDA_ERROR_SYSTEM_NOT_READY; }
int kvgpu_remote_connect(const char *address, uint64_t version, kvgpu_remote_happened happened,
			 void *ctx, struct kvgpu_remote_channel **out, const char **why)
{
	return -1;
}

/* ------------------------------------------------------------------ */

/* What two questions for a private table make the client say on the standard error. */
static void ask_twice(char *said, size_t bytes)
{
	const void *table = said;
	int before = dup(STDERR_FILENO), i;
	FILE *log = tmpfile();

	assert_non_null(log);
	fflush(stderr);
	dup2(fileno(log), STDERR_FILENO);
	for (i = 0; i < 2; i++) {
		table = said;
		assert_int_equal(cuGetExportTable(&table, NULL), CUDA_ERROR_NOT_SUPPORTED);
		assert_null(table);
	}
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(log);
	said[fread(said, 1, bytes - 1, log)] = 0;
	fclose(log);
}

static void private_tables(void **state)
{
	char said[2048];

	ask_twice(said, sizeof(said));
	/* a program with a libcudart.so.13 beside it contains no static runtime */
	assert_non_null(strstr(said, "static CUDA runtime"));
	assert_non_null(strstr(said, "the libcudart.so of a later CUDA"));
	assert_non_null(strstr(said, "\"nvcc -cudart shared\" of CUDA 11\n"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
