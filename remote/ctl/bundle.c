// SPDX-License-Identifier: MIT
/*
 * What one client needs, as an archive (POSIX ustar) on standard output: the libraries,
 * remote.conf, the client's certificate, and a script that starts a program with them.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <remote/conf/client.h>

#include "ctl.h"

enum { PARTS = 8, BLOCK = 512 };

static const char script[] =
	"#!/bin/sh\n"
	"# run PROGRAM [ARGUMENT...]: the program finds the GPU of the server in remote.conf\n"
	"here=$(dirname \"$(readlink -f \"$0\")\")\n"
	"[ $# -gt 0 ] || { echo \"usage: $0 PROGRAM [ARGUMENT...]\" >&2; exit 2; }\n"
	"export LD_LIBRARY_PATH=\"$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n"
	"export KVGPU_REMOTE_CONF=\"$here/remote.conf\" KVGPU_REMOTE_TLS=\"$here/tls\"\n"
	"exec \"$@\"\n";

/* A file of the archive. */
struct part {
	const char *name; /* below the client's folder */
	gnutls_datum_t bytes; /* to be freed, but of texts of this file */
	unsigned int mode;
};

struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], time[12], sum[8], type, link[100];
	char magic[8], rest[247];
};
_Static_assert(sizeof(struct ustar) == BLOCK, "a header is one block");

static void put_header(const char *client, const char *name, char type, unsigned int mode,
		       unsigned int size, const char *link)
{
	struct ustar h = { .magic = "ustar\00000", .type = type };
	unsigned int sum = 0;
	size_t i;

	snprintf(h.name, sizeof(h.name), "%s/%s", client, name);
	snprintf(h.mode, sizeof(h.mode), "%07o", mode & 0777);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	snprintf(h.size, sizeof(h.size), "%011o", size);
	snprintf(h.time, sizeof(h.time), "%011llo", time(NULL) & 077777777777ull);
	snprintf(h.link, sizeof(h.link), "%s", link);
	memset(h.sum, ' ', sizeof(h.sum)); /* as if it were blanks */
	for (i = 0; i < sizeof(h); i++)
		sum += ((const unsigned char *)&h)[i];
	snprintf(h.sum, sizeof(h.sum), "%06o", sum & 0777777);
	fwrite(&h, sizeof(h), 1, stdout);
}

static void put_part(const char *client, const struct part *p)
{
	static const char zeros[BLOCK];

	put_header(client, p->name, '0', p->mode, p->bytes.size, "");
	fwrite(p->bytes.data, 1, p->bytes.size, stdout);
	fwrite(zeros, 1, -p->bytes.size % BLOCK, stdout);
}

static bool put_all(const char *client, const struct part *parts, unsigned int n)
{
	static const char end[2 * BLOCK];
	unsigned int i;

	put_header(client, "", '5', 0700, 0, "");
	put_header(client, "lib/", '5', 0755, 0, "");
	put_header(client, "tls/", '5', 0700, 0, "");
	/* the name that programs load which ask for no version */
	put_header(client, "lib/libcuda.so", '2', 0777, 0, "libcuda.so.1");
	for (i = 0; i < n; i++)
		put_part(client, &parts[i]);
	fwrite(end, sizeof(end), 1, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	report_error("the archive: %s", strerror(errno));
	return false;
}

/* The archive has a key: it goes to no terminal, and a file is its owner's alone. */
static bool ready_output(const char *client)
{
	struct stat st;

	if (isatty(STDOUT_FILENO)) {
		report_error(
			"the archive goes to standard output, which is a terminal: bundle %s > %s.tar",
			client, client);
		return false;
	}
	if (!fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode) && fchmod(STDOUT_FILENO, 0600)) {
		report_error("the file of the archive can't be kept from others: %s",
			     strerror(errno));
		return false;
	}
	return true;
}

/* remote.conf: of @address, or of the first name in the server's certificate */
static bool make_conf(const char *folder, const char *address, char text[CONF_TEXT])
{
	struct remote_conf conf = { 0 };
	struct conf_error e;
	char host[256];
	int n;

	if (address)
		n = snprintf(text, CONF_TEXT, "server = %s\n", address);
	else if (certs_server_name(folder, host, sizeof(host)))
		n = snprintf(text, CONF_TEXT, "server = tls:%s:7411\n", host);
	else
		return false;
	if (n >= CONF_TEXT || strchr(text, '\n') != text + n - 1 ||
	    !conf_parse(&remote_conf_form, &conf, text, n, &e) || strncmp(conf.server, "tls:", 4)) {
		report_error(
			"--address is one of clients by TLS, as tls:gpu.example.org:7411, not \"%s\"",
			address ?: host);
		return false;
	}
	return true;
}

static bool load_parts(struct part *parts, const char *from, const char *const *names,
		       unsigned int n)
{
	char path[CTL_PATH];
	unsigned int i;

	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", from, strchr(names[i], '/') + 1);
		parts[i] = (struct part){ .name = names[i],
					  .mode = strstr(names[i], ".key") ? 0600 : 0644 };
		if (!certs_load(path, &parts[i].bytes))
			return false;
	}
	return true;
}

int ctl_bundle(const struct certs_wish *w, const char *address, const char *libraries)
{
	static const char *const identity[] = { "tls/client.key", "tls/client.crt", "tls/ca.crt" };
	static const char *const library[] = { "lib/libcuda.so.1", "lib/libnvidia-ml.so.1" };
	char folder[CTL_PATH], conf[CONF_TEXT];
	struct part parts[PARTS] = { { 0 } };
	unsigned int i;
	bool ok = ready_output(w->names[0]) && make_conf(w->folder, address, conf) &&
		  load_parts(parts, libraries, library, 2) && certs_have_client(w, folder) &&
		  load_parts(parts + 2, folder, identity, 3);

	parts[5] = (struct part){ "remote.conf", { (void *)conf, strlen(conf) }, 0644 };
	parts[6] = (struct part){ "run", { (void *)script, strlen(script) }, 0755 };
	ok = ok && put_all(w->names[0], parts, 7);
	if (parts[2].bytes.data)
		gnutls_memset(parts[2].bytes.data, 0, parts[2].bytes.size);
	for (i = 0; i < 5; i++)
		gnutls_free(parts[i].bytes.data);
	if (ok)
		fprintf(stderr,
			"%s/remote.conf has \"%.*s\"; \"kvgpu-remotectl refuse %s\" shuts it out\n",
			w->names[0], (int)strlen(conf) - 1, conf, w->names[0]);
	return !ok;
}
