/* SPDX-License-Identifier: GPL-2.0-only */
typedef unsigned long vm_flags_t;
struct vm_area_struct {
	pgprot_t vm_page_prot;
	unsigned long vm_flags;		/* Flags, see mm.h. */
};
