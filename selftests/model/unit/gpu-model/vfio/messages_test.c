// SPDX-License-Identifier: GPL-2.0-only
/* The vfio-user server's message stream, with good and malformed messages. */
#define _GNU_SOURCE
#include <errno.h>
#include <selftests/unit_test.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gk110/pci.h>

#include "fake_device.h"

static int setup(void **state)
{
	fake_setup(true);
	return 0;
}

static int setup_new(void **state)
{
	fake_setup(false);
	return 0;
}

static int teardown(void **state)
{
	fake_teardown();
	return 0;
}

static uint32_t roundtrip(uint16_t cmd, const void *data, size_t len)
{
	struct vu_hdr hdr;

	assert_int_equal(fake_send(cmd, 0, data, len, NULL, 0), sizeof(hdr) + len);
	assert_true(fake.reply_len >= sizeof(hdr));
	memcpy(&hdr, fake.reply, sizeof(hdr));
	assert_int_equal(hdr.id, 0x1234);
	assert_int_equal(hdr.cmd, cmd);
	assert_int_equal(hdr.size, fake.reply_len);
	assert_int_equal(hdr.flags & VU_F_TYPE, VU_F_REPLY);
	return fake_error();
}

static void enable_memory(void)
{
	uint8_t cmd[2] = { GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER, 0 };

	pci_config_write(fake.g, GK110_PCI_CMD_STA, cmd, 2);
}

/* ------------------------------------------------------------------ hand-shake */

static ssize_t greet(uint16_t major, const char *text, size_t len)
{
	uint8_t buf[512];
	struct vu_version v = { .major = major };

	memcpy(buf, &v, sizeof(v));
	memcpy(buf + sizeof(v), text, len);
	return fake_send(VU_VERSION, 0, buf, sizeof(v) + len, NULL, 0);
}

TEST_WITH(test_version_qemu, setup_new, teardown)
{
	static const char qemu[] =
		"{\"capabilities\":{\"pgsizes\":4096,\"max_msg_fds\":16,\"max_dma_maps\":65535,"
		"\"max_data_xfer_size\":1048576,\"migration\":{\"pgsize\":4096,\"max_bitmap_size\":[1,-2.5e3,null,\"x\\\"y\"]},"
		"\"write_multiple\":true}}";
	const char *text;

	assert_true(greet(0, qemu, sizeof(qemu)) > 0);
	assert_int_equal(fake_error(), 0);
	text = (const char *)fake_payload() + sizeof(struct vu_version);
	assert_int_equal(((const char *)fake_payload())[fake_payload_len() - 1], 0);
	assert_non_null(strstr(text, "\"max_msg_fds\":8"));
	assert_non_null(strstr(text, "\"write_multiple\":true"));
	assert_true(fake.s.client.greeted);
}

TEST_WITH(test_version_plain, setup_new, teardown)
{
	assert_true(greet(0, "", 0) > 0);
	assert_int_equal(fake_error(), 0);
	assert_null(
		strstr((const char *)fake_payload() + sizeof(struct vu_version), "write_multiple"));
}

TEST_WITH(test_version_small_transfers, setup_new, teardown)
{
	static const char text[] = "{\"capabilities\":{\"max_data_xfer_size\":64}}";
	struct vu_region_access a = { .region = VFIO_PCI_CONFIG_REGION_INDEX, .count = 65 };

	assert_true(greet(0, text, sizeof(text)) > 0);
	assert_int_equal(roundtrip(VU_REGION_READ, &a, sizeof(a)), EINVAL);
	a.count = 64;
	assert_int_equal(roundtrip(VU_REGION_READ, &a, sizeof(a)), 0);
}

