/* SPDX-License-Identifier: MIT */
/*
 * What client and server tell each other of their builds, and what people read of it. A version is
 * the release and a hash of what all frames share; remote/api.py makes it.
 */
#ifndef KVGPU_REMOTE_BUILDS_H
#define KVGPU_REMOTE_BUILDS_H

#include <stdbool.h>
#include <stddef.h>

#include <remote/wire/frame.h>

enum { BUILD_RELEASE = 16, BUILD_PROTOCOL = 20, BUILDS_TEXT = 160 };

/* Whether two builds have one layout of what all frames share. */
static inline bool builds_speak(uint64_t version, uint64_t other)
{
	return (uint32_t)version == (uint32_t)other;
}

/* Print the release, as "0.4". "older": a build from before versions had one. */
const char *build_release(uint64_t version, char to[BUILD_RELEASE]);
/* Print both hashes, as --version does; a .table of 0 is not known. */
const char *build_protocol(const struct kvgpu_remote_build *b, char to[BUILD_PROTOCOL]);
/* Print both builds, and which side to update. */
const char *builds_apart(const struct kvgpu_remote_build *client,
			 const struct kvgpu_remote_build *server, char to[BUILDS_TEXT]);

#endif
