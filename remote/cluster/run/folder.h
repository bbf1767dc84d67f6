/* SPDX-License-Identifier: MIT */
/* The folder of one kvgpu-run: sockets, and what MPI writes. This user's alone (0700). */
#ifndef KVGPU_CLUSTER_FOLDER_H
#define KVGPU_CLUSTER_FOLDER_H

#include <stddef.h>

/*
 * In $XDG_RUNTIME_DIR, /run/user/UID, /dev/shm or /tmp: in memory if there is any such place.
 * Removes those whose kvgpu-run is dead. 0 or -errno; a lock says that it is in use.
 */
int folder_make(char *path, size_t size);
/* with all that is in it; what is not there is no error */
void folder_remove(const char *path);

#endif
