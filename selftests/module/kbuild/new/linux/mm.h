/* SPDX-License-Identifier: GPL-2.0-only */
static inline void vm_flags_set(struct vm_area_struct *vma,
				vm_flags_t flags)
{
}
struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
	vm_fault_t (*huge_fault)(struct vm_fault *vmf, unsigned int order);
};
