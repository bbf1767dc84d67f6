/* SPDX-License-Identifier: GPL-2.0-only */
struct vm_area_struct {
	union {
		const vm_flags_t vm_flags;
		vm_flags_t __private __vm_flags;
	};
};
