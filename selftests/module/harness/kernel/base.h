/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the module uses of the kernel, for a process in user space: types, memory, bits, words,
 * messages. One thread runs all coroutines, so that atomics are plain. harness_point() (task.h)
 * marks the places where another CPU may come in between.
 *
 * The linux/ and asm/ headers below are those of include/user.
 */
#ifndef KVGPU_HARNESS_BASE_H
#define KVGPU_HARNESS_BASE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define __iomem
#define __user
#define __rcu
#define __init
#define __exit
#define __maybe_unused __attribute__((unused))
#define __aligned(n)   __attribute__((aligned(n)))
#define fallthrough    __attribute__((fallthrough))
#define __le32	       __u32
#undef static_assert
#define static_assert(expr, ...) _Static_assert(expr, #expr)
#define typeof __typeof__
#define min_not_zero(a, b)	  ((a) && (b) ? min(a, b) : (a) ?: (b))
#define clamp_t(type, v, lo, hi)  min_t(type, max_t(type, v, lo), hi)
#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
#define U32_MAX			  (~0u)
#define U64_MAX			  (~0ull)
#undef ULONG_MAX
#define ULONG_MAX	 (~0ul)
#define DIV_ROUND_UP_ULL DIV_ROUND_UP
#define KBUILD_MODNAME	 "kvgpu"
#define THIS_MODULE	 ((struct module *)NULL)

#define PAGE_SHIFT	  12
#define PAGE_SIZE	  4096ul
#define PAGE_MASK	  (~(PAGE_SIZE - 1))
#define PMD_SIZE	  (2ul << 20)
#define PAGE_ALIGN(v)	  ALIGN(v, PAGE_SIZE)
#define PAGE_ALIGNED(v)	  IS_ALIGNED(v, PAGE_SIZE)
#define offset_in_page(p) ((unsigned long)(p) & ~PAGE_MASK)
#define ALIGN(v, a)	  (((v) + (a)-1) & ~((__typeof__(v))(a)-1))
#define ALIGN_DOWN(v, a)  ((v) & ~((__typeof__(v))(a)-1))
#define IS_ALIGNED(v, a)  (!((v) & ((__typeof__(v))(a)-1)))
#define SZ_1M		  0x100000
#define SZ_2M		  0x200000
#define SZ_4M		  0x400000
#define SZ_8M		  0x800000
#define SZ_16M		  0x1000000
#define SZ_32M		  0x2000000
#define SZ_64M		  0x4000000
#define SZ_128M		  0x8000000
#define SZ_512M		  0x20000000
#define SZ_1G		  0x40000000
#define SZ_2G		  0x80000000ll
#define SZ_4G		  0x100000000ll

typedef u64 resource_size_t;
typedef u64 dma_addr_t;
typedef u64 phys_addr_t;
typedef s64 ktime_t;
typedef unsigned int gfp_t;
typedef unsigned int vm_fault_t;
typedef unsigned short umode_t;
typedef unsigned long kernel_ulong_t;
typedef long long harness_loff_t;
#define loff_t harness_loff_t

/* ------------------------------------------------------------------ what ends a run */

/* Fail the run: an invariant does not hold, or the module misuses the kernel. Does not return. */
void harness_fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));
#define FAIL_ON(cond, ...)                         \
	do {                                       \
		if (cond)                          \
			harness_fail(__VA_ARGS__); \
	} while (0)

