/* SPDX-License-Identifier: MIT */
/*
 * The compiler includes this file before all else (gcc -include) where it compiles programs and
 * libraries for packages. With _GNU_SOURCE, glibc 2.38 and newer replace strtol(), sscanf() and the
 * like by functions that the glibc of Debian 12 (2.36) lacks. The macros keep the old functions.
 */
#ifndef KVGPU_OLDER_LIBC_H
#define KVGPU_OLDER_LIBC_H

#include <features.h>

/* glibc 2.38 and 2.39, then 2.40 and newer */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#endif
