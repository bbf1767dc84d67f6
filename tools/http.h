/* SPDX-License-Identifier: GPL-2.0-only */
/* kvgpu-top --http: one request on standard input, one answer. */
#ifndef KVGPU_TOOLS_HTTP_H
#define KVGPU_TOOLS_HTTP_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Read a request, and write to @out what @print prints, or an error of HTTP. @print gets @arg and
 * returns false if it has nothing. Return false if @print did, or the answer can't be written.
 */
bool serve_http(FILE *out, bool (*print)(FILE *out, void *arg), void *arg);

#endif
