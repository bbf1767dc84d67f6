// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any file as VBIOS: the check must neither read outside it, nor refuse it without a reason, nor
 * accept it without the ROM's and PCIR's signatures.
 */
#include <stdlib.h>
#include <string.h>

#include "root/root.h"
#include "vbios/image.h"

static uint32_t le16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

/* first bytes: where the rest goes, whether the checksum is made right, how long the file is */
static size_t image_build(uint8_t *rom, const uint8_t *data, size_t size)
{
	static struct image img;
	size_t at = le16(data) % IMAGE_SIZE, len = size - 5,
	       total = le16(data + 3) % (IMAGE_SIZE + 1), i;
	uint8_t sum = 0;

	image_make(&img, "k20m");
	memcpy(rom, img.rom, IMAGE_SIZE);
	if (len > IMAGE_SIZE - at)
		len = IMAGE_SIZE - at;
	memcpy(rom + at, data + 5, len);
	if (data[2] & 1) {
		for (i = 0; i < IMAGE_SIZE - 1; i++)
			sum += rom[i];
		rom[IMAGE_SIZE - 1] = -sum;
	}
	return data[2] & 2 ? total : IMAGE_SIZE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t rom[IMAGE_SIZE], *exact;
	char why[160];
	size_t len;

	if (size < 5)
		return 0;
	len = image_build(rom, data, size);
	exact = malloc(len); /* so that the sanitizer sees a read past the end */
	memcpy(exact, rom, len);
	why[0] = 0;
	if (rom_image_check(exact, len, why, sizeof(why))) {
		if (!why[0])
			abort();
	} else if (len < 512 || le16(exact) != 0xaa55 ||
		   memcmp(exact + le16(exact + 0x18), "PCIR", 4)) {
		abort();
	}
	free(exact);
	return 0;
}
