/* SPDX-License-Identifier: GPL-2.0-only */
/* kvgpu-top --http: requests at the socket that is standard input, and their answers. */
#ifndef KVGPU_TOOLS_HTTP_H
#define KVGPU_TOOLS_HTTP_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Answer requests with what @print prints, or an error of HTTP, until nobody has come for some
 * seconds. @print gets @arg, is called once a second at most, and returns false if it has nothing.
 * Return false if standard input is no socket that listens, or connections can't be taken: that was
 * printed.
 */
bool serve_http(bool (*print)(FILE *out, void *arg), void *arg);

#endif
