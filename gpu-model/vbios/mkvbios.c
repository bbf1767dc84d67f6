// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the VBIOS image of one of the model's boards.
 *
 * No NVIDIA code or data is in it: the tables are those that public drivers (nouveau) read, filled
 * with published clocks and with made-up values where nothing public exists.
 */
#include <stdio.h>

#include "image.h"

int main(int argc, char **argv)
{
	static struct image img;
	FILE *f;

	if (argc != 3 || !image_make(&img, argv[1])) {
		fprintf(stderr,
			"usage: %s BOARD FILE\nWrites the VBIOS image of this board of the GK110 model (gk110-model --help) to FILE.\n",
			argv[0]);
		return 2;
	}
	f = fopen(argv[2], "wb");
	if (!f || fwrite(img.rom, sizeof(img.rom), 1, f) != 1 || fclose(f)) {
		perror(argv[2]);
		return 1;
	}
	return 0;
}