TEST_WITH(test_version_bad, setup_new, teardown)
{
	static const char *const bad[] = {
		"{",
		"[]",
		"{\"capabilities\":}",
		"{\"capabilities\":{\"max_msg_fds\":\"8\"}}",
		"{} {}",
		"{\"a\":tru}",
		"{\"capabilities\":{\"max_data_xfer_size\":-1}}",
		"{\"a\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}",
		"{\"a\" 1}",
		"{\"a\":1,}",
		"{\"\\",
		"{\"capabilities\":{\"max_data_xfer_size\":nan}}",
		"{\"a\":1e}",
		"{\"a\":+1}",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		/* an error, and the connection ends */
		assert_true(greet(0, bad[i], strlen(bad[i]) + 1) < 0);
		assert_int_equal(fake_error(), EINVAL);
	}
	assert_true(greet(1, "{}", 3) < 0);
	assert_int_equal(fake_error(), EINVAL);
}

TEST_WITH(test_first_message_must_greet, setup_new, teardown)
{
	struct vu_device_info info = { .argsz = sizeof(info) };

	assert_true(fake_send(VU_DEVICE_GET_INFO, 0, &info, sizeof(info), NULL, 0) < 0);
	assert_int_equal(fake_error(), EINVAL);
}

TEST(test_greeting_twice)
{
	assert_true(greet(0, "{}", 3) > 0);
	assert_int_equal(fake_error(), EINVAL);
}

/* ------------------------------------------------------------------ framing */

TEST(test_header_sizes)
{
	static const uint32_t bad[] = { 0, 15, VU_MSG_MAX + 1, UINT32_MAX };
	struct vu_fds none = { 0 };
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct vu_hdr hdr = { .cmd = VU_DEVICE_RESET, .size = bad[i] };

		assert_true(messages_feed(&fake.s, (uint8_t *)&hdr, sizeof(hdr), &none) < 0);
	}
	assert_int_equal(fake.replies, 0);
}

TEST(test_reply_from_client)
{
	assert_true(fake_send(VU_DEVICE_RESET, VU_F_REPLY, NULL, 0, NULL, 0) < 0);
	assert_int_equal(fake.resets, 0);
}

TEST(test_in_pieces)
{
	struct {
		struct vu_hdr hdr;
		struct vu_device_info info;
	} one = {
		{ .id = 1, .cmd = VU_DEVICE_GET_INFO, .size = sizeof(one) },
		{ .argsz = sizeof(one.info) },
	};
	uint8_t buf[3 * sizeof(one)];
	struct vu_fds none = { 0 };
	size_t n;

	for (n = 0; n < 3; n++)
		memcpy(buf + n * sizeof(one), &one, sizeof(one));
	for (n = 0; n < sizeof(one); n++)
		assert_int_equal(messages_feed(&fake.s, buf, n, &none), 0);
	assert_int_equal(fake.replies, 0);
	assert_int_equal(messages_feed(&fake.s, buf, sizeof(buf) - 1, &none), 2 * sizeof(one));
	assert_int_equal(fake.replies, 2);
}

/* Descriptors are kept for the message with which they came. */
TEST(test_descriptors_meet_their_message)
{
	struct {
		struct vu_hdr hdr;
		struct vu_dma_map map;
	} m[2] = {
		{ { .id = 1, .cmd = VU_DMA_MAP, .size = sizeof(m[0]) },
		  { .argsz = 32, .flags = 3, .address = 0x10000, .size = 0x1000 } },
		{ { .id = 2, .cmd = VU_DMA_MAP, .size = sizeof(m[0]) },
		  { .argsz = 32, .flags = 3, .address = 0x20000, .size = 0x1000 } },
	};
	struct vu_fds f = { .nr = 1, .at = sizeof(m[0]) / 2 };
	size_t len = 0x1000;

	enable_memory();
	f.fd[0] = memfd_create("ram", 0);
	assert_int_equal(ftruncate(f.fd[0], 0x1000), 0);
	assert_int_equal(messages_feed(&fake.s, (uint8_t *)m, sizeof(m[0]) - 1, &f), 0);
	assert_int_equal(f.nr, 1);
	assert_int_equal(messages_feed(&fake.s, (uint8_t *)m, sizeof(m), &f), sizeof(m));
	assert_int_equal(f.nr, 0);
	assert_non_null(dma_ptr(&fake.s, 0x10000, &len, true));
	assert_null(dma_ptr(&fake.s, 0x20000, &len, true));
}

