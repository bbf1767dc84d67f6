// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks whether a file is a video BIOS that a driver can work with: the PCI expansion ROM header
 * and data structure (PCI firmware specification), the checksum, and NVIDIA's BIT directory
 * (envytools docs, nouveau nvkm/subdev/bios/{shadow,pcir,bit}.c).
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gk110/pci.h>
#include <gk110/vbios.h>

#include "root.h"

struct rom {
	const uint8_t *p;
	size_t size;
	char *why;
	size_t why_size;
};

static uint32_t le16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static __attribute__((format(printf, 2, 3))) bool bad(struct rom *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->why, r->why_size, fmt, ap);
	va_end(ap);
	return false;
}

static bool signature_ok(struct rom *r)
{
	if (r->size < ROM_BLOCK)
		return bad(r, "has only %zu bytes", r->size);
	if (r->size > PROM_SIZE)
		return bad(r, "has %zu bytes, the chip's window shows at most %u", r->size,
			   PROM_SIZE);
	if (!memcmp(r->p, ROM_IFR_SIGNATURE, 4))
		return bad(
			r,
			"begins with NVIDIA's IFR header (\"NVGI\"); cut off what stands before the bytes 55 aa");
	if (le16(r->p) != ROM_SIGNATURE)
		return bad(r, "begins with %02x %02x, a PCI expansion ROM begins with 55 aa",
			   r->p[0], r->p[1]);
	return true;
}

static bool pcir_ok(struct rom *r)
{
	size_t at = le16(r->p + ROM_PCIR_POINTER), len;
	const uint8_t *pcir = r->p + at;
	uint8_t sum = 0;
	size_t i;

	if (at < ROM_PCIR_POINTER + 2 || at + PCIR_LENGTH > r->size)
		return bad(r, "has its PCI data structure at 0x%zx, outside the file", at);
	if (memcmp(pcir, PCIR_SIGNATURE, 4))
		return bad(r, "has no \"PCIR\" signature at 0x%zx", at);
	if (le16(pcir + PCIR_VENDOR) != GK110_PCI_VENDOR)
		return bad(r, "is for PCI vendor %04x, not NVIDIA's 10de",
			   le16(pcir + PCIR_VENDOR));
	len = le16(pcir + PCIR_IMAGE_BLOCKS) * (size_t)ROM_BLOCK;
	if (!len || len > r->size)
		return bad(r, "says it has %zu bytes, the file has %zu: truncated?", len, r->size);
	r->size = len;
	for (i = 0; i < len; i++)
		sum += r->p[i];
	if (sum)
		return bad(r, "has a wrong checksum (bytes add up to 0x%02x, not 0)", sum);
	return true;
}

static bool bit_ok(struct rom *r)
{
	/* the BIT entries without which nouveau gives up or crashes */
	static const char needed[] = "iIP";
	const uint8_t *bit = memmem(r->p, r->size, BIT_SIGNATURE, BIT_SIGNATURE_LENGTH);
	size_t room, n, i, elen;
	bool found[sizeof(needed)] = { false };

	if (!bit || (size_t)(bit - r->p) + BIT_HEADER_LENGTH > r->size)
		return bad(r, "has no BIT directory");
	elen = bit[BIT_ENTRY_SIZE];
	n = bit[BIT_ENTRY_COUNT];
	room = r->size - (bit - r->p) - BIT_HEADER_LENGTH;
	if (elen < BIT_ENTRY_LENGTH || n * elen > room)
		return bad(r, "has a BIT directory of %zu entries of %zu bytes that does not fit",
			   n, elen);
	for (i = 0; i < n; i++) {
		const uint8_t *e = bit + BIT_HEADER_LENGTH + i * elen;
		const char *need = e[BIT_ENTRY_ID] ? strchr(needed, e[BIT_ENTRY_ID]) : NULL;

		if (le16(e + BIT_ENTRY_TABLE) + le16(e + BIT_ENTRY_TABLE_LENGTH) > r->size)
			return bad(r, "has BIT entry '%c' pointing outside the image",
				   e[BIT_ENTRY_ID]);
		if (need)
			found[need - needed] = true;
	}
	for (i = 0; needed[i]; i++)
		if (!found[i])
			return bad(r, "has no table '%c' in its BIT directory", needed[i]);
	return true;
}

const char *rom_image_check(const uint8_t *rom, size_t size, char *why, size_t why_size)
{
	struct rom r = { .p = rom, .size = size, .why = why, .why_size = why_size };

	return signature_ok(&r) && pcir_ok(&r) && bit_ok(&r) ? NULL : why;
}
