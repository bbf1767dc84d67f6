// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process forks before its first call; parent and children use the GPU side by side. Each must
 * have a file of nouveau's, and with it an address space, of its own. A child of a process that has
 * used the GPU has no driver. Not where the GPU is in the process.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kcmp.h>

#include "check.h"

enum { CHILDREN = 2, N = 65536, ROUNDS = 20, MAX_FILES = 64 };

__global__ void step(uint32_t *x, int n, uint32_t who)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 1664525u + who;
}

static int files(int *fd)
{
	char path[64], to[256];
	int n = 0;

	for (int i = 3; i < 1024 && n < MAX_FILES; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		ssize_t len = readlink(path, to, sizeof(to) - 1);
		if (len > 0 && !strncmp(to, "/dev/dri/", 9))
			fd[n++] = i;
	}
	return n;
}

/* an open file that process @pid does not share */
static bool has_own_file(pid_t pid)
{
	int fd[MAX_FILES], n = files(fd);

	for (int i = 0; i < n; i++) {
		bool shared = false;

		for (int other = 3; other < 1024 && !shared; other++) {
			long same = syscall(SYS_kcmp, getpid(), pid, KCMP_FILE, (long)fd[i],
					    (long)other);

			if (same < 0 && errno != EBADF) {
				perror("kcmp");
				return false;
			}
			shared = !same;
		}
		if (!shared)
			return true;
	}
	return false;
}

static int use_gpu(uint32_t who)
{
	uint32_t *x, host[64], want[64];
	int wrong = 0;

	CHECK(cudaMalloc(&x, N * 4));
	CHECK(cudaMemset(x, 0, N * 4));
	for (int r = 0; r < ROUNDS; r++) {
		step<<<N / 256, 256>>>(x, N, who);
		CHECK_LAUNCH();
		CHECK(cudaDeviceSynchronize());
	}
	memset(want, 0, sizeof(want));
	for (int i = 0; i < 64; i++)
		for (int r = 0; r < ROUNDS; r++)
			want[i] = want[i] * 1664525u + who;
	for (int at = 0; at < N; at += 64) {
		CHECK(cudaMemcpy(host, x + at, sizeof(host), cudaMemcpyDeviceToHost));
		wrong += memcmp(host, want, sizeof(host)) != 0;
	}
	CHECK(cudaFree(x));
	return wrong;
}

static bool late_child_is_told()
{
	uint32_t *x;
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(cudaMalloc(&x, N * 4) != cudaErrorInitializationError);
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

int main()
{
	pid_t parent = getpid(), child[CHILDREN];
	int failed = 0, status, go[2];
	char byte;

	if (pipe(go))
		return 2;
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		if (child[i] < 0)
			return 2;
		if (child[i])
			continue;
		close(go[1]);
		int wrong = use_gpu(1000 + i);
		if (read(go[0], &byte, 1) < 0)	/* until the parent has its files, too */
			return 2;
		exit(wrong ? 1 : !has_own_file(parent) ? 3 : 0);
	}
	close(go[0]);
	int wrong = use_gpu(1);
	close(go[1]);
	for (int i = 0; i < CHILDREN; i++) {
		waitpid(child[i], &status, 0);
		if (status)
			printf("child %d: %s %d\n", i, WIFEXITED(status) ? "exit code" : "signal",
			       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
		failed += status != 0;
	}
	bool told = late_child_is_told();
	return verdict(!wrong && !failed && told, "parent and %d children, %d pieces wrong, %d children failed, a late one was %stold",
		       CHILDREN, wrong, failed, told ? "" : "not ");
}
