// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's reading of a firmware file. The input is a list of changes to a good file (offset,
 * new word), after which the checksum is made good again; or, with a first byte of 0xff, a whole
 * file. All words and entries of a file that is accepted are then read.
 */
#include <stdlib.h>
#include <string.h>

#include "fwbuild.h"
#include "hw/fwfile.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void use_list(const struct fwfile *f, u32 id, u32 first, u32 end)
{
	u32 i, k;

	for (i = 0; i < hw_fwfile_entries(f, id); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, id, i);

		for (k = 0; k < e.count; k++)
			if (e.addr + k * e.pitch < first || e.addr + k * e.pitch >= end)
				abort();
	}
}

static void use(const struct fwfile *f)
{
	u32 id, i, sum = 0;

	for (id = KVGPU_FW_FECS_CODE; id <= KVGPU_FW_GPCCS_DATA; id++)
		for (i = 0; i < hw_fwfile_words(f, id); i++)
			sum += hw_fwfile_word(f, id, i);
	for (id = KVGPU_FW_GR_MMIO; id <= KVGPU_FW_CTX_PPC; id++)
		use_list(f, id, 0x400000, 0x420000);
	use_list(f, KVGPU_FW_GR_MMIO_B, 0x400000, 0x420000);
	use_list(f, KVGPU_FW_CTX_TPC_B, 0x400000, 0x420000);
	use_list(f, KVGPU_FW_CTX_ICMD, 0, 0x20000);
	use_list(f, KVGPU_FW_CTX_MTHD, 0, 0x4000);
	if (strnlen(f->origin, sizeof(f->origin)) == sizeof(f->origin))
		abort();
	(void)*(volatile u32 *)&sum;
}

static void change(struct fwbuild *b, const u8 *data, size_t size)
{
	u16 at;
	u32 val;

	for (; size >= 6; data += 6, size -= 6) {
		memcpy(&at, data, 2);
		memcpy(&val, data + 2, 4);
		at %= b->size - 4;
		memcpy(b->data + at, &val, 4);
	}
	fwbuild_seal(b);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct fwbuild b;
	const char *why = NULL;
	struct fwfile f;
	int ret;

	if (size && data[0] == 0xff) {
		ret = hw_fwfile_parse(&f, data + 1, size - 1, &why);
	} else {
		fwbuild_make(&b);
		change(&b, data, size);
		ret = hw_fwfile_parse(&f, b.data, b.size, &why);
	}
	if (!ret)
		use(&f);
	else if (!why)
		abort();
	return 0;
}
