// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole model, started as main.c does it: what the first client reads before any reset. A
 * client that goes away resets the device, so this test has only one.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#define main model_main
#include "gpu-model/main.c"
#undef main

#include <cmocka.h>

#include <gk110/pci.h>

#include "vbios/image.h"
#include "vfio/wire.h"

#define VRAM_SIZE (80ull << 20)
#define HANG_S	  60 /* what takes so long hangs */

static char dir[] = "/tmp/kvgpu-start-test-XXXXXX", sock[64], rom[64];
static struct arguments args = { .cfg = { .vram_size = VRAM_SIZE } };
static pthread_t thread;
static int client = -1;

static void *run_main(void *arg)
{
	return (void *)(intptr_t)run(&args);
}

/* Connect when the socket is there. */
static int dial(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(a.sun_path, sock);
	for (unsigned int i = 0; i < HANG_S * 1000; i++) {
		if (!connect(fd, (const struct sockaddr *)&a, sizeof(a)))
			return fd;
		nanosleep(&ms, NULL);
	}
	close(fd);
	return -1;
}

static int setup(void **state)
{
	static struct image img;
	sigset_t set;
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(sock, sizeof(sock), "%s/vfio", dir);
	snprintf(rom, sizeof(rom), "%s/rom", dir);
	image_make(&img, "k20m");
	f = fopen(rom, "wb");
	if (!f || fwrite(img.rom, sizeof(img.rom), 1, f) != 1 || fclose(f))
		return -1;
	board_find("k20m", &args.cfg.board);
	args.vfio.socket = sock;
	args.cfg.vbios_path = rom;
	/* the server waits for SIGTERM, so no thread may take it */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, run_main, NULL))
		return -1;
	client = dial();
	return client < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	void *code;

	kill(getpid(), SIGTERM);
	pthread_join(thread, &code);
	close(client);
	unlink(rom);
	return code || rmdir(dir) ? -1 : 0;
}

/* Send one message; put the end of its reply into @data. */
static void ask(uint16_t cmd, const void *msg, size_t len, void *data, size_t cap)
{
	struct vu_hdr hdr = { .id = 1, .cmd = cmd, .size = sizeof(hdr) + len };
	uint8_t reply[256];
	size_t n;

	assert_int_equal(send(client, &hdr, sizeof(hdr), 0), sizeof(hdr));
	assert_int_equal(send(client, msg, len, 0), len);
	assert_int_equal(recv(client, &hdr, sizeof(hdr), MSG_WAITALL), sizeof(hdr));
	assert_false(hdr.flags & VU_F_ERROR);
	n = hdr.size - sizeof(hdr);
	assert_true(n <= sizeof(reply) && n >= cap);
	assert_int_equal(recv(client, reply, n, MSG_WAITALL), n);
	if (cap)
		memcpy(data, reply + n - cap, cap);
}

static uint32_t bar0(uint64_t reg)
{
	struct vu_region_access a = { .offset = reg, .region = 0, .count = 4 };
	uint32_t v;

	ask(VU_REGION_READ, &a, sizeof(a), &v, sizeof(v));
	return v;
}

/* the words of a K20m: its ROM's copy is in use, and its link is capable of 5 GT/s */
static void configuration_space_is_reset_before_units(void **state)
{
	struct {
		struct vu_region_access a;
		uint16_t v;
	} __attribute__((packed)) on = {
		{ .offset = GK110_PCI_CMD_STA, .region = 7, .count = 2 },
		GK110_PCI_CMD_MEMORY,
	};
	struct vu_version version = { 0 };

	ask(VU_VERSION, &version, sizeof(version), NULL, 0);
	ask(VU_REGION_WRITE, &on, sizeof(on), NULL, 0);
	assert_int_equal(bar0(0x088000), 0x102810de);
	assert_int_equal(bar0(0x088050), 0x00000001); /* ROM_SHADOW */
	assert_int_equal(bar0(0x08c1c0), 0x00120004); /* PPCI_LINK_CAP */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_space_is_reset_before_units),
	};

	alarm(2 * HANG_S); /* the model's end has no other limit */
	return cmocka_run_group_tests_name("start", tests, setup, teardown);
}
