// SPDX-License-Identifier: MIT
/* What a compiler keeps the next program finds: this piece alone, whole, in the user's folder. */
#include <selftests/unit_test.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda/api/export/slots.h>

#include "selftests/own_folder.h"

static int set_up(void **state)
{
	setenv("CUDA_CACHE_PATH", own_folder(), 1);
	unsetenv("CUDA_CACHE_DISABLE");
	unsetenv("CUDA_CACHE_MAXSIZE");
	return 0;
}

static int tear_down(void **state)
{
	char command[700];

	snprintf(command, sizeof(command), "rm -r %s/kvgpu", own_folder());
	return system(command);
}

static struct code_entry *key(unsigned int kind, const char *data, const char *options,
			      unsigned int arch)
{
	struct code_entry *e;

	assert_int_equal(code_cache_open(&e, kind, data, strlen(data), options, "HOST64", "Aug 20",
					 arch),
			 0);
	return e;
}

static void keep(struct code_entry *e, const char *code)
{
	assert_int_equal(code_cache_keep(e, 0, code, strlen(code)), 0);
	code_cache_close(e);
}

/* "": none */
static const char *found(struct code_entry *e)
{
	static char text[200];
	uint32_t bytes = 0;
	void *code = NULL;
	CUresult r = code_cache_find(e, 0, &code, &bytes);

	assert_true(!r == !!code && (!r || r == CUDA_ERROR_NOT_FOUND));
	snprintf(text, sizeof(text), "%.*s", (int)bytes, code ? (char *)code : "");
	code_cache_free(code);
	code_cache_close(e);
	return text;
}

/* the one file in the folder, or "" */
static const char *the_file(void)
{
	static char path[600];
	struct dirent *f;
	DIR *d;

	snprintf(path, sizeof(path), "%s/kvgpu", getenv("CUDA_CACHE_PATH"));
	d = opendir(path);
	assert_non_null(d);
	while ((f = readdir(d)) && *f->d_name == '.') {
	}
	if (f)
		snprintf(path + strlen(path), 300, "/%s", f->d_name);
	else
		*path = 0;
	closedir(d);
	return path;
}

static unsigned int nr_files(void)
{
	char command[700];
	unsigned int n;
	FILE *f;

	snprintf(command, sizeof(command), "ls %s/kvgpu | wc -l", getenv("CUDA_CACHE_PATH"));
	f = popen(command, "r");
	assert_int_equal(fscanf(f, "%u", &n), 1);
	pclose(f);
	return n;
}

TEST(kept)
{
	keep(key(2, "program", "-arch=sm_90", 90), "text");
	assert_string_equal(found(key(2, "program", "-arch=sm_90", 90)), "text");
	assert_string_equal(found(key(1, "program", "-arch=sm_90", 90)), "");
	assert_string_equal(found(key(2, "program", "-arch=sm_90", 80)), "");
	assert_string_equal(found(key(2, "program", "-arch=sm_90 -g", 90)), "");
	assert_string_equal(found(key(2, "program2", "-arch=sm_90", 90)), "");
	keep(key(2, "program", "-arch=sm_90", 90), "another text");
	assert_string_equal(found(key(2, "program", "-arch=sm_90", 90)), "another text");
	assert_int_equal(nr_files(), 1);
}

/* another piece whose name is the same, a file cut short, what is no file, a folder of others */
TEST(odd_files)
{
	char path[600], byte;
	int fd;

	keep(key(2, "program", "", 90), "text");
	strcpy(path, the_file());
	fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, 14), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 14), 1);
	assert_string_equal(found(key(2, "program", "", 90)), "");
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, 14), 1);
	assert_string_equal(found(key(2, "program", "", 90)), "text");
	assert_int_equal(ftruncate(fd, 20), 0);
	assert_string_equal(found(key(2, "program", "", 90)), "");
	close(fd);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_string_equal(found(key(2, "program", "", 90)), "");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(found(key(2, "program", "", 90)), "");
	unlink(path);
	keep(key(2, "program", "", 90), "text");
	snprintf(path, sizeof(path), "%s/kvgpu", getenv("CUDA_CACHE_PATH"));
	assert_int_equal(chmod(path, 0777), 0);
	assert_string_equal(found(key(2, "program", "", 90)), "");
	assert_int_equal(chmod(path, 0700), 0);
}

TEST(bounds)
{
	char data[8], code[1000];
	unsigned int i;

	memset(code, 'c', sizeof(code) - 1);
	code[sizeof(code) - 1] = 0;
	setenv("CUDA_CACHE_MAXSIZE", "4400", 1);
	for (i = 0; i < 9; i++) {
		snprintf(data, sizeof(data), "p%u", i);
		keep(key(1, data, "", 90), code);
		assert_string_not_equal(found(key(1, "p0", "", 90)), ""); /* it was used */
		usleep(20000);
	}
	assert_int_equal(nr_files(), 4);
	assert_string_equal(found(key(1, "p4", "", 90)), "");
	assert_string_not_equal(found(key(1, "p8", "", 90)), "");
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	assert_string_equal(found(key(1, "p8", "", 90)), "");
	unsetenv("CUDA_CACHE_DISABLE");
	unsetenv("CUDA_CACHE_PATH");
	setenv("XDG_CACHE_HOME", own_folder(), 1);
	assert_string_not_equal(found(key(1, "p8", "", 90)), "");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "relative", 1);
	keep(key(1, "p8", "", 90), code);
	assert_string_equal(found(key(1, "p8", "", 90)), "");
}

TEST_MAIN(set_up, tear_down)
