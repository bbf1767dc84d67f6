/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space stand-in for the kernel header of the same name: circular doubly linked lists. Adding
 * or removing an entry aborts the program if the neighbours' pointers are wrong.
 */
#ifndef KVGPU_USER_LINUX_LIST_H
#define KVGPU_USER_LINUX_LIST_H

#include <stdlib.h>

#include <linux/types.h>

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name)     \
	{                        \
		&(name), &(name) \
	}
#define LIST_HEAD(name) struct list_head name = LIST_HEAD_INIT(name)
#define LIST_POISON1	((struct list_head *)0x100)
#define LIST_POISON2	((struct list_head *)0x122)

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l;
	l->prev = l;
}

static inline void list_insert_between(struct list_head *e, struct list_head *prev,
				       struct list_head *next)
{
	if (next->prev != prev || prev->next != next || e == prev || e == next)
		abort();
	next->prev = e;
	e->next = next;
	e->prev = prev;
	prev->next = e;
}

static inline void list_add(struct list_head *e, struct list_head *head)
{
	list_insert_between(e, head, head->next);
}

static inline void list_add_tail(struct list_head *e, struct list_head *head)
{
	list_insert_between(e, head->prev, head);
}

static inline void list_unlink(struct list_head *e)
{
	if (e->next == LIST_POISON1 || e->prev == LIST_POISON2 || e->prev->next != e ||
	    e->next->prev != e)
		abort();
	e->next->prev = e->prev;
	e->prev->next = e->next;
}

static inline void list_del(struct list_head *e)
{
	list_unlink(e);
	e->next = LIST_POISON1;
	e->prev = LIST_POISON2;
}

static inline void list_del_init(struct list_head *e)
{
	list_unlink(e);
	INIT_LIST_HEAD(e);
}

static inline void list_move(struct list_head *e, struct list_head *head)
{
	list_unlink(e);
	list_add(e, head);
}

static inline void list_move_tail(struct list_head *e, struct list_head *head)
{
	list_unlink(e);
	list_add_tail(e, head);
}

static inline int list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline int list_is_last(const struct list_head *e, const struct list_head *head)
{
	return e->next == head;
}

#define list_entry(ptr, type, member)	     ((type *)((char *)(ptr)-offsetof(type, member)))
#define list_first_entry(head, type, member) list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)  list_entry((head)->prev, type, member)
#define list_first_entry_or_null(head, type, member) \
	(list_empty(head) ? NULL : list_first_entry(head, type, member))
#define list_next_entry(pos, member) list_entry((pos)->member.next, __typeof__(*(pos)), member)

#define list_for_each(pos, head) for (pos = (head)->next; pos != (head); pos = pos->next)
#define list_for_each_entry(pos, head, member)                                               \
	for (pos = list_first_entry(head, __typeof__(*pos), member); &pos->member != (head); \
	     pos = list_next_entry(pos, member))
#define list_for_each_entry_safe(pos, n, head, member)               \
	for (pos = list_first_entry(head, __typeof__(*pos), member), \
	    n = list_next_entry(pos, member);                        \
	     &pos->member != (head); pos = n, n = list_next_entry(n, member))

#endif
