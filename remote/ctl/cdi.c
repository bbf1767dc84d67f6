// SPDX-License-Identifier: MIT
/*
 * What a container of this machine gets, so that its CUDA programs find the server in remote.conf:
 * a specification of the Container Device Interface (CDI), JSON, on standard output. There is no
 * hook: programs find the libraries by LD_LIBRARY_PATH, which comes before what an image has.
 */
#include <ctype.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/conf/client.h>
#include <remote/conf/kept.h>

#include "ctl.h"

#define KIND	      "kvgpu.example/gpu"
#define IN_LIBRARIES  "/usr/lib/kvgpu-remote" /* in the container */
#define IN_TLS	      "/etc/kvgpu/tls"
#define CLIENT_LIB    "/usr/lib/x86_64-linux-gnu" /* of kvgpu-remote-client */
#define SERVER_CLIENT "/usr/lib/kvgpu-remoted/client" /* the same in kvgpu-remote-server */
enum { CDI_NAME_BYTES = 48 };

/* Parts of the specification, as text. */
struct spec {
	FILE *mounts, *nodes;
	bool tls; /* a server wants a certificate */
	bool sockets; /* a server is reached by what does not share memory */
};

/* A name as CDI, and Kubernetes behind "gpu-", take it. */
static bool is_cdi_name(const char *name)
{
	size_t n = strlen(name), i;

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-._", name[i]))
			break;
	if (n && n <= CDI_NAME_BYTES && i == n && isalnum((unsigned char)name[0]) &&
	    isalnum((unsigned char)name[n - 1]))
		return true;
	report_error(
		"\"%s\": a device's name is 1 to %d letters, digits, - . _, with a letter or digit at both ends",
		name, CDI_NAME_BYTES);
	return false;
}

/*
 * Whether root's containers may be given @path: it can stand in JSON as it is, and nobody else can
 * exchange it. *st: what it is.
 */
