/* SPDX-License-Identifier: GPL-2.0-only */
vm_fault_t vmf_insert_pfn_pmd(struct vm_fault *vmf, unsigned long pfn,
			      bool write);
