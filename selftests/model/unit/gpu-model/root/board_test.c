// SPDX-License-Identifier: GPL-2.0-only
/* The table of boards, the dies that seeds draw, and corrections by a file of registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model.h"
#include "vbios/image.h"

static const struct {
	const char *name;
	unsigned int chipset, device, tpcs, fbps, gib;
} table[] = {
	{ "k20m", 0x0f0, 0x1028, 13, 5, 5 },  { "k20c", 0x0f0, 0x1022, 13, 5, 5 },
	{ "k20x", 0x0f0, 0x1021, 14, 6, 6 },  { "k40m", 0x0f1, 0x1023, 15, 6, 12 },
	{ "k40c", 0x0f1, 0x1024, 15, 6, 12 }, { "flat", 0x0f0, 0x1028, 13, 5, 5 },
};
#define NR (sizeof(table) / sizeof(table[0]))

static void boards_are_those_of_the_specifications(void **state)
{
	struct gk110_board b;
	unsigned int i;

	for (i = 0; i < NR; i++) {
		assert_true(board_find(table[i].name, &b));
		assert_int_equal(board_check(&b), 0);
		assert_int_equal(b.chipset, table[i].chipset);
		assert_int_equal(b.device, table[i].device);
		assert_int_equal(board_tpcs(&b), table[i].tpcs);
		assert_int_equal(board_fbps(&b), table[i].fbps);
		assert_true(b.vram_size == (uint64_t)table[i].gib << 30);
	}
	assert_false(board_find("k80", &b));
}

static unsigned int u16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

/* The image's PCI id is the board's, and its only row of memory types has the board's strap. */
static void each_board_has_its_rom(void **state)
{
	static struct image img;
	const uint8_t *m, *row;
	struct gk110_board b;
	unsigned int i, k;

	for (i = 0; i < NR; i++) {
		assert_true(board_find(table[i].name, &b));
		assert_true(image_make(&img, table[i].name));
		assert_int_equal(u16(img.rom + u16(img.rom + 0x18) + 6), b.device);
		for (k = 0; img.bit[k].id != 'M'; k++)
			assert_true(k + 1 < img.nr_bit);
		m = img.rom + img.bit[k].table;
		row = img.rom + u16(m + 3);
		assert_int_equal(row[3], 1);
		assert_int_equal(row[row[1]] >> 4, (img.rom + u16(m + 1))[b.ramcfg]);
		assert_in_range(b.ramcfg, 0, m[0] - 1);
	}
	assert_false(image_make(&img, "k80"));
}

static bool same_order(const struct gk110_board *a, const struct gk110_board *b)
{
	return !memcmp(a->device_table, b->device_table, sizeof(a->device_table));
}

static void seeds_draw_legal_dies(void **state)
{
	unsigned int i, seed, orders = 0, shapes = 0, sizes = 0;
	struct gk110_board b, plain, again;

	for (i = 0; i < NR; i++)
		for (seed = 1; seed <= 200; seed++) {
			assert_true(board_find(table[i].name, &plain));
			b = again = plain;
			board_draw(&b, seed);
			board_draw(&again, seed);
			assert_memory_equal(&b, &again, sizeof(b));
			assert_int_equal(board_check(&b), 0);
			assert_int_equal(board_tpcs(&b), table[i].tpcs);
			assert_int_equal(board_fbps(&b), table[i].fbps);
			orders += !same_order(&b, &plain);
			shapes += !!memcmp(b.tpcs, plain.tpcs, sizeof(b.tpcs));
			sizes += b.ctx_size != plain.ctx_size;
		}
	assert_true(orders > 600 && shapes > 300 && sizes > 600);
}

