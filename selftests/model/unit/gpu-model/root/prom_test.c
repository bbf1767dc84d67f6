// SPDX-License-Identifier: GPL-2.0-only
/*
 * The VBIOS window (root/prom.c) and the check of images (root/rom_image.c). A broken image must be
 * refused with a text that names the fault. PROM is not in the card's list of units: tests call its
 * init and fini, without gk110.lock, as there is no other thread.
 */
#include <unistd.h>

#include "card.h"
#include "vbios/image.h"

static struct image img;
static char path[] = "/tmp/kvgpu-prom-test-XXXXXX";

static void file_write(const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static int group_setup(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int group_teardown(void **state)
{
	unlink(path);
	return 0;
}

static int setup(void **state)
{
	image_make(&img, "k20m");
	*state = card_new("k20m", NULL, 0);
	((struct card *)*state)->g.cfg.vbios_path = path;
	return 0;
}

static int teardown(void **state)
{
	struct card *c = *state;

	if (c->g.prom)
		prom_unit.fini(&c->g);
	card_free(c);
	return 0;
}

static void fix_checksum(void)
{
	uint8_t sum = 0;
	size_t i;

	for (i = 0; i < IMAGE_SIZE - 1; i++)
		sum += img.rom[i];
	img.rom[IMAGE_SIZE - 1] = -sum;
}

static void refused(struct card *c, const void *data, size_t len, const char *says)
{
	c->err[0] = 0;
	file_write(data, len);
	assert_true(prom_unit.init(&c->g) < 0);
	assert_null(c->g.prom);
	if (!strstr(c->err, says) || !strstr(c->err, path) || !strstr(c->err, "make model"))
		fail_msg("wanted '%s' in: %s", says, c->err);
}

static uint8_t *bit_entry(char id)
{
	uint8_t *bit = img.rom, *e;

	while (memcmp(bit,
		      "\xff\xb8"
		      "BIT",
		      6))
		bit++;
	for (e = bit + 12; *e != id; e += 6)
		assert_true(e < img.rom + IMAGE_SIZE);
	return e;
}

static void test_generated_image_is_shown(void **state)
{
	struct card *c = *state;
	const struct mmio_range *r = &prom_unit.ranges[0];
	uint32_t off, v;

	file_write(img.rom, IMAGE_SIZE);
	assert_int_equal(prom_unit.init(&c->g), 0);
	for (off = 0; off < IMAGE_SIZE; off += 4) {
		memcpy(&v, img.rom + off, 4);
		assert_int_equal(r->read(&c->g, r->base + off), v);
	}
	assert_int_equal(r->read(&c->g, r->base + IMAGE_SIZE), ~0u);
	assert_int_equal(r->read(&c->g, r->base + r->size - 4), ~0u);
	r->write(&c->g, r->base, 0, ~0u);
	assert_int_equal(r->read(&c->g, r->base) & 0xffff, 0xaa55);
	c->g.config[0x50] = 1; /* the VBIOS is shadowed: the EEPROM is off */
	assert_int_equal(r->read(&c->g, r->base), ~0u);
}

static void test_missing_file(void **state)
{
	struct card *c = *state;

	unlink(path);
	c->g.cfg.vbios_path = path;
	assert_true(prom_unit.init(&c->g) < 0);
	assert_non_null(strstr(c->err, "No such file"));
	c->g.cfg.vbios_path = "/";
	assert_true(prom_unit.init(&c->g) < 0);
	c->g.cfg.vbios_path = NULL;
	assert_true(prom_unit.init(&c->g) < 0);
}

static void test_sizes(void **state)
{
	static uint8_t big[(1 << 20) + 1];
	struct card *c = *state;
	size_t len;

	refused(c, img.rom, 0, "has only 0 bytes");
	refused(c, img.rom, 511, "has only 511 bytes");
	refused(c, big, sizeof(big), "at most 1048576");
	for (len = 512; len < IMAGE_SIZE; len += 509)
		refused(c, img.rom, len, "truncated");
}

static void test_signatures(void **state)
{
	struct card *c = *state;

	img.rom[1] = 0;
	refused(c, img.rom, IMAGE_SIZE, "begins with 55 00");
	memcpy(img.rom, "NVGI", 4);
	refused(c, img.rom, IMAGE_SIZE, "IFR");
	image_make(&img, "k20m");
	img.rom[0x18] = img.rom[0x19] = 0xff;
	refused(c, img.rom, IMAGE_SIZE, "outside the file");
	img.rom[0x18] = img.rom[0x19] = 0;
	refused(c, img.rom, IMAGE_SIZE, "outside the file");
	image_make(&img, "k20m");
	img.rom[0x40] = 'X';
	refused(c, img.rom, IMAGE_SIZE, "PCIR");
	image_make(&img, "k20m");
	img.rom[0x44] = 0x86;
	img.rom[0x45] = 0x80;
	refused(c, img.rom, IMAGE_SIZE, "8086");
	image_make(&img, "k20m");
	img.rom[0x50] = 0;
	refused(c, img.rom, IMAGE_SIZE, "0 bytes");
}

static void test_checksum(void **state)
{
	struct card *c = *state;

	img.rom[0x800] ^= 0x10;
	refused(c, img.rom, IMAGE_SIZE, "checksum");
}

static void test_bit_directory(void **state)
{
	static const char needed[] = "iIP";
	struct card *c = *state;
	unsigned int i;

	for (i = 0; needed[i]; i++) {
		char says[] = "no table '?'";

		says[10] = needed[i];
		image_make(&img, "k20m");
		*bit_entry(needed[i]) = '?';
		fix_checksum();
		refused(c, img.rom, IMAGE_SIZE, says);
	}
	image_make(&img, "k20m");
	bit_entry('P')[5] = 0xff;
	fix_checksum();
	refused(c, img.rom, IMAGE_SIZE, "'P' pointing outside");
	image_make(&img, "k20m");
	/* entry 'i' is the directory's first one: the number of entries is the byte 2 before it */
	bit_entry('i')[-2] = 0xff;
	fix_checksum();
	/*
	 * the directory with 255 entries fits; its entries may point anywhere, so both answers are
	 * allowed
	 */
	file_write(img.rom, IMAGE_SIZE);
	assert_true(prom_unit.init(&c->g) < 0 || c->g.prom);
	if (c->g.prom)
		prom_unit.fini(&c->g);
	image_make(&img, "k20m");
	bit_entry('i')[-3] = 0xff; /* entry size */
	bit_entry('i')[-2] = 0xff;
	fix_checksum();
	refused(c, img.rom, IMAGE_SIZE, "does not fit");
	image_make(&img, "k20m");
	bit_entry('i')[-3] = 1;
	fix_checksum();
	refused(c, img.rom, IMAGE_SIZE, "does not fit");
	image_make(&img, "k20m");
	bit_entry('i')[-12] = 0;
	fix_checksum();
	refused(c, img.rom, IMAGE_SIZE, "no BIT directory");
}

/* A directory at the very end of the image must not be read beyond the image. */
static void test_bit_at_the_end(void **state)
{
	struct card *c = *state;

	bit_entry('i')[-12] = 0;
	memcpy(img.rom + IMAGE_SIZE - 7,
	       "\xff\xb8"
	       "BIT",
	       6);
	fix_checksum();
	refused(c, img.rom, IMAGE_SIZE, "no BIT directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_generated_image_is_shown),
		T(test_missing_file),
		T(test_sizes),
		T(test_signatures),
		T(test_checksum),
		T(test_bit_directory),
		T(test_bit_at_the_end),
#undef T
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
