// SPDX-License-Identifier: MIT
#include "builds.h"

#include <stdio.h>

/* the letter in the highest byte of a version that has a release */
enum { HAS_RELEASE = 'K' };

/* a number that rises with the release */
static uint32_t age_of(uint64_t version)
{
	return version >> 56 == HAS_RELEASE ? (uint32_t)(version >> 32) : 0;
}

const char *build_release(uint64_t version, char to[BUILD_RELEASE])
{
	const unsigned int major = version >> 48 & 0xff, minor = version >> 40 & 0xff,
			   patch = version >> 32 & 0xff;

	if (!age_of(version))
		snprintf(to, BUILD_RELEASE, "older");
	else if (patch)
		snprintf(to, BUILD_RELEASE, "%u.%u.%u", major, minor, patch);
	else
		snprintf(to, BUILD_RELEASE, "%u.%u", major, minor);
	return to;
}

const char *build_protocol(const struct kvgpu_remote_build *b, char to[BUILD_PROTOCOL])
{
	if (b->table)
		snprintf(to, BUILD_PROTOCOL, "%08x-%08x", (uint32_t)b->version,
			 (uint32_t)(b->table >> 32));
	else
		snprintf(to, BUILD_PROTOCOL, "%08x", (uint32_t)b->version);
	return to;
}

const char *builds_apart(const struct kvgpu_remote_build *client,
			 const struct kvgpu_remote_build *server, char to[BUILDS_TEXT])
{
	const uint32_t here = age_of(client->version), there = age_of(server->version);
	char release[2][BUILD_RELEASE], protocol[2][BUILD_PROTOCOL];

	snprintf(to, BUILDS_TEXT, "client %s (protocol %s), server %s (protocol %s): %s",
		 build_release(client->version, release[0]), build_protocol(client, protocol[0]),
		 build_release(server->version, release[1]), build_protocol(server, protocol[1]),
		 here < there ? "update the client" :
		 here > there ? "update the server" :
				"install one build on both");
	return to;
}
