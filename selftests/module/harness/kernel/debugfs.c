// SPDX-License-Identifier: GPL-2.0-only
/* debugfs: folders and files with text. A read by an admin is debugfs_text(). */
#include "selftests/module/harness/kernel/services.h"

struct dentry {
	struct list_head node;
	struct dentry *parent;
	const char *name;
	const struct file_operations *fops; /* NULL: a folder */
	void *data;
};

static LIST_HEAD(entries);

struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
{
	struct dentry *d = calloc(1, sizeof(*d));

	d->name = name;
	d->parent = parent;
	d->fops = fops;
	d->data = data;
	list_add_tail(&d->node, &entries);
	return d;
}

void debugfs_remove(struct dentry *dir)
{
	struct dentry *d, *next;

	list_for_each_entry_safe(d, next, &entries, node)
		if (d == dir || d->parent == dir) {
			list_del(&d->node);
			free(d);
		}
}

void seq_printf(struct seq_file *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	s->len += vsnprintf(s->text + s->len, sizeof(s->text) - s->len, fmt, ap);
	va_end(ap);
	FAIL_ON(s->len >= sizeof(s->text), "a file of debugfs is longer than %zu bytes",
		sizeof(s->text));
}

const char *debugfs_text(const char *dir, const char *file)
{
	static struct seq_file s;
	struct dentry *d;

	list_for_each_entry(d, &entries, node)
		if (d->fops && !strcmp(d->name, file) && d->parent &&
		    !strcmp(d->parent->name, dir)) {
			s.len = 0;
			s.text[0] = 0;
			s.private = d->data;
			FAIL_ON(d->fops->show(&s, NULL), "%s/%s can't be read", dir, file);
			return s.text;
		}
	harness_fail("debugfs has no %s/%s", dir, file);
}
