// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the VBIOS image of the model's Tesla K20m.
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

	if (argc != 2) {
		fprintf(stderr,
			"usage: %s FILE\nWrites the VBIOS image of the GK110 model to FILE.\n",
			argv[0]);
		return 2;
	}
	image_make(&img);
	f = fopen(argv[1], "wb");
	if (!f || fwrite(img.rom, sizeof(img.rom), 1, f) != 1 || fclose(f)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
