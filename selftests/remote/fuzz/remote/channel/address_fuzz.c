// SPDX-License-Identifier: MIT
/*
 * Texts of addresses: what is taken is bounded, plain TCP stays on this machine, and what is
 * refused has a reason.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <remote/channel/address.h>

static void must(bool fine)
{
	if (!fine)
		abort();
}

static bool is_local(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return (ntohl(four.s_addr) & 0xff000000) == 0x7f000000;
	return inet_pton(AF_INET6, host, &six) == 1 &&
	       !memcmp(&six, &in6addr_loopback, sizeof(six));
}

static void check(const char *text, bool listen)
{
	const char *why = NULL;
	struct address a;
	int r = address_parse(text, listen, &a, &why);

	must(r == 0 || r == -EINVAL);
	if (r) {
		must(why && *why);
		return;
	}
	must(memchr(a.host, 0, sizeof(a.host)) != NULL);
	must(a.scheme != ADDRESS_UNIX || (a.host[0] == '/' && strlen(a.host) <= 107));
	must(a.scheme != ADDRESS_TCP || is_local(a.host));
	must(memchr(a.doorbell, 0, sizeof(a.doorbell)) != NULL);
	must(a.scheme != ADDRESS_SHMEM || a.host[0] == '/');
	must(!*a.doorbell || (a.scheme == ADDRESS_SHMEM && (!strncmp(a.doorbell, "unix:/", 6) ||
							    !strncmp(a.doorbell, "vsock:", 6))));
	must(a.scheme == ADDRESS_UNIX || a.scheme == ADDRESS_SHMEM || a.port);
	must(a.scheme != ADDRESS_TLS ||
	     (a.port <= 65535 && (listen || *a.host) && strlen(a.host) <= 253));
	must(a.scheme != ADDRESS_VSOCK || listen || a.cid != UINT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = calloc(1, n + 1);

	memcpy(text, data, n);
	check(text, false);
	check(text, true);
	free(text);
	return 0;
}
