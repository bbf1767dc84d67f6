/* SPDX-License-Identifier: GPL-2.0-only */
struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *vmf);
	vm_fault_t (*huge_fault)(struct vm_fault *vmf,
			enum page_entry_size pe_size);
};
void zap_vma_ptes(struct vm_area_struct *vma, unsigned long address,
		  unsigned long size);
