/* SPDX-License-Identifier: MIT */
/* Folders in which nobody else can make, exchange or redirect what root writes. */
#ifndef KVGPU_REMOTE_CONF_KEPT_H
#define KVGPU_REMOTE_CONF_KEPT_H

#include <limits.h>

/*
 * Whether nobody but root, and this user, can put files into the folder @path, or exchange it, or a
 * folder or a link on the way there. A folder on the way in which files stay their owners', such as
 * /dev/shm, may be for all. Return 0: it is so. 1: others may write @bad, or @bad is a link of
 * theirs. A negative errno: @path can't be looked at, and @bad is @path.
 */
int kept_look(const char *path, char bad[PATH_MAX]);

#endif
