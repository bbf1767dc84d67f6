/* SPDX-License-Identifier: MIT */
/*
 * Tesla boards with a GK110 or GK110B, but not all of them: PCI ids and names by pci.ids, memory by
 * NVIDIA's specifications of K20, K20X and K40. GeForce and Quadro boards are left out because they
 * may be the host's console, and GK210 (K80, chip 0f2) because nouveau does not know it.
 *
 * MIT, because the libraries that applications link read this list, and the module does too.
 */
#ifndef KVGPU_GK110_BOARDS_H
#define KVGPU_GK110_BOARDS_H

/*
 * BOARD(PCI device id, name, memory in MiB, tested). @tested says where this project has run on the
 * board, on silicon or on the model. It is NULL as long as the project has not run on it.
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
