// SPDX-License-Identifier: MIT
/*
 * Compiles PTX, and links objects, by the toolkit's ptxas and nvlink: those of $KVGPU_PTXAS (the
 * path of ptxas; nvlink lies beside it) or of $PATH, and by none in a program with rights that its
 * caller lacks. The caller waits for the tool, with its
 * context locked where it loads a module. There is no state but the caller's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit.h"
#include "process.h"

enum { MAX_ARGS = 64, NAME_BYTES = 64, PATH_BYTES = 512 };
#define FILE_MAX (512l << 20)

extern char **environ;

/* ------------------------------------------------------------------ options and messages */

CUresult jit_options(struct jit *j, unsigned int n, CUjit_option *options, void **values)
{
	unsigned int i;

	memset(j, 0, sizeof(*j));
	if (n && (!options || !values))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < n; i++) {
		bool error = options[i] == CU_JIT_ERROR_LOG_BUFFER ||
			     options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
		unsigned int value = (uintptr_t)values[i];

		if ((unsigned int)options[i] >= CU_JIT_NUM_OPTIONS)
			return CUDA_ERROR_INVALID_VALUE;
		switch ((int)options[i]) {
		case CU_JIT_INFO_LOG_BUFFER:
		case CU_JIT_ERROR_LOG_BUFFER:
			j->log[error] = values[i];
			break;
		case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
		case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			j->log_size[error] = value;
			j->size_out[error] = &values[i];
			break;
		case CU_JIT_MAX_REGISTERS:
			j->max_registers = value;
			break;
		case CU_JIT_OPTIMIZATION_LEVEL:
			j->level = value > 4 ? 4 : value;
			j->has_level = true;
			break;
		case CU_JIT_GENERATE_DEBUG_INFO:
			j->debug = value;
			break;
		case CU_JIT_GENERATE_LINE_INFO:
			j->lines = value;
			break;
		case CU_JIT_WALL_TIME:
			j->wall_ms = &values[i];
			break;
		}
	}
	return CUDA_SUCCESS;
}

void jit_say(struct jit *j, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(j->text, sizeof(j->text), fmt, va);
	va_end(va);
	j->failed = true;
}

void jit_report(struct jit *j)
{
	float ms = j->ms;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		size_t n = 0;

		if (j->log[i] && j->log_size[i]) {
			snprintf(j->log[i], j->log_size[i], "%s",
				 j->failed == (i == 1) ? j->text : "");
			n = strlen(j->log[i]);
		}
		if (j->size_out[i])
			*j->size_out[i] = (void *)n;
	}
	if (j->wall_ms)
		memcpy(j->wall_ms, &ms, sizeof(ms));
}

CUresult read_file(const char *name, uint8_t **out, size_t *size)
{
	FILE *f = own_file(fopen(name, "rbe"), "r");
	long n = -1;

	if (!f)
		return CUDA_ERROR_FILE_NOT_FOUND;
	if (!fseek(f, 0, SEEK_END))
		n = ftell(f);
	*out = n >= 0 && n <= FILE_MAX ? malloc(n + 1) : NULL;
	rewind(f);
	if (*out && fread(*out, 1, n, f) != (size_t)n) {
		free(*out);
		*out = NULL;
	}
	fclose(f);
	if (!*out)
		return CUDA_ERROR_INVALID_IMAGE;
	(*out)[n] = 0;
	*size = n;
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ running a tool */

/*
 * Whether this process may start a tool of its caller's, and have children at all. A server's
 * process of kvgpu-remoted may not: a filter of system calls refuses them, after a folder was made
 * for nothing.
 */
static bool may_spawn(struct jit *j)
{
	pid_t pid;

	if (!environment_is_own()) {
		jit_say(j,
			"PTX is not compiled in a program with rights that its caller lacks (set-user-ID, set-group-ID, capabilities), "
			"as $PATH and $KVGPU_PTXAS are the caller's: compile with nvcc -arch=sm_35");
		return false;
	}
	pid = vfork();
	if (!pid)
		_exit(0);
	if (pid < 0)
		jit_say(j,
			"PTX can't be compiled in this process, which may not start ptxas (%s): compile with nvcc -arch=sm_35",
			strerror(errno));
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return pid > 0;
}

/* a temporary folder with so many input files */
struct place {
	char folder[NAME_BYTES];
	unsigned int files;
};

static bool place_open(struct jit *j, struct place *p)
{
	p->files = 0;
	snprintf(p->folder, sizeof(p->folder), "/tmp/kvgpu-jit-XXXXXX");
	if (mkdtemp(p->folder))
		return true;
	jit_say(j, "PTX can't be compiled: no folder for ptxas can be made in /tmp (%s)",
		strerror(errno));
	return false;
}

static void name_of(const struct place *p, const char *what, char *out)
{
	snprintf(out, PATH_BYTES, "%s/%s", p->folder, what);
}

/* nvlink goes by the file's ending */
static void input_name(char what[NAME_BYTES], unsigned int i)
{
	snprintf(what, NAME_BYTES, "%u.cubin", i);
}

static void place_close(struct place *p)
{
	char name[PATH_BYTES], what[NAME_BYTES];
	unsigned int i;

	for (i = 0; i < p->files; i++) {
		input_name(what, i);
		name_of(p, what, name);
		unlink(name);
	}
	name_of(p, "out", name);
	unlink(name);
	name_of(p, "log", name);
	unlink(name);
	rmdir(p->folder);
}

static bool place_add(struct place *p, const void *bytes, size_t n, char *name)
{
	char what[NAME_BYTES];
	FILE *f;
	bool ok;

	input_name(what, p->files++);
	name_of(p, what, name);
	f = own_file(fopen(name, "wbxe"), "w");
	if (!f)
		return false;
	ok = fwrite(bytes, 1, n, f) == n;
	return fclose(f) == 0 && ok;
}

/* $KVGPU_PTXAS, or the tool beside it; else the plain name, for $PATH */
static void find_tool(const char *tool, char *out)
{
	const char *ptxas = secure_getenv("KVGPU_PTXAS"),
		   *slash = ptxas ? strrchr(ptxas, '/') : NULL;

	if (ptxas && !strcmp(tool, "ptxas"))
		snprintf(out, PATH_BYTES, "%s", ptxas);
	else if (slash)
		snprintf(out, PATH_BYTES, "%.*s/%s", (int)(slash - ptxas), ptxas, tool);
	else
		snprintf(out, PATH_BYTES, "%s", tool);
}

/* Errno if the tool can't start. Its messages are in "log", its result in "out". */
static int run_compiler(const struct place *p, char *const argv[])
{
	posix_spawn_file_actions_t actions;
	char log[PATH_BYTES];
	pid_t pid;
	int err;

	name_of(p, "log", log);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, 1, 2);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!err)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return err;
}

