/* SPDX-License-Identifier: MIT */
/*
 * The Tesla boards with a GK110 or GK110B that the kernel module binds to. PCI ids and names are
 * from pci.ids, memory sizes from NVIDIA's specifications of K20, K20X and K40. Boards with a GK210
 * (K80, chipset 0x0f2) are left out because nouveau does not know the chip.
 *
 * The licence is MIT, because libraries that applications link include this list, too.
 */
#ifndef KVGPU_GK110_BOARDS_H
#define KVGPU_GK110_BOARDS_H

/*
 * BOARD(PCI device id, name, memory in MiB, tested). @tested: how this project was tested on the
 * board; NULL: it was not.
 */
#define GK110_BOARDS(BOARD)							\
	BOARD(0x1020, "Tesla K20X", 6144, NULL)					\
	BOARD(0x1021, "Tesla K20Xm", 6144, NULL)				\
	BOARD(0x1022, "Tesla K20c", 5120, NULL)					\
	BOARD(0x1023, "Tesla K40m", 12288, NULL)				\
	BOARD(0x1024, "Tesla K40c", 12288, NULL)				\
	BOARD(0x1026, "Tesla K20s", 5120, NULL)					\
	BOARD(0x1027, "Tesla K40st", 12288, NULL)				\
	BOARD(0x1028, "Tesla K20m", 5120, "the model of the test bed only")	\
	BOARD(0x1029, "Tesla K40s", 12288, NULL)				\
	BOARD(0x102a, "Tesla K40t", 12288, NULL)

#endif