TEST(test_unknown_commands)
{
	static const uint16_t cmd[] = { 0, 14, 19, 0xffff };
	unsigned int i;

	for (i = 0; i < sizeof(cmd) / sizeof(cmd[0]); i++)
		assert_int_equal(roundtrip(cmd[i], NULL, 0), ENOSYS);
}

TEST(test_unsupported_commands)
{
	uint64_t body[2] = { 0 };

	assert_int_equal(roundtrip(VU_DMA_READ, body, 16), EOPNOTSUPP);
	assert_int_equal(roundtrip(VU_DMA_WRITE, body, 16), EOPNOTSUPP);
	assert_int_equal(roundtrip(VU_DEVICE_FEATURE, body, 8), EOPNOTSUPP);
	assert_int_equal(roundtrip(VU_MIG_DATA_READ, body, 8), EOPNOTSUPP);
	assert_int_equal(roundtrip(VU_MIG_DATA_WRITE, body, 16), EOPNOTSUPP);
}

/* Commands with lengths from nothing to more than they need get an answer. */
TEST(test_all_lengths)
{
	uint8_t body[80] = { 0 };
	uint16_t cmd;
	size_t len;

	for (cmd = 0; cmd < 24; cmd++)
		for (len = 0; len < sizeof(body); len++) {
			/* exactly @len bytes, so that the sanitizer sees reads behind the end */
			uint8_t *exact = malloc(len ? len : 1);

			memset(exact, 0, len);
			assert_int_equal(fake_send(cmd, 0, exact, len, NULL, 0),
					 sizeof(struct vu_hdr) + len);
			assert_true(fake.reply_len >= sizeof(struct vu_hdr));
			free(exact);
		}
}

TEST(test_no_reply)
{
	assert_true(fake_send(VU_DEVICE_RESET, VU_F_NO_REPLY, NULL, 0, NULL, 0) > 0);
	assert_int_equal(fake.replies, 0);
	assert_int_equal(fake.resets, 1);
	/* not even if the command fails */
	assert_true(fake_send(0xffff, VU_F_NO_REPLY, NULL, 0, NULL, 0) > 0);
	assert_int_equal(fake.replies, 0);
}

TEST(test_unused_descriptors_are_closed)
{
	struct vu_device_info info = { .argsz = sizeof(info) };
	int fd[2] = { memfd_create("a", 0), memfd_create("b", 0) };

	assert_true(fake_send(VU_DEVICE_GET_INFO, 0, &info, sizeof(info), fd, 2) > 0);
	assert_int_equal(close(fd[0]), -1);
	assert_int_equal(close(fd[1]), -1);
}

/* ------------------------------------------------------------------ questions */

TEST(test_device_info)
{
	struct vu_device_info info = { .argsz = sizeof(info) };

	assert_int_equal(roundtrip(VU_DEVICE_GET_INFO, &info, sizeof(info)), 0);
	memcpy(&info, fake_payload(), sizeof(info));
	assert_int_equal(info.flags, 3);
	assert_int_equal(info.num_regions, 9);
	assert_int_equal(info.num_irqs, 5);
	info.argsz = 15;
	assert_int_equal(roundtrip(VU_DEVICE_GET_INFO, &info, sizeof(info)), EINVAL);
}

TEST(test_region_info_trapped)
{
	static const uint64_t size[9] = { 16u << 20, 256u << 20, 0, 32u << 20, 0, 0, 0, 4096, 0 };
	struct vfio_region_info r;
	unsigned int i;

	for (i = 0; i < 9; i++) {
		r = (struct vfio_region_info){ .argsz = sizeof(r), .index = i };
		assert_int_equal(roundtrip(VU_DEVICE_GET_REGION_INFO, &r, sizeof(r)), 0);
		memcpy(&r, fake_payload(), sizeof(r));
		assert_int_equal(r.size, size[i]);
		assert_int_equal(r.flags, size[i] ? 3 : 0);
		assert_int_equal(r.argsz, sizeof(r));
		assert_int_equal(fake.reply_fd, -1);
	}
	r = (struct vfio_region_info){ .argsz = sizeof(r), .index = 9 };
	assert_int_equal(roundtrip(VU_DEVICE_GET_REGION_INFO, &r, sizeof(r)), EINVAL);
	r = (struct vfio_region_info){ .argsz = 31 };
	assert_int_equal(roundtrip(VU_DEVICE_GET_REGION_INFO, &r, sizeof(r)), EINVAL);
}