static CUresult collect(struct jit *j, const struct place *p, uint8_t **out, size_t *size)
{
	char name[PATH_BYTES];
	uint8_t *log = NULL;
	size_t n;

	name_of(p, "log", name);
	if (!read_file(name, &log, &n))
		snprintf(j->text, sizeof(j->text), "%s", (char *)log);
	free(log);
	name_of(p, "out", name);
	*out = NULL;
	if (!read_file(name, out, size) && *size)
		return CUDA_SUCCESS;
	free(*out);
	*out = NULL;
	j->failed = true;
	if (!strstr(j->text, "'sm_35' is not defined"))
		return CUDA_ERROR_INVALID_PTX;
	jit_say(j,
		"the ptxas that is here is too new to know sm_35: name one of CUDA 11 in $KVGPU_PTXAS");
	return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static CUresult run_and_collect(struct jit *j, const struct place *p, const char *tool,
				char *const argv[], uint8_t **out, size_t *size)
{
	double start = now_ms();
	int err = run_compiler(p, argv);

	j->ms += now_ms() - start;
	if (!err)
		return collect(j, p, out, size);
	jit_say(j,
		"%s, which makes code for sm_35 of this, is not here (%s): compile with nvcc -arch=sm_35, or install the CUDA "
		"toolkit and name its ptxas in $KVGPU_PTXAS",
		tool, strerror(err));
	return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

/* ------------------------------------------------------------------ compiling, linking */

CUresult jit_compile(struct jit *j, const char *ptx, size_t n, enum jit_form form, uint8_t **cubin,
		     size_t *size)
{
	char tool[PATH_BYTES], in[PATH_BYTES], out[PATH_BYTES], registers[NAME_BYTES],
		level[NAME_BYTES], *argv[MAX_ARGS];
	unsigned int k = 0;
	struct place p;
	CUresult r;

	find_tool("ptxas", tool);
	if (!may_spawn(j))
		return CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
	if (!place_open(j, &p))
		return CUDA_ERROR_OPERATING_SYSTEM;
	name_of(&p, "out", out);
	argv[k++] = tool;
	argv[k++] = "-arch=sm_35";
	if (form == JIT_OBJECT)
		argv[k++] = "-c";
	if (j->max_registers) {
		snprintf(registers, sizeof(registers), "-maxrregcount=%u", j->max_registers);
		argv[k++] = registers;
	}
	if (j->has_level) {
		snprintf(level, sizeof(level), "-O%u", j->debug ? 0 : j->level > 3 ? 3 : j->level);
		argv[k++] = level;
	}
	if (j->debug)
		argv[k++] = "-g";
	if (j->lines)
		argv[k++] = "-lineinfo";
	argv[k++] = in;
	argv[k++] = "-o";
	argv[k++] = out;
	argv[k] = NULL;
	r = place_add(&p, ptx, strnlen(ptx, n), in) ?
		    run_and_collect(j, &p, "ptxas", argv, cubin, size) :
		    CUDA_ERROR_OPERATING_SYSTEM;
	place_close(&p);
	return r;
}

CUresult jit_link(struct jit *j, uint8_t *const *cubin, const size_t *size, unsigned int n,
		  uint8_t **result, size_t *result_size)
{
	char tool[PATH_BYTES], out[PATH_BYTES], (*in)[PATH_BYTES] = calloc(n, sizeof(*in)),
						**argv = calloc(n + 5, sizeof(*argv));
	CUresult r = !in || !argv  ? CUDA_ERROR_OUT_OF_MEMORY :
		     !may_spawn(j) ? CUDA_ERROR_JIT_COMPILER_NOT_FOUND :
				     CUDA_SUCCESS;
	unsigned int i, k = 0;
	struct place p;

	if (!r && !place_open(j, &p))
		r = CUDA_ERROR_OPERATING_SYSTEM;
	if (r) {
		free(in);
		free(argv);
		return r;
	}
	find_tool("nvlink", tool);
	name_of(&p, "out", out);
	argv[k++] = tool;
	argv[k++] = "-arch=sm_35";
	for (i = 0; i < n && !r; i++) {
		if (!place_add(&p, cubin[i], size[i], in[i]))
			r = CUDA_ERROR_OPERATING_SYSTEM;
		argv[k++] = in[i];
	}
	argv[k++] = "-o";
	argv[k++] = out;
	if (!r)
		r = run_and_collect(j, &p, "nvlink", argv, result, result_size);
	place_close(&p);
	free(in);
	free(argv);
	return r;
}