static void impossible_boards_are_refused(void **state)
{
	struct gk110_board good, b;

	assert_true(board_find("k20m", &good));
#define REFUSED(change)                                   \
	do {                                              \
		b = good;                                 \
		change;                                   \
		assert_int_not_equal(board_check(&b), 0); \
	} while (0)
	REFUSED(b.chipset = 0x0f2);
	REFUSED(b.tpcs[4] = 0);
	REFUSED(b.tpcs[0] = 4);
	REFUSED(b.fbp_off = 0x3f);
	REFUSED(b.nr_runlists = 8);
	REFUSED(b.nr_runlists = 6);
	REFUSED(b.pbdma_runlists[2] = 0);
	REFUSED(b.pbdma_runlists[0] = b.pbdma_runlists[1] = b.pbdma_runlists[2] = 0x7f);
	REFUSED(b.device_table[0].type = 1);
	REFUSED(b.device_table[4].id = 5);
	REFUSED(b.nr_devices = 7);
}

static int correct(struct gk110_board *b, const char *text)
{
	char path[] = "/tmp/board_test.XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ret = board_correct(b, path);
	unlink(path);
	return ret;
}

/* Registers of a K40 with GR on runlist 2, decimal and as strings. */
static void a_file_corrects(void **state)
{
	static const char text[] =
		"{\"registers\": {\"0x000000\": \"0x0f1230a1\", \"0x000a00\": 252318755,\n"
		"\"0x002390\": 4, \"0x002394\" : 3, \"0x002398\": 0,\n"
		"\"0x022554\": 0, \"0x502608\": 2, \"0x50a608\": \"0xbadf1100\",\n"
		"\"0x11020c\": 2048, \"0x409804\": 524288,\n"
		/* CE2 with id 1 on runlist 0, then GR with id 5 on runlist 2 */
		"\"0x022700\": \"0x84000032\", \"0x022704\": \"0x0000000f\",\n"
		"\"0x022708\": \"0x94400032\", \"0x02270c\": \"0x00000003\"}}";
	struct gk110_board b;

	assert_true(board_find("k20m", &b));
	assert_int_equal(correct(&b, text), 0);
	assert_int_equal(b.chipset, 0x0f1);
	assert_int_equal(b.device, 0x1023);
	assert_int_equal(b.pbdma_runlists[0], 4);
	assert_int_equal(b.pbdma_runlists[1], 3);
	assert_int_equal(b.pbdma_runlists[2], 0);
	assert_int_equal(b.fbp_off, 0);
	assert_true(b.vram_size == 12ull << 30);
	assert_int_equal(b.tpcs[0], 2);
	assert_int_equal(b.tpcs[1], 3); /* answered with an error code */
	assert_int_equal(b.ctx_size, 512 << 10);
	assert_int_equal(b.nr_devices, 2);
	assert_int_equal(b.nr_runlists, 3);
	assert_int_equal(b.device_table[0].type, ENGINE_CE2);
	assert_int_equal(b.device_table[0].id, 1);
	assert_int_equal(b.device_table[0].runlist, 0);
	assert_int_equal(b.device_table[1].type, ENGINE_GR);
	assert_int_equal(b.device_table[1].id, 5);
	assert_int_equal(b.device_table[1].runlist, 2);
}

static void a_file_without_registers_is_refused(void **state)
{
	struct gk110_board b, was;

	assert_true(board_find("k20m", &b));
	was = b;
	assert_int_not_equal(correct(&b, "{\"board\": \"k20m\"}"), 0);
	assert_int_not_equal(correct(&b, "{\"0x000000\": null}"), 0);
	assert_int_not_equal(board_correct(&b, "/no/such/file"), 0);
	assert_memory_equal(&b, &was, sizeof(b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boards_are_those_of_the_specifications),
		cmocka_unit_test(each_board_has_its_rom),
		cmocka_unit_test(seeds_draw_legal_dies),
		cmocka_unit_test(impossible_boards_are_refused),
		cmocka_unit_test(a_file_corrects),
		cmocka_unit_test(a_file_without_registers_is_refused),
	};

	return cmocka_run_group_tests_name("root/board", tests, NULL, NULL);
}
