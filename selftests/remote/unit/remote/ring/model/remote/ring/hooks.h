/* SPDX-License-Identifier: GPL-2.0-only */
/* Accesses to shared memory and looks at the clock, as functions that a test defines. */
#ifndef KVGPU_RING_HOOKS_H
#define KVGPU_RING_HOOKS_H

#include <stddef.h>
#include <stdint.h>

uint64_t hook_load(const uint64_t *p);
uint32_t hook_load32(const uint32_t *p);
void hook_store(uint64_t *p, uint64_t v);
void hook_store32(uint32_t *p, uint32_t v);
void hook_store_release(uint64_t *p, uint64_t v);
void hook_fence(void);
void hook_copy_in(void *to, const uint64_t *from, size_t n);
void hook_copy_out(void *to, const void *from, size_t n);
uint64_t hook_clock_ns(void);
void hook_clock_yield(void);

#endif
