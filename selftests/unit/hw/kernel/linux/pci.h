/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for the kernel's header in tests of hw/: struct pci_dev. */
#ifndef KVGPU_TEST_LINUX_PCI_H
#define KVGPU_TEST_LINUX_PCI_H

#include "kernel_services.h"

#endif
