/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the kernel that hw/ uses, for tests in user space: registers and card memory are the
 * fake chip's. ../chip.c defines the functions.
 */
#ifndef KVGPU_TEST_KERNEL_SERVICES_H
#define KVGPU_TEST_KERNEL_SERVICES_H

#include <assert.h>
#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#define __iomem
#define PAGE_SHIFT	 12
#define PAGE_SIZE	 4096ul
#define USEC_PER_SEC	 1000000l
#define ALIGN(v, a)	 (((v) + (a)-1) & ~((__typeof__(v))(a)-1))
#define hweight8(v)	 ((unsigned int)__builtin_popcount((v)&0xff))
#define hweight32(v)	 ((unsigned int)__builtin_popcount(v))
#define lower_32_bits(v) ((u32)(v))
#define upper_32_bits(v) ((u32)((u64)(v) >> 32))

typedef u64 resource_size_t;
typedef u64 dma_addr_t;
typedef s64 ktime_t;

struct device {
	int errors;
};
struct pci_dev {
	struct device dev;
};
struct gen_pool;

void dev_err(struct device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dev_info(struct device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dev_dbg(struct device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dev_err_ratelimited(struct device *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void dev_warn(struct device *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dev_warn_ratelimited(struct device *dev, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct rt_mutex {
	bool held;
};
#define rt_mutex_init(l) ((l)->held = false)
void rt_mutex_lock(struct rt_mutex *l);
void rt_mutex_unlock(struct rt_mutex *l);
#define lockdep_assert_held(m) assert((m)->held)
typedef struct {
	int v;
} atomic_t;
typedef struct {
	bool held;
} spinlock_t;
void spin_lock(spinlock_t *l);
void spin_unlock(spinlock_t *l);

ktime_t ktime_get(void);
static inline ktime_t ktime_add_us(ktime_t t, u64 us)
{
	return t + (s64)us * 1000;
}
static inline bool ktime_after(ktime_t a, ktime_t b)
{
	return a > b;
}
void msleep(unsigned int ms);
void udelay(unsigned long us);
void usleep_range(unsigned long first, unsigned long last);

u32 ioread32(const void *at);
void iowrite32(u32 val, void *at);
void writeq(u64 val, void *at);
void memset_io(void *at, int c, size_t n);
void memcpy_fromio(void *to, const void *from, size_t n);

#define GFP_KERNEL 0
void *kvmalloc(size_t n, int gfp);
void kvfree(const void *p);

#endif
