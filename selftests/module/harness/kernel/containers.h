/* SPDX-License-Identifier: GPL-2.0-only */
/* Hash lists and the xarray: the kernel's interfaces. The xarray is a sorted array. */
#ifndef KVGPU_HARNESS_CONTAINERS_H
#define KVGPU_HARNESS_CONTAINERS_H

#include "selftests/module/harness/kernel/base.h"

struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct hlist_head {
	struct hlist_node *first;
};

#define INIT_HLIST_NODE(n)	      ((n)->next = NULL, (n)->pprev = NULL)
#define DECLARE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define DEFINE_HASHTABLE(name, bits)  struct hlist_head name[1 << (bits)]
#define hash_init(t)		      memset(t, 0, sizeof(t))
/* clang-format off */
#define hash_bucket(t, key)	(&(t)[((u64)(key) * 0x61c8864680b583ebull >> 32) % ARRAY_SIZE(t)])
/* clang-format on */
#define hash_add(t, n, key) hlist_add_head(n, hash_bucket(t, key))
#define hash_del	    hlist_del_init
#define hash_for_each_possible(t, obj, member, key)               \
	for (struct hlist_node *at_ = hash_bucket(t, key)->first; \
	     at_ && ((obj) = container_of(at_, typeof(*(obj)), member), true); at_ = at_->next)

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	n->pprev = &h->first;
	if (h->first)
		h->first->pprev = &n->next;
	h->first = n;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	if (!n->pprev)
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	INIT_HLIST_NODE(n);
}

struct xa_slot {
	unsigned long index;
	void *entry;
	bool mark;
};
struct xarray {
	struct xa_slot *slot;
	u32 nr, room;
};
typedef int xa_mark_t;
#define XA_MARK_0  0
#define XA_PRESENT 8

#define XA_FLAGS_ACCOUNT	 0
#define xa_init_flags(xa, flags) ((void)(flags), memset(xa, 0, sizeof(struct xarray)))
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp);
void *xa_erase(struct xarray *xa, unsigned long index);
void *xa_load(struct xarray *xa, unsigned long index);
void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, xa_mark_t filter);
#define xa_for_each(xa, index, entry) \
	for ((index) = 0; ((entry) = xa_find(xa, &(index), ULONG_MAX, XA_PRESENT)); (index)++)
void xa_set_mark(struct xarray *xa, unsigned long index, xa_mark_t mark);
bool xa_get_mark(struct xarray *xa, unsigned long index, xa_mark_t mark);
bool xa_empty(const struct xarray *xa);
void xa_destroy(struct xarray *xa);
#define xa_mk_value(v) ((void *)((unsigned long)(v) << 1 | 1))
#define xa_to_value(p) ((unsigned long)(p) >> 1)
#define xa_err(p)      (IS_ERR(p) ? (int)PTR_ERR(p) : 0)

#endif
