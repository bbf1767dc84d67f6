// SPDX-License-Identifier: MIT
/* Names of GPUs by their PCI ids, as in pci.ids. */
#include <selftests/unit_test.h>

#include <cuda/kepler/device/board.h>

TEST(boards_that_the_module_takes)
{
	assert_string_equal(board_name(0x1028), "Tesla K20m");
	assert_string_equal(board_name(0x1020), "Tesla K20X");
	assert_string_equal(board_name(0x1023), "Tesla K40m");
	assert_string_equal(board_name(0x1024), "Tesla K40c");
	assert_string_equal(board_name(0x1027), "Tesla K40st");
	assert_string_equal(board_name(0x1029), "Tesla K40s");
	assert_string_equal(board_name(0x102a), "Tesla K40t");
}

/* 0x1005 is a GeForce GTX TITAN, which the module does not take. */
TEST(other_boards)
{
	assert_string_equal(board_name(0), "GK110");
	assert_string_equal(board_name(0x1005), "GK110");
	assert_string_equal(board_name(0x11028), "GK110");
}

TEST_MAIN(NULL, NULL)