TEST(test_io_fds_none)
{
	struct vu_io_fds f = { .argsz = sizeof(f), .index = 1 };

	assert_int_equal(roundtrip(VU_DEVICE_GET_REGION_IO_FDS, &f, sizeof(f)), 0);
	memcpy(&f, fake_payload(), sizeof(f));
	assert_int_equal(f.count, 0);
	f.flags = 1;
	assert_int_equal(roundtrip(VU_DEVICE_GET_REGION_IO_FDS, &f, sizeof(f)), EINVAL);
}

TEST(test_irq_info)
{
	static const struct {
		uint32_t flags, count;
	} want[5] = { { 7, 1 }, { 9, 1 }, { 0, 0 }, { 9, 1 }, { 9, 1 } };
	struct vfio_irq_info info;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		info = (struct vfio_irq_info){ .argsz = sizeof(info), .index = i };
		assert_int_equal(roundtrip(VU_DEVICE_GET_IRQ_INFO, &info, sizeof(info)), 0);
		memcpy(&info, fake_payload(), sizeof(info));
		assert_int_equal(info.flags, want[i].flags);
		assert_int_equal(info.count, want[i].count);
	}
	info = (struct vfio_irq_info){ .argsz = sizeof(info), .index = 5 };
	assert_int_equal(roundtrip(VU_DEVICE_GET_IRQ_INFO, &info, sizeof(info)), EINVAL);
}

/* ------------------------------------------------------------------ accesses */

static uint32_t do_read(uint32_t region, uint64_t off, uint32_t count)
{
	struct vu_region_access a = { .region = region, .offset = off, .count = count };

	return roundtrip(VU_REGION_READ, &a, sizeof(a));
}

static uint32_t do_write(uint32_t region, uint64_t off, uint32_t count, const void *data,
			 size_t data_len)
{
	struct vu_region_access a = { .region = region, .offset = off, .count = count };
	uint8_t buf[64];

	memcpy(buf, &a, sizeof(a));
	memcpy(buf + sizeof(a), data, data_len);
	return roundtrip(VU_REGION_WRITE, buf, sizeof(a) + data_len);
}

TEST(test_accesses_keep_their_width)
{
	static const uint8_t data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	unsigned int size;
	uint64_t want;

	enable_memory();
	for (size = 1; size <= 8; size *= 2) {
		fake.nr_access = 0;
		assert_int_equal(do_write(1, 0x1234, size, data, size), 0);
		assert_int_equal(fake.nr_access, 1);
		assert_int_equal(fake.last.size, size);
		assert_int_equal(fake.last.region, 1);
		assert_int_equal(fake.last.off, 0x1234);
		want = 0;
		memcpy(&want, data, size);
		assert_true(fake.last.val == want);
		assert_int_equal(do_read(0, 0x88068, size), 0);
		assert_int_equal(fake.last.size, size);
		assert_int_equal(fake_payload_len(), 16 + size);
		assert_memory_equal((const uint8_t *)fake_payload() + 16,
				    "\x11\x22\x33\x44\x55\x66\x77\x88", size);
	}
}

TEST(test_long_access_is_cut)
{
	uint8_t data[15] = { 0 };

	enable_memory();
	fake.nr_access = 0;
	/* split into accesses of 1, 2, 4 and 8 bytes */
	assert_int_equal(do_write(3, 1, 15, data, 15), 0);
	assert_int_equal(fake.nr_access, 4);
	assert_int_equal(fake.last.size, 8);
	assert_int_equal(fake.last.off, 8);
}