static bool may_give(const char *path, struct stat *st)
{
	char folder[PATH_MAX], bad[PATH_MAX];
	const char *c;
	int r;

	for (c = path; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
			break;
	if (*c || snprintf(folder, sizeof(folder), "%s", path) >= (int)sizeof(folder)) {
		report_error("%s: take a path of printable ASCII without \" and \\", path);
		return false;
	}
	if (stat(path, st)) {
		report_error("%s: %s", path, strerror(errno));
		return false;
	}
	strrchr(folder, '/')[1] = 0;
	r = kept_look(folder, bad);
	if (r < 0)
		report_error("%s: %s", bad, strerror(-r));
	else if (r)
		report_error(
			"%s: others may write there, and so give containers other files: copy it to a folder of %s",
			bad, geteuid() ? "your own" : "root's, such as /opt/kvgpu");
	return !r;
}

static void put_mount(struct spec *s, const char *host, const char *in, const char *mode)
{
	fprintf(s->mounts,
		"%s\n          { \"hostPath\": \"%s\", \"containerPath\": \"%s\", \"options\": [\"%s\", \"nosuid\", \"nodev\", \"bind\"] }",
		ftell(s->mounts) ? "," : "", host, in, mode);
}

static bool add_file(struct spec *s, const char *folder, const char *name, const char *in)
{
	char host[PATH_MAX];
	struct stat st;

	if (snprintf(host, sizeof(host), "%s/%s", folder, name) >= (int)sizeof(host) ||
	    !may_give(host, &st))
		return false;
	if (!S_ISREG(st.st_mode)) {
		report_error("%s is no file", host);
		return false;
	}
	put_mount(s, host, in, "ro");
	return true;
}

/* ------------------------------------------------------------------ servers */

/* the socket alone: its folder may have the admin's */
static bool add_endpoint(struct spec *s, const char *path)
{
	char device[PATH_MAX];
	struct stat st;

	if (!may_give(path, &st))
		return false;
	if (S_ISSOCK(st.st_mode)) {
		put_mount(s, path, path, "ro");
	} else if (S_ISREG(st.st_mode)) {
		put_mount(s, path, path, "rw");
	} else if (S_ISCHR(st.st_mode) && realpath(path, device)) {
		fprintf(s->nodes, "%s\n          { \"path\": \"%s\", \"hostPath\": \"%s\" }",
			ftell(s->nodes) ? "," : "", path, device);
	} else {
		report_error("%s is neither a server's socket nor an aperture", path);
		return false;
	}
	return true;
}

static bool add_server(struct spec *s, const char *text)
{
	struct address a;
	const char *why;

	if (address_parse(text, false, &a, &why)) {
		report_error("\"%s\": %s; a path has no blanks here", text, why);
		return false;
	}
	if (a.scheme != ADDRESS_SHMEM)
		s->sockets = true;
	switch (a.scheme) {
	case ADDRESS_UNIX:
		return add_endpoint(s, a.host);
	case ADDRESS_SHMEM:
		return add_endpoint(s, a.host) && (!*a.doorbell || add_server(s, a.doorbell));
	case ADDRESS_TLS:
		s->tls = true;
		return true;
	case ADDRESS_VSOCK:
		return true;
	case ADDRESS_TCP:
		break;
	}
	report_error(
		"%s: a container has 127.0.0.1 for itself: let the server listen at unix:/path or tls:*:PORT",
		text);
	return false;
}

/* @path: of remote.conf. *conf: what it says */
static bool add_servers(struct spec *s, const char *path, struct remote_conf *conf)
{
	char text[sizeof(conf->server)], *rest = NULL, *word;
	struct conf_error e;
	bool missing, ok = true;

	if (!conf_load(&remote_conf_form, conf, path, &missing, &e) && !missing) {
		if (e.line)
			report_error("%s:%u: %s", path, e.line, e.text);
		else
			report_error("%s: %s", path, e.text);
		return false;
	}
	if (!conf->server[strspn(conf->server, REMOTE_CONF_BLANKS)]) {
		report_error(
			"%s names no server: write \"server = ADDRESS\" there; remote.conf(5) has addresses",
			path);
		return false;
	}
	strcpy(text, conf->server);
	for (word = strtok_r(text, REMOTE_CONF_BLANKS, &rest); ok && word;
	     word = strtok_r(NULL, REMOTE_CONF_BLANKS, &rest))
		ok = add_server(s, word);
	return ok;
}

static bool add_tls(struct spec *s, const char *folder)
{
	/* these alone: the folder may have a server's and a CA's keys */
	return add_file(s, folder, "ca.crt", IN_TLS "/ca.crt") &&
	       add_file(s, folder, "client.crt", IN_TLS "/client.crt") &&
	       add_file(s, folder, "client.key", IN_TLS "/client.key");
}

/* ------------------------------------------------------------------ libraries */

/* Whether libcuda.so.1 in @folder is a client's, not NVIDIA's: client_say() begins its lines so. */
static bool has_client(const char *folder)
{
	static const char sign[] = "libcuda (remote)";
	gnutls_datum_t bytes = { 0 };
	char path[PATH_MAX];
	bool found;

	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	found = gnutls_load_file(path, &bytes) >= 0 &&
		memmem(bytes.data, bytes.size, sign, strlen(sign));
	gnutls_free(bytes.data);
	return found;
}

static bool add_libraries(struct spec *s, const char *folder)
{
	if (!has_client(folder)) {
		report_error(
			"%s/libcuda.so.1 is not there, or is no client's: install kvgpu-remote-client, or unpack a bundle and name its folder by --unpacked",
			folder);
		return false;
	}
	return add_file(s, folder, "libcuda.so.1", IN_LIBRARIES "/libcuda.so.1") &&
	       /* the name that programs load which ask for no version */
	       add_file(s, folder, "libcuda.so.1", IN_LIBRARIES "/libcuda.so") &&
	       add_file(s, folder, "libnvidia-ml.so.1", IN_LIBRARIES "/libnvidia-ml.so.1");
}

/* ------------------------------------------------------------------ all of it */

static bool make_parts(struct spec *s, const char *bundle)
{
	char root[PATH_MAX], lib[PATH_MAX + 8], tls[PATH_MAX + 8], path[PATH_MAX + 16];
	struct remote_conf conf = { 0 };

	if (bundle && !realpath(bundle, root)) {
		report_error("%s: %s", bundle, strerror(errno));
		return false;
	}
	snprintf(path, sizeof(path), "%s/remote.conf", bundle ? root : "/etc/kvgpu");
	if (!add_servers(s, path, &conf) ||
	    !add_file(s, bundle ? root : "/etc/kvgpu", "remote.conf", REMOTE_CONF))
		return false;
	if (bundle)
		snprintf(lib, sizeof(lib), "%s/lib", root);
	else
		strcpy(lib, has_client(CLIENT_LIB) || !has_client(SERVER_CLIENT) ? CLIENT_LIB :
										   SERVER_CLIENT);
	if (bundle)
		snprintf(tls, sizeof(tls), "%s/tls", root);
	else
		strcpy(tls, *conf.tls_folder ? conf.tls_folder : "/etc/kvgpu/tls");
	return add_libraries(s, lib) && (!s->tls || add_tls(s, tls));
}

static void put_spec(const struct spec *s, const char *name, const char *mounts, const char *nodes)
{
	printf("{\n  \"cdiVersion\": \"0.5.0\",\n  \"kind\": \"" KIND
	       "\",\n  \"devices\": [\n    {\n      \"name\": \"%s\",\n      \"containerEdits\": {\n",
	       name);
	printf("        \"env\": [\n          \"LD_LIBRARY_PATH=" IN_LIBRARIES "\"");
	if (s->tls)
		printf(",\n          \"KVGPU_REMOTE_TLS=" IN_TLS "\"");
	if (s->sockets) /* NCCL shares memory by what only an aperture has */
		printf(",\n          \"NCCL_SHM_DISABLE=1\"");
	/* for NVIDIA's container runtime: none of this machine's own GPUs */
	printf(",\n          \"NVIDIA_VISIBLE_DEVICES=void\"\n        ],\n");
	if (*nodes)
		printf("        \"deviceNodes\": [%s\n        ],\n", nodes);
	printf("        \"mounts\": [%s\n        ]\n      }\n    }\n  ]\n}\n", mounts);
}

int ctl_cdi(const char *name, const char *bundle)
{
	char *mounts = NULL, *nodes = NULL;
	size_t n;
	struct spec s = { .mounts = open_memstream(&mounts, &n),
			  .nodes = open_memstream(&nodes, &n) };
	bool ok = is_cdi_name(name) && make_parts(&s, bundle);

	fclose(s.mounts);
	fclose(s.nodes);
	if (ok) {
		put_spec(&s, name, mounts, nodes);
		ok = !fflush(stdout) && !ferror(stdout);
		if (!ok)
			report_error("the specification: %s", strerror(errno));
	}
	free(mounts);
	free(nodes);
	return !ok;
}
