// SPDX-License-Identifier: GPL-2.0-only
/* Configuration space: a K20m's contents, which bits can be written. */
#include <selftests/unit_test.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <gk110/pci.h>

#include "fake_device.h"

static int setup(void **state)
{
	fake_setup(true);
	return 0;
}

static int teardown(void **state)
{
	fake_teardown();
	return 0;
}

static uint32_t word(uint32_t off)
{
	uint32_t v;

	pci_config_read(fake.g, off, (uint8_t *)&v, 4);
	return v;
}

static void put(uint32_t off, uint32_t v, size_t len)
{
	pci_config_write(fake.g, off, (const uint8_t *)&v, len);
}

TEST(test_identity)
{
	assert_int_equal(word(0x00), 0x102810de);
	assert_int_equal(word(0x04), 0x00100000);
	assert_int_equal(word(0x08), 0x030200a1);
	assert_int_equal(word(0x2c), 0x101510de);
	assert_int_equal(word(0x34), 0x60);
	assert_int_equal(word(0x3c), 0x100);
}

TEST(test_base_addresses_hold_their_size)
{
	static const struct {
		uint32_t off, ones;
	} bar[] = {
		{ 0x10, 0xff000000 }, { 0x14, 0xf000000c }, { 0x18, 0xffffffff },
		{ 0x1c, 0xfe00000c }, { 0x20, 0xffffffff }, { 0x24, 0 },
		{ 0x30, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(bar) / sizeof(bar[0]); i++) {
		put(bar[i].off, ~0u, 4);
		assert_int_equal(word(bar[i].off), bar[i].ones);
	}
}

TEST(test_capabilities)
{
	static const struct {
		uint8_t off, id;
	} want[] = { { 0x60, 1 }, { 0x68, 5 }, { 0x78, 0x10 } };
	uint32_t off = word(0x34), i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(off, want[i].off);
		assert_int_equal(word(off) & 0xff, want[i].id);
		off = word(off) >> 8 & 0xff;
	}
	assert_int_equal(off, 0);
	/* MSI: 64-bit addresses, one vector, no masking */
	assert_int_equal(word(0x68) >> 16, 0x0080);
	assert_int_equal(word(0x78) >> 16, 0x0002); /* PCIe capability of version 2, endpoint */
	assert_int_equal(word(0x7c) >> 28 & 1, 0); /* no function level reset */
}

TEST(test_extended_capabilities)
{
	static const struct {
		uint16_t off, id;
	} want[] = { { 0x100, 2 }, { 0x128, 4 }, { 0x420, 1 } };
	uint32_t off = 0x100, i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(off, want[i].off);
		assert_int_equal(word(off) & 0xffff, want[i].id);
		off = word(off) >> 20;
	}
	assert_int_equal(off, 0);
}

TEST(test_command)
{
	put(0x04, 0xffff, 2);
	assert_int_equal(word(0x04) & 0xffff, 0x0546);
	assert_true(pci_memory_enabled(fake.g));
	assert_true(pci_bus_master(fake.g));
	assert_false(pci_intx_enabled(fake.g));
	put(0x05, 0, 1); /* write one byte of the register */
	assert_int_equal(word(0x04) & 0xffff, 0x0046);
	assert_true(pci_intx_enabled(fake.g));
}

TEST(test_status_bits_clear_on_one)
{
	fake.g->config[7] = 0xf9;
	put(0x06, 0x1000, 2);
	assert_int_equal(word(0x04) >> 16, 0xe910);
	put(0x04, 0x0000, 2); /* a write of the lower half does not touch the status bits */
	assert_int_equal(word(0x04) >> 16, 0xe910);
	put(0x04, 0xffffffff, 4);
	assert_int_equal(word(0x04) >> 16, 0x0010);
}

/* Writes ones to every word, and looks whether a reset restores them. */
TEST(test_read_only_rest)
{
	uint8_t before[4096], ones[4096];
	uint32_t off, changed = 0;

	pci_config_read(fake.g, 0, before, sizeof(before));
	memset(ones, 0xff, sizeof(ones));
	pci_config_write(fake.g, 0, ones, sizeof(ones));
	for (off = 0; off < 4096; off += 4)
		changed += word(off) != *(uint32_t *)(before + off);
	assert_int_equal(changed, 21);
	assert_int_equal(word(0x00), 0x102810de);
	assert_int_equal(word(0x68) & 0xffff, 0x7805);
	pci_config_reset(fake.g);
	assert_memory_equal(fake.g->config, before, sizeof(before));
}

#define LOOKS 10000000u

static atomic_bool looked;

/* Returns whether the command register was ever other than a reset leaves it. */
static void *look_at_command(void *arg)
{
	const uint32_t *at = (const uint32_t *)(fake.g->config + GK110_PCI_CMD_STA);
	bool other = false;

	for (unsigned int i = 0; i < LOOKS && !other; i++)
		other = __atomic_load_n(at, __ATOMIC_RELAXED) != GK110_PCI_STA_CAP_LIST;
	atomic_store(&looked, true);
	return other ? fake.g : NULL;
}

/* Other threads read the command register without the lock: a reset writes it once. */
TEST(test_reset_while_others_look)
{
	pthread_t thread;
	void *other;

	atomic_store(&looked, false);
	assert_int_equal(pthread_create(&thread, NULL, look_at_command, NULL), 0);
	while (!atomic_load(&looked))
		pci_config_reset(fake.g);
	pthread_join(thread, &other);
	assert_null(other);
}

TEST(test_unaligned_write)
{
	static const uint8_t data[7] = { 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0x99, 0x88 };

	/* bytes 1 to 3 of the MSI address, then 4 bytes of its high word */
	pci_config_write(fake.g, 0x6d, data, 7);
	assert_int_equal(word(0x6c), 0xccbbaa00);
	assert_int_equal(word(0x70), 0x8899eedd);
}

TEST_MAIN(setup, teardown)
