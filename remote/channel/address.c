// SPDX-License-Identifier: MIT
/* The text of an address. Each scheme has a line in a table, which says how its rest is read. */
#include "address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { PORT_MAX = 65535, NAME_MAX_BYTES = 253 };

/* A number in decimal digits alone, @max at most. */
static bool parse_number(const char *text, uint32_t max, uint32_t *n)
{
	uint64_t value = 0;
	const char *at;

	for (at = text; isdigit((unsigned char)*at); at++) {
		value = value * 10 + (*at - '0');
		if (value > max)
			return false;
	}
	*n = value;
	return at != text && !*at;
}

static int parse_unix(const char *rest, bool listen, struct address *a, const char **why)
{
	*why = "the path of a socket begins with / and has 107 bytes at most";
	if (*rest != '/' || strlen(rest) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return -EINVAL;
	strcpy(a->host, rest);
	return 0;
}

/* The part before the last colon goes to @host; what follows is the port. */
static bool split_host_port(const char *rest, uint32_t port_max, char *host, size_t size,
			    uint32_t *port)
{
	const char *colon = strrchr(rest, ':');

	if (!colon || colon == rest || (size_t)(colon - rest) >= size ||
	    !parse_number(colon + 1, port_max, port) || !*port)
		return false;
	memcpy(host, rest, colon - rest);
	host[colon - rest] = 0;
	return true;
}

static int parse_vsock(const char *rest, bool listen, struct address *a, const char **why)
{
	*why = "vsock:CID:PORT: a port is a number from 1 to 4294967294";
	if (!split_host_port(rest, UINT32_MAX - 1, a->host, sizeof(a->host), &a->port))
		return -EINVAL;
	*why = listen ? "vsock:CID:PORT: a CID is a number, or * for all of this machine's" :
			"vsock:CID:PORT: a CID is a number: 2 for the host, 3 and more for its VMs";
	if (listen && !strcmp(a->host, "*"))
		a->cid = UINT32_MAX;
	else if (!parse_number(a->host, UINT32_MAX - 1, &a->cid))
		return -EINVAL;
	a->host[0] = 0;
	return 0;
}

/* check a host; the brackets of [IPv6] are removed in place */
static bool is_host(char *host)
{
	size_t n = strlen(host), i;
	struct in6_addr six;

	if (*host == '[') {
		if (n < 4 || host[n - 1] != ']')
			return false;
		memmove(host, host + 1, n - 2);
		host[n - 2] = 0;
		return inet_pton(AF_INET6, host, &six) == 1;
	}
	if (n > NAME_MAX_BYTES || *host == '-' || *host == '.')
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)host[i]) && !strchr("-._", host[i]))
			return false;
	return true;
}

static int parse_host(const char *rest, bool listen, struct address *a, const char **why)
{
	*why = "HOST:PORT: a port is a number from 1 to 65535";
	if (!split_host_port(rest, PORT_MAX, a->host, sizeof(a->host), &a->port))
		return -EINVAL;
	*why = "HOST:PORT: a host is a name, 192.0.2.1 or [2001:db8::1], which has brackets";
	if (listen && !strcmp(a->host, "*"))
		a->host[0] = 0;
	else if (!is_host(a->host))
		return -EINVAL;
	return 0;
}

static bool is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int parse_tcp(const char *rest, bool listen, struct address *a, const char **why)
{
	int r = parse_host(rest, listen, a, why);

	if (r)
		return r;
	*why = "tcp: neither encrypts nor asks who the other side is, so it is for the addresses 127.0.0.1 and [::1] alone, and "
	       "takes no name; use tls:HOST:PORT";
	return is_loopback(a->host) ? 0 : -EINVAL;
}

static int parse_shmem(const char *rest, bool listen, struct address *a, const char **why)
{
	const char *doorbell = strstr(rest, ",bell=");
	size_t n = doorbell ? (size_t)(doorbell - rest) : strlen(rest);
	struct address ring;

	*why = "the path of an aperture begins with / and has 255 bytes at most";
	if (*rest != '/' || n >= sizeof(a->host))
		return -EINVAL;
	memcpy(a->host, rest, n);
	if (!doorbell)
		return 0;
	doorbell += strlen(",bell=");
	*why = "an aperture's bell is unix:/path or vsock:CID:PORT";
	if (strlen(doorbell) >= sizeof(a->doorbell) ||
	    (strncmp(doorbell, "unix:", 5) && strncmp(doorbell, "vsock:", 6)))
		return -EINVAL;
	strcpy(a->doorbell, doorbell);
	return address_parse(doorbell, listen, &ring, why);
}

static const struct {
	const char *prefix;
	enum address_scheme scheme;
	int (*parse)(const char *rest, bool listen, struct address *a, const char **why);
} schemes[] = {
	{ "unix:", ADDRESS_UNIX, parse_unix },	     { "vsock:", ADDRESS_VSOCK, parse_vsock },
	{ "tcp:", ADDRESS_TCP, parse_tcp },	     { "tls:", ADDRESS_TLS, parse_host },
	{ "aperture:", ADDRESS_SHMEM, parse_shmem },
};

int address_parse(const char *text, bool listen, struct address *a, const char **why)
{
	size_t i, n;

	memset(a, 0, sizeof(*a));
	for (i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		n = strlen(schemes[i].prefix);
		if (strncmp(text, schemes[i].prefix, n))
			continue;
		a->scheme = schemes[i].scheme;
		return schemes[i].parse(text + n, listen, a, why);
	}
	*why = "no address of a server: unix:/path, aperture:/path, vsock:CID:PORT, tls:HOST:PORT or tcp:127.0.0.1:PORT";
	return -EINVAL;
}
