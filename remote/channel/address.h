/* SPDX-License-Identifier: MIT */
/* Addresses of servers: their texts, and the sockets that belong to them. */
#ifndef KVGPU_REMOTE_ADDRESS_H
#define KVGPU_REMOTE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum address_scheme { ADDRESS_UNIX, ADDRESS_VSOCK, ADDRESS_TCP, ADDRESS_TLS, ADDRESS_SHMEM };

struct address {
	enum address_scheme scheme;
	/*
	 * unix, aperture: the path; tcp, tls: a name or an IP address without brackets; empty: all
	 * addresses of this machine; vsock: empty
	 */
	char host[256];
	/* aperture: its doorbell, "unix:/path" or "vsock:CID:PORT"; empty: none */
	char doorbell[128];
	uint32_t cid, port; /* cid: vsock; UINT32_MAX: all CIDs of this machine */
};

/*
 * Read "unix:/path", "aperture:/path", "vsock:CID:PORT", "tls:HOST:PORT" or "tcp:127.0.0.1:PORT";
 * a shmem region may have ",bell=" and an address of unix: or vsock: behind. @listen: as a server
 * that listens writes it, where CID and HOST may be "*". Pure. 0, or -EINVAL and *why, a text that
 * is never freed.
 */
int address_parse(const char *text, bool listen, struct address *a, const char **why);

/*
 * The name of a kvgpu-run's folder of sockets begins so (cluster/run/folder.c). A client knows the
 * address of a proxy by it (client/init.c).
 */
#define ADDRESS_RUN_FOLDER "kvgpu-run."

/*
 * sockets.c: whether a shmem region's path is memory, not a UNIX socket. A path in /dev that is not
 * there yet is memory.
 */
bool address_is_endpoint(const struct address *a);
/* Connect; for each address of a host's name ADDRESS_PATIENCE_S. A socket, or -errno and *why. */
enum { ADDRESS_PATIENCE_S = 10 };
int address_connect(const struct address *a, const char **why);
/* Return a socket that listens. A socket file that no server has any more is replaced. */
int address_listen(const struct address *a, const char **why);
/*
 * The other end of @fd, as text: "unix:1000" (the user), "vsock:5" (the VM), "tcp:192.0.2.1". Of a
 * UNIX socket it reads /etc/subuid: call it before the process gives up its rights.
 */
void address_of_peer(int fd, char *to, size_t size);

/*
 * The other end of a socket, as numbers to compare. .net: an address, but of IPv6 the first 64
 * bits. .host: the rest, or 0. address_of_source() reads /etc/subuid, too.
 */
struct address_source {
	uint64_t net, host;
};
struct address_source address_of_source(int fd);
/* *user: the user at the other end of a UNIX socket; false: @fd is none */
bool address_user(int fd, uid_t *user);
#define ADDRESS_SUBUID "/etc/subuid"
/*
 * The user to whom the file @subuid, of subuid(5), gives the number @user. If there is none, or it
 * is root: @user. It reads files of this machine alone. One thread, because of fgetpwent().
 */
uid_t address_owner(const char *subuid, uid_t user);
/* The same of the first number from *user to @last that is another user's; *user: it, or @last. */
uid_t address_owner_of_any(const char *subuid, uid_t *user, uid_t last);
/*
 * Ask NSS, which may wait for a network, for the users whom @subuid names, so that address_owner()
 * knows them. One thread.
 */
void address_owners_learn(const char *subuid);

/* what to tell a user whose open() gave @error; @missing: what to do about ENOENT */
const char *address_not_opened(int error, const char *missing);
/* A pidfd of the process that connected by a UNIX socket; -ESRCH: it has ended; -1: not known. */
int address_process(int fd);
/* whether the other end is a vsock with that CID */
bool address_is_from(int fd, uint32_t cid);

#endif