TEST(test_access_limits)
{
	uint8_t one = 0;

	enable_memory();
	assert_int_equal(do_read(0, (16u << 20) - 4, 4), 0);
	assert_int_equal(do_read(0, (16u << 20) - 4, 8), EINVAL);
	assert_int_equal(do_read(0, 16u << 20, 1), EINVAL);
	assert_int_equal(do_read(0, UINT64_MAX, 2), EINVAL);
	assert_int_equal(do_read(0, 0, 0), EINVAL);
	assert_int_equal(do_read(1, 256u << 20, 4), EINVAL);
	assert_int_equal(do_read(2, 0, 4), EINVAL);
	assert_int_equal(do_read(6, 0, 4), EINVAL);
	assert_int_equal(do_read(9, 0, 4), EINVAL);
	assert_int_equal(do_read(UINT32_MAX, 0, 4), EINVAL);
	assert_int_equal(do_read(0, 0, VU_DEFAULT_XFER + 1), EINVAL);
	assert_int_equal(do_read(7, 4092, 4), 0);
	assert_int_equal(do_read(7, 4093, 4), EINVAL);
	/* the message says 4 bytes and has 1 */
	assert_int_equal(do_write(0, 0, 4, &one, 1), EINVAL);
	assert_int_equal(do_write(0, 0, UINT32_MAX, &one, 1), EINVAL);
}

TEST(test_memory_decoding_off)
{
	uint32_t v = 0;

	fake.nr_access = 0;
	assert_int_equal(do_read(0, 0, 4), 0);
	assert_memory_equal((const uint8_t *)fake_payload() + 16, "\xff\xff\xff\xff", 4);
	assert_int_equal(do_write(1, 0, 4, &v, 4), 0);
	assert_int_equal(fake.nr_access, 0);
}

TEST(test_write_multi)
{
	struct {
		struct vu_write_multi m;
		struct vu_single_write w[2];
	} msg = {
		{ 2 },
		{ { .offset = 0x140, .region = 0, .count = 4, .data = 1 },
		  { .offset = 8, .region = 3, .count = 8, .data = 0x1122334455667788 } },
	};

	enable_memory();
	fake.nr_access = 0;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, sizeof(msg)), 0);
	assert_int_equal(fake.nr_access, 2);
	assert_true(fake.last.val == 0x1122334455667788);
	fake.nr_access = 0;
	msg.w[1].count = 9;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, sizeof(msg)), EINVAL);
	msg.w[1].count = 0;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, sizeof(msg)), EINVAL);
	msg.m.wr_cnt = 3;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, sizeof(msg)), EINVAL);
	msg.m.wr_cnt = UINT64_MAX / 24 + 3;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, sizeof(msg)), EINVAL);
	/* because of the bad write the good one before it was not done, either */
	assert_int_equal(fake.nr_access, 0);
	msg.m.wr_cnt = 0;
	assert_int_equal(roundtrip(VU_REGION_WRITE_MULTI, &msg, 8), 0);
}

TEST(test_reset)
{
	uint8_t v[2];

	enable_memory();
	assert_int_equal(roundtrip(VU_DEVICE_RESET, NULL, 0), 0);
	assert_int_equal(fake.resets, 1);
	pci_config_read(fake.g, GK110_PCI_CMD_STA, v, 2);
	assert_int_equal(v[0], 0);
}

TEST(test_client_gone)
{
	struct vu_dma_map map = { .argsz = 32, .flags = 3, .address = 0, .size = 0x1000 };
	int fd = memfd_create("ram", 0);

	assert_int_equal(ftruncate(fd, 0x1000), 0);
	assert_true(fake_send(VU_DMA_MAP, 0, &map, sizeof(map), &fd, 1) > 0);
	assert_int_equal(fake_error(), 0);
	client_gone(&fake.s);
	assert_int_equal(fake.s.dma.nr, 0);
	assert_int_equal(fake.resets, 1);
	assert_false(fake.s.client.greeted);
	assert_int_equal(close(fd), -1);
}

TEST_MAIN(setup, teardown)
