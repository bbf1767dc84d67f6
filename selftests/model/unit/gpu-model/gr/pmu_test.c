// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU: nouveau's init, send and receive (subdev/pmu/gt215.c), its processes, and how images of
 * other drivers are treated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gr/fake.h"
#include "gk110/pmu.h"

#define PMU PMU_BASE

static int setup(void **state)
{
	*state = fake_create();
	return 0;
}

static int teardown(void **state)
{
	fake_destroy(*state);
	return 0;
}

/* As nouveau's gt215_pmu_init() does. */
static void boot(struct fake *f)
{
	uint32_t data[PMU_IMAGE_MEMX_TRAIN / 4] = { PMU_PROC_KERN };

	data[PMU_IMAGE_PROC_LIST / 4] = PMU_PROC_HOST;
	wr32(f, PMU + FALCON_INTR_EN_CLR, 0xffff);
	assert_int_equal(rd32(f, PMU + FALCON_IDLE_STATUS), 0);
	assert_int_equal(rd32(f, PMU + FALCON_DMACTL) & 6, 0);
	fake_upload(f, PMU, data, sizeof(data) / 4);
	wr32(f, PMU + FALCON_DMACTL, 0);
	wr32(f, PMU + FALCON_BOOTVEC, 0);
	wr32(f, PMU + FALCON_CPUCTL, FALCON_CPUCTL_START);
}

static void send(struct fake *f, uint32_t process, uint32_t message, uint32_t data0, uint32_t data1)
{
	uint32_t base = rd32(f, PMU + PMU_H2D) & 0xffff, put = rd32(f, PMU + PMU_FIFO_PUT(0));

	assert_int_not_equal(rd32(f, PMU + PMU_FIFO_GET(0)), put ^ 8);
	wr32(f, PMU + PMU_MUTEX(0), 1);
	assert_int_equal(rd32(f, PMU + PMU_MUTEX(0)), 1);
	wr32(f, PMU + FALCON_DMEMC(0), FALCON_MEMC_AINCW | (((put & 7) << 4) + base));
	wr32(f, PMU + FALCON_DMEMD(0), process);
	wr32(f, PMU + FALCON_DMEMD(0), message);
	wr32(f, PMU + FALCON_DMEMD(0), data0);
	wr32(f, PMU + FALCON_DMEMD(0), data1);
	wr32(f, PMU + PMU_FIFO_PUT(0), (put + 1) & 0xf);
	wr32(f, PMU + PMU_MUTEX(0), 0);
}

static void receive(struct fake *f, uint32_t msg[4])
{
	uint32_t base = rd32(f, PMU + PMU_D2H) & 0xffff, get = rd32(f, PMU + PMU_RFIFO_GET);

	assert_int_not_equal(get, rd32(f, PMU + PMU_RFIFO_PUT));
	wr32(f, PMU + FALCON_DMEMC(0), FALCON_MEMC_AINCR | (((get & 7) << 4) + base));
	for (int i = 0; i < 4; i++)
		msg[i] = rd32(f, PMU + FALCON_DMEMD(0));
	wr32(f, PMU + PMU_RFIFO_GET, (get + 1) & 0xf);
}

static void rings_appear_after_start(void **state)
{
	struct fake *f = *state;

	assert_int_equal(rd32(f, PMU + PMU_H2D), 0);
	boot(f);
	assert_int_equal(rd32(f, PMU + PMU_H2D), 128 << 16 | PMU_IMAGE_FIFO);
	assert_int_equal(rd32(f, PMU + PMU_D2H), 128 << 16 | PMU_IMAGE_RFIFO);
	wr32(f, PMU + PMU_H2D, 0);
	assert_int_not_equal(rd32(f, PMU + PMU_H2D), 0);
}

static void a_foreign_image_stays_silent(void **state)
{
	static const uint32_t data[4] = { 1, 2, 3, 4 };
	struct fake *f = *state;

	fake_upload(f, PMU, data, 4);
	wr32(f, PMU + FALCON_CPUCTL, FALCON_CPUCTL_START);
	assert_int_equal(rd32(f, PMU + PMU_H2D), 0);
	assert_string_not_equal(f->note, "");
}

static void memx_info_is_answered_with_an_interrupt(void **state)
{
	struct fake *f = *state;
	uint32_t msg[4];

	boot(f);
	wr32(f, PMU + FALCON_INTR_EN_SET, 0xe0);
	assert_int_equal(f->irq_lines, 0);
	send(f, PMU_PROC_MEMX, PMU_MEMX_INFO, PMU_MEMX_INFO_DATA, 0);
	assert_int_equal(f->irq_lines, 1u << PMU_INTR_BIT);
	assert_int_equal(rd32(f, PMU + FALCON_INTR), 0x40);
	receive(f, msg);
	assert_int_equal(msg[0], PMU_PROC_MEMX);
	assert_int_equal(msg[1], PMU_MEMX_INFO);
	assert_int_equal(msg[2], PMU_IMAGE_MEMX_DATA);
	assert_int_equal(msg[3], PMU_IMAGE_MEMX_DATA_SIZE);
	wr32(f, PMU + FALCON_INTR_ACK, 0x40);
	assert_int_equal(f->irq_lines, 0);
}

