/* SPDX-License-Identifier: MIT */
/* The folder of one kvgpu-run, for sockets and MPI's files. This user's alone (0700). */
#ifndef KVGPU_CLUSTER_FOLDER_H
#define KVGPU_CLUSTER_FOLDER_H

#include <stddef.h>

/*
 * Make a folder in $XDG_RUNTIME_DIR, /run/user/UID, /dev/shm or /tmp. Also remove folders whose
 * kvgpu-run is dead. A lock says that a folder is in use. 0 or -errno.
 */
int folder_make(char *path, size_t size);
/* remove the folder with all that is in it; it is no error if there is none */
void folder_remove(const char *path);

#endif