#define WARN_ON(cond)                                                             \
	({                                                                        \
		FAIL_ON(cond, "WARN_ON(%s) at %s:%d", #cond, __FILE__, __LINE__); \
		false;                                                            \
	})
#define WARN_ON_ONCE WARN_ON

/* ------------------------------------------------------------- memory: may fail as the run says */

#define GFP_KERNEL	   1u
#define GFP_KERNEL_ACCOUNT 2u
#define __GFP_ZERO	   4u
#define __GFP_NOFAIL	   8u

void *harness_alloc(size_t n, gfp_t gfp);
void harness_free(const void *p);
size_t harness_allocated(void); /* pieces not freed; then counts anew */
#define kmalloc(n, gfp)		  harness_alloc(n, gfp)
#define kzalloc(n, gfp)		  harness_alloc(n, (gfp) | __GFP_ZERO)
#define kvmalloc		  kmalloc
#define kvzalloc		  kzalloc
#define kvcalloc(n, s, gfp)	  harness_alloc((size_t)(n) * (s), (gfp) | __GFP_ZERO)
#define kvmalloc_array(n, s, gfp) harness_alloc((size_t)(n) * (s), gfp)
#define kfree			  harness_free
#define kvfree			  harness_free
#define vmalloc(n)		  harness_alloc(n, GFP_KERNEL)
#define __vmalloc		  harness_alloc
#define vfree			  harness_free
unsigned long vmalloc_to_pfn(const void *p);

/* Error numbers as pointers. */
#define IS_ERR(p)  ((unsigned long)(p) >= (unsigned long)-4095)
#define PTR_ERR(p) ((long)(p))
#define ERR_PTR(e) ((void *)(long)(e))

/* ------------------------------------------------------------------ atomics and bits */

typedef struct {
	int v;
} atomic_t;
typedef struct {
	s64 v;
} atomic64_t;
typedef struct {
	int v;
} refcount_t;
#define atomic_read(a)		 ((a)->v)
#define smp_store_release(p, x)	 WRITE_ONCE(*(p), x)
#define smp_load_acquire(p)	 READ_ONCE(*(p))
#define smp_mb()		 ((void)0)
#define smp_mb__after_atomic()	 ((void)0)
#define atomic_inc(a)		 ((void)(a)->v++)
#define atomic_dec(a)		 ((void)(a)->v--)
#define atomic_inc_return(a)	 (++(a)->v)
#define atomic64_read(a)	 ((a)->v)
#define atomic64_set(a, n)	 ((void)((a)->v = (n)))
#define atomic64_inc(a)		 ((void)(a)->v++)
#define atomic64_add(n, a)	 ((void)((a)->v += (n)))
#define refcount_set(r, n)	 ((r)->v = (n))
#define refcount_inc(r)		 ((void)(r)->v++)
#define refcount_dec_and_test(r) (!--(r)->v)
/* The word may be in memory that a guest writes: another CPU may come in just before. */
void harness_point(const char *where);
#define xchg(p, val)                   \
	({                             \
		typeof(*(p)) xchg_old; \
		harness_point("xchg"); \
		xchg_old = *(p);       \
		*(p) = (val);          \
		xchg_old;              \
	})
#define cmpxchg(p, old, new)              \
	({                                \
		typeof(*(p)) cmp_was;     \
		harness_point("cmpxchg"); \
		cmp_was = *(p);           \
		if (cmp_was == (old))     \
			*(p) = (new);     \
		cmp_was;                  \
	})

static inline bool atomic64_try_cmpxchg(atomic64_t *a, s64 *old, s64 new)
{
	if (a->v != *old) {
		*old = a->v;
		return false;
	}
	a->v = new;
	return true;
}

#define BITS_PER_BYTE		8
#define BITS_PER_LONG		64
#define BITS_TO_LONGS(n)	DIV_ROUND_UP(n, BITS_PER_LONG)
#define DECLARE_BITMAP(name, n) unsigned long name[BITS_TO_LONGS(n)]
#define hweight8(v)		((unsigned int)__builtin_popcount((v)&0xff))
#define hweight32(v)		((unsigned int)__builtin_popcount(v))
#define lower_32_bits(v)	((u32)(v))
#define upper_32_bits(v)	((u32)((u64)(v) >> 32))

static inline bool test_bit(unsigned long n, const unsigned long *m)
{
	return m[n / BITS_PER_LONG] >> n % BITS_PER_LONG & 1;
}

static inline void set_bit(unsigned long n, unsigned long *m)
{
	m[n / BITS_PER_LONG] |= 1ul << n % BITS_PER_LONG;
}

static inline void clear_bit(unsigned long n, unsigned long *m)
{
	m[n / BITS_PER_LONG] &= ~(1ul << n % BITS_PER_LONG);
}

#define __set_bit   set_bit
#define __clear_bit clear_bit

static inline bool test_and_set_bit(unsigned long n, unsigned long *m)
{
	bool was = test_bit(n, m);

	set_bit(n, m);
	return was;
}

#define clear_bit_unlock	    clear_bit
#define test_and_set_bit_lock(n, m) (harness_point("test_and_set_bit_lock"), test_and_set_bit(n, m))

static inline bool test_and_clear_bit(unsigned long n, unsigned long *m)
{
	bool was = test_bit(n, m);

	clear_bit(n, m);
	return was;
}

unsigned long find_next_bit(const unsigned long *m, unsigned long size, unsigned long from);
unsigned long find_next_zero_bit(const unsigned long *m, unsigned long size, unsigned long from);
unsigned long bitmap_find_next_zero_area(unsigned long *m, unsigned long size, unsigned long start,
					 unsigned int nr, unsigned long align_mask);
void bitmap_set(unsigned long *m, unsigned int first, unsigned int nr);
void bitmap_clear(unsigned long *m, unsigned int first, unsigned int nr);

static inline unsigned int bitmap_weight(const unsigned long *m, unsigned int nr)
{
	unsigned int bit, n = 0;

	for (bit = 0; bit < nr; bit++)
		n += m[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
	return n;
}

#define bitmap_zero(m, n) memset(m, 0, BITS_TO_LONGS(n) * sizeof(long))
#define for_each_set_bit(bit, m, n) \
	for ((bit) = find_next_bit(m, n, 0); (bit) < (n); (bit) = find_next_bit(m, n, (bit) + 1))

#define mul_u64_u64_div_u64(a, b, c) ((u64)((unsigned __int128)(a) * (b) / (c)))

#define le32_to_cpup(p) (*(const __le32 *)(p))

/* ------------------------------------------------------------------ time: the harness's clock */

#define NSEC_PER_SEC  1000000000l
#define NSEC_PER_MSEC 1000000l
#define NSEC_PER_USEC 1000l
#define USEC_PER_SEC  1000000l
#define USEC_PER_MSEC 1000l
#define HZ	      250

extern u64 harness_now;
#define ktime_get()	   ((ktime_t)harness_now)
#define ktime_get_ns()	   ((u64)ktime_get())
#define ktime_get_boottime ktime_get
/* the time of day, which is that of 2026 */
#define ktime_get_real_ns()  (harness_now + 1792000000000000000ull)
#define ktime_to_us(t)	     ((long long)(t) / 1000)
#define ktime_add_us(t, us)  ((t) + (s64)(us)*1000)
#define ktime_add_ms(t, ms)  ((t) + (s64)(ms)*1000000)
#define ktime_after(a, b)    ((a) > (b))
#define ktime_before(a, b)   ((a) < (b))
#define ns_to_ktime(n)	     ((ktime_t)(n))
#define msecs_to_jiffies(ms) ((unsigned long)DIV_ROUND_UP((ms)*HZ, 1000))
#define nsecs_to_jiffies(ns) ((unsigned long)((ns) / (NSEC_PER_SEC / HZ)))
void harness_sleep(u64 ns);
#define msleep(ms) harness_sleep((ms)*1000000ull)
#define udelay(us) ((void)(harness_now += (us)*1000ull))
void usleep_range(unsigned long first, unsigned long last);
#define cond_resched() harness_point("cond_resched")
u64 harness_random(void);
#define get_random_u64 harness_random

/* ------------------------------------------------ words of others that need no more than a name */

int kstrtouint(const char *text, unsigned int base, unsigned int *out);
bool sysfs_streq(const char *text, const char *name);
#define sysfs_emit(buf, ...) snprintf(buf, PAGE_SIZE, __VA_ARGS__)

#define module_param(name, type, perm) unsigned int *const harness_param_##name = &name
#define MODULE_PARM_DESC(name, text)
#define MODULE_DEVICE_TABLE(type, name)
#define MODULE_DESCRIPTION(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)
#define MODULE_FIRMWARE(name)
#define MODULE_SOFTDEP(text)
#define module_init(fn) int (*const harness_module_init)(void) = fn
#define module_exit(fn) void (*const harness_module_exit)(void) = fn
extern int (*const harness_module_init)(void);
extern void (*const harness_module_exit)(void);
struct module;

#define wmb()
#define dma_rmb()

#define TRACE_EVENT(name, proto, ...)          \
	static inline void trace_##name(proto) \
	{                                      \
	}
#define TRACE_DEFINE_ENUM(x)
#define TP_PROTO(...) __VA_ARGS__

#endif