static void memx_scripts_write_any_register(void **state)
{
	struct fake *f = *state;
	uint32_t at = PMU_IMAGE_MEMX_DATA, msg[4];

	boot(f);
	wr32(f, PMU + FALCON_DMEMC(0), FALCON_MEMC_AINCW | at);
	wr32(f, PMU + FALCON_DMEMD(0), PMU_MEMX_OP_ENTER);
	wr32(f, PMU + FALCON_DMEMD(0), 4 << 16 | PMU_MEMX_OP_WR32);
	wr32(f, PMU + FALCON_DMEMD(0), FAKE_VICTIM + 0x10);
	wr32(f, PMU + FALCON_DMEMD(0), 0x1111);
	wr32(f, PMU + FALCON_DMEMD(0), FAKE_VICTIM + 0x14);
	wr32(f, PMU + FALCON_DMEMD(0), 0x2222);
	send(f, PMU_PROC_MEMX, PMU_MEMX_EXEC, at, rd32(f, PMU + FALCON_DMEMC(0)) & 0xffffff);
	receive(f, msg);
	assert_int_equal(msg[1], PMU_MEMX_EXEC);
	assert_int_equal(f->victim_writes, 2);
	assert_int_equal(rd32(f, FAKE_VICTIM + 0x10), 0x1111);
	assert_int_equal(rd32(f, FAKE_VICTIM + 0x14), 0x2222);
}

static void scripts_of_any_shape_end(void **state)
{
	struct fake *f = *state;

	boot(f);
	for (uint32_t i = 0; i < 0x800; i += 4) {
		wr32(f, PMU + FALCON_DMEMC(0), PMU_IMAGE_MEMX_DATA + i);
		wr32(f, PMU + FALCON_DMEMD(0), 0xffff0000u | (i % 9));
	}
	send(f, PMU_PROC_MEMX, PMU_MEMX_EXEC, PMU_IMAGE_MEMX_DATA, 0xffffffff);
	send(f, PMU_PROC_MEMX, PMU_MEMX_EXEC, 0xfffffff0, 0xffffffff);
	assert_int_equal(rd32(f, PMU + PMU_RFIFO_PUT), 2);
}

static void counters_wrap_and_a_full_ring_drops(void **state)
{
	struct fake *f = *state;
	uint32_t msg[4];

	boot(f);
	for (uint32_t i = 0; i < 40; i++) {
		send(f, PMU_PROC_I2C, PMU_I2C_RD08, i, 0);
		receive(f, msg);
		assert_int_equal(msg[2], i);
		assert_int_equal(msg[3], 1);
	}
	for (uint32_t i = 0; i < 9; i++)
		send(f, PMU_PROC_I2C, PMU_I2C_RD08, 100 + i, 0);
	receive(f, msg);
	assert_int_equal(msg[2], 100);
	assert_string_not_equal(f->note, "");
}

static void mutexes_belong_to_who_came_first(void **state)
{
	struct fake *f = *state;

	wr32(f, PMU + PMU_MUTEX(0), 2);
	wr32(f, PMU + PMU_MUTEX(0), 3);
	assert_int_equal(rd32(f, PMU + PMU_MUTEX(0)), 2);
	wr32(f, PMU + PMU_MUTEX(0), 0);
	wr32(f, PMU + PMU_MUTEX(0), 3);
	assert_int_equal(rd32(f, PMU + PMU_MUTEX(0)), 3);
	assert_int_equal(rd32(f, PMU + PMU_MUTEX(1)), 0);
}

static void restart_begins_with_empty_rings(void **state)
{
	struct fake *f = *state;
	uint32_t msg[4];

	boot(f);
	send(f, PMU_PROC_I2C, 0, 1, 0);
	boot(f);
	assert_int_equal(rd32(f, PMU + PMU_FIFO_PUT(0)), 0);
	assert_int_equal(rd32(f, PMU + PMU_RFIFO_PUT), rd32(f, PMU + PMU_RFIFO_GET));
	send(f, PMU_PROC_I2C, 0, 77, 0);
	receive(f, msg);
	assert_int_equal(msg[2], 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rings_appear_after_start, setup, teardown),
		cmocka_unit_test_setup_teardown(a_foreign_image_stays_silent, setup, teardown),
		cmocka_unit_test_setup_teardown(memx_info_is_answered_with_an_interrupt, setup,
						teardown),
		cmocka_unit_test_setup_teardown(memx_scripts_write_any_register, setup, teardown),
		cmocka_unit_test_setup_teardown(scripts_of_any_shape_end, setup, teardown),
		cmocka_unit_test_setup_teardown(counters_wrap_and_a_full_ring_drops, setup,
						teardown),
		cmocka_unit_test_setup_teardown(mutexes_belong_to_who_came_first, setup, teardown),
		cmocka_unit_test_setup_teardown(restart_begins_with_empty_rings, setup, teardown),
	};

	return cmocka_run_group_tests_name("pmu", tests, NULL, NULL);
}
