// SPDX-License-Identifier: MIT
/*
 * Keys and certificates. There is one CA for a server and its clients. A certificate of the server
 * or of a client is for that purpose alone.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <remote/conf/kept.h>

#include <cuda/api/text.h>

#include "ctl.h"

enum { CA_DAYS = 3650, DAY = 86400, EARLIER = 3600, NAME_MAX_BYTES = 63, FILE_MAX = 64 << 10 };

/* A key with its certificate. */
struct identity {
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
};

static bool gnutls_fine(int r, const char *what)
{
	if (r < 0)
		report_error("%s: %s", what, gnutls_strerror(r));
	return r >= 0;
}

static void forget(struct identity *i)
{
	if (i->key)
		gnutls_x509_privkey_deinit(i->key);
	if (i->crt)
		gnutls_x509_crt_deinit(i->crt);
	*i = (struct identity){ 0 };
}

/* ------------------------------------------------------------------ making certificates */

static bool begin_identity(struct identity *i, const char *name, unsigned int days)
{
	unsigned char serial[16], id[32];
	size_t size = sizeof(id);
	time_t now = time(NULL);

	if (!gnutls_fine(gnutls_x509_privkey_init(&i->key), "key") ||
	    !gnutls_fine(gnutls_x509_crt_init(&i->crt), "certificate") ||
	    !gnutls_fine(gnutls_x509_privkey_generate(
				 i->key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
			 "key") ||
	    !gnutls_fine(gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial)), "random numbers"))
		return false;
	serial[0] = (serial[0] & 0x7f) | 0x40; /* positive, and of a fixed length */
	/* EARLIER: the clocks of two machines differ a little */
	return gnutls_fine(gnutls_x509_crt_set_version(i->crt, 3), "version") &&
	       gnutls_fine(gnutls_x509_crt_set_key(i->crt, i->key), "key") &&
	       gnutls_fine(gnutls_x509_crt_set_serial(i->crt, serial, sizeof(serial)),
			   "serial number") &&
	       gnutls_fine(gnutls_x509_crt_set_activation_time(i->crt, now - EARLIER), "time") &&
	       gnutls_fine(gnutls_x509_crt_set_expiration_time(i->crt, now + (time_t)days * DAY),
			   "time") &&
	       gnutls_fine(gnutls_x509_crt_set_dn_by_oid(i->crt, GNUTLS_OID_X520_COMMON_NAME, 0,
							 name, strlen(name)),
			   "name") &&
	       gnutls_fine(gnutls_x509_privkey_get_key_id(i->key, 0, id, &size), "key") &&
	       gnutls_fine(gnutls_x509_crt_set_subject_key_id(i->crt, id, size), "key");
}

static bool sign(struct identity *i, const struct identity *ca)
{
	return gnutls_fine(gnutls_x509_crt_sign2(i->crt, ca->crt, ca->key, GNUTLS_DIG_SHA256, 0),
			   "signature");
}

static bool make_ca(struct identity *ca)
{
	return begin_identity(ca, "kvgpu remote CA", CA_DAYS) &&
	       gnutls_fine(gnutls_x509_crt_set_basic_constraints(ca->crt, 1, 0), "CA") &&
	       gnutls_fine(gnutls_x509_crt_set_key_usage(ca->crt, GNUTLS_KEY_KEY_CERT_SIGN |
									  GNUTLS_KEY_CRL_SIGN),
			   "CA") &&
	       sign(ca, ca);
}

static bool add_host(gnutls_x509_crt_t crt, const char *host)
{
	unsigned char ip[16];

	if (inet_pton(AF_INET, host, ip) == 1)
		return gnutls_fine(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS,
									ip, 4, GNUTLS_FSAN_APPEND),
				   host);
	if (inet_pton(AF_INET6, host, ip) == 1)
		return gnutls_fine(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS,
									ip, 16, GNUTLS_FSAN_APPEND),
				   host);
	return gnutls_fine(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, host,
								strlen(host), GNUTLS_FSAN_APPEND),
			   host);
}

static bool make_one(struct identity *i, const struct identity *ca, const char *name,
		     const struct certs_wish *w, bool server)
{
	unsigned int h;

	if (!begin_identity(i, name, w->days) ||
	    !gnutls_fine(gnutls_x509_crt_set_basic_constraints(i->crt, 0, -1), "constraints") ||
	    !gnutls_fine(gnutls_x509_crt_set_key_usage(i->crt, GNUTLS_KEY_DIGITAL_SIGNATURE),
			 "usage") ||
	    !gnutls_fine(gnutls_x509_crt_set_key_purpose_oid(
				 i->crt,
				 server ? GNUTLS_KP_TLS_WWW_SERVER : GNUTLS_KP_TLS_WWW_CLIENT, 0),
			 "purpose"))
		return false;
	for (h = 0; server && h < w->nr_names; h++)
		if (!add_host(i->crt, w->names[h]))
			return false;
	return sign(i, ca);
}

/* ------------------------------------------------------------------ files */

static void path_of(char to[CTL_PATH], const char *folder, const char *name)
{
	snprintf(to, CTL_PATH, "%s/%s", folder, name);
}

static bool make_folder(const char *path, unsigned int mode)
{
	char bad[PATH_MAX];
	int r;

	if (mkdir(path, mode) && errno != EEXIST) {
		report_error("%s: %s", path, strerror(errno));
		return false;
	}
	r = kept_look(path, bad);
	if (r < 0)
		report_error("%s: %s", bad, strerror(-r));
	else if (r)
		report_error(
			"%s: others may write there, and so exchange keys and certificates: take a folder of root's, such as /etc/kvgpu/tls",
			bad);
	return !r;
}

bool certs_load(const char *path, gnutls_datum_t *to)
{
	int r = gnutls_load_file(path, to);

	if (r < 0)
		report_error("%s: %s", path, errno ? strerror(errno) : gnutls_strerror(r));
	return r >= 0;
}

static bool read_ca(struct identity *ca, const char *key, const char *crt)
{
	gnutls_datum_t k = { 0 }, c = { 0 };
	bool ok = certs_load(key, &k) && certs_load(crt, &c) &&
		  gnutls_fine(gnutls_x509_privkey_init(&ca->key), key) &&
		  gnutls_fine(gnutls_x509_privkey_import(ca->key, &k, GNUTLS_X509_FMT_PEM), key) &&
		  gnutls_fine(gnutls_x509_crt_init(&ca->crt), crt) &&
		  gnutls_fine(gnutls_x509_crt_import(ca->crt, &c, GNUTLS_X509_FMT_PEM), crt);

	if (ok && gnutls_x509_crt_get_expiration_time(ca->crt) < time(NULL)) {
		report_error("%s has expired: move the folder away, and make all certificates anew",
			     crt);
		ok = false;
	}
	if (k.data)
		gnutls_memset(k.data, 0, k.size);
	gnutls_free(k.data);
	gnutls_free(c.data);
	return ok;
}

/* write an identity: the key for its owner alone, the certificate for everybody */
static bool write_identity(const struct identity *i, const char *key_path, const char *crt_path,
			   const char *ca_path, const struct identity *ca)
{
	gnutls_datum_t key = { 0 }, crt = { 0 }, root = { 0 };
	bool ok =
		gnutls_fine(gnutls_x509_privkey_export2(i->key, GNUTLS_X509_FMT_PEM, &key),
			    key_path) &&
		gnutls_fine(gnutls_x509_crt_export2(i->crt, GNUTLS_X509_FMT_PEM, &crt), crt_path) &&
		(!ca_path ||
		 gnutls_fine(gnutls_x509_crt_export2(ca->crt, GNUTLS_X509_FMT_PEM, &root),
			     ca_path));
	const struct new_file files[] = { { key_path, key.data, key.size, 0600 },
					  { crt_path, crt.data, crt.size, 0644 },
					  { ca_path, root.data, root.size, 0644 } };

	ok = ok && write_new(files, ca_path ? 3 : 2);
	if (key.data)
		gnutls_memset(key.data, 0, key.size);
	gnutls_free(key.data);
	gnutls_free(crt.data);
	gnutls_free(root.data);
	return ok;
}

/* read the folder's CA, or make one if there is none; a key without its certificate is an error */
static bool have_ca(struct identity *ca, const char *folder)
{
	char key[CTL_PATH], crt[CTL_PATH];

	path_of(key, folder, "ca.key");
	path_of(crt, folder, "ca.crt");
	if (!make_folder(folder, 0755))
		return false;
	if (!access(crt, F_OK) || !access(key, F_OK))
		return read_ca(ca, key, crt);
	if (!make_ca(ca) || !write_identity(ca, key, crt, NULL, NULL))
		return false;
	printf("%s: a new CA. Who has ca.key lets clients in: keep it here, or elsewhere and safe\n",
	       crt);
	return true;
}

static bool is_name(const char *name)
{
	size_t n = strlen(name), i;

	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-._", name[i]))
			break;
	if (n && n <= NAME_MAX_BYTES && i == n && name[0] != '.' && name[0] != '-')
		return true;
	report_error("\"%s\": a client's name is 1 to 63 letters, digits, - . _", name);
	return false;
}

static bool is_host(const char *host)
{
	size_t n = strlen(host);
	unsigned char ip[16];

	if (inet_pton(AF_INET6, host, ip) == 1)
		return true;
	if (n && n <= 253 && host[0] != '-' && host[0] != '.' &&
	    strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == n)
		return true;
	report_error(
		"\"%s\": neither a name nor an address of a machine, without brackets and port",
		host);
	return false;
}

int certs_server(const struct certs_wish *w)
{
	struct identity ca = { 0 }, server = { 0 };
	char key[CTL_PATH], crt[CTL_PATH];
	unsigned int i;
	bool ok = true;

	for (i = 0; i < w->nr_names && ok; i++)
		ok = is_host(w->names[i]);
	path_of(key, w->folder, "server.key");
	path_of(crt, w->folder, "server.crt");
	/* the common name is for people; clients check the names and addresses */
	ok = ok && have_ca(&ca, w->folder) && make_one(&server, &ca, "kvgpu-remoted", w, true) &&
	     write_identity(&server, key, crt, NULL, NULL);
	forget(&ca);
	forget(&server);
	if (ok)
		printf("%s: for %u days\n", crt, w->days);
	return !ok;
}

/* where a client's key and certificate are, or shall be; false: the reason was printed */
static bool client_folder(const struct certs_wish *w, char folder[CTL_PATH])
{
	if (!is_name(w->names[0]))
		return false;
	if ((size_t)snprintf(folder, CTL_PATH, "%s/clients/%s", w->folder, w->names[0]) < CTL_PATH)
		return true;
	report_error("the path is too long");
	return false;
}

static bool make_client(const struct certs_wish *w, const char *folder)
{
	char clients[CTL_PATH], key[CTL_PATH + 16], crt[CTL_PATH + 16], root[CTL_PATH + 16];
	struct identity ca = { 0 }, client = { 0 };
	bool ok;

	path_of(clients, w->folder, "clients");
	snprintf(key, sizeof(key), "%s/client.key", folder);
	snprintf(crt, sizeof(crt), "%s/client.crt", folder);
	snprintf(root, sizeof(root), "%s/ca.crt", folder);
	ok = have_ca(&ca, w->folder) && make_folder(clients, 0700) && make_folder(folder, 0700) &&
	     make_one(&client, &ca, w->names[0], w, false) &&
	     write_identity(&client, key, crt, root, &ca);
	forget(&ca);
	forget(&client);
	return ok;
}

int certs_client(const struct certs_wish *w)
{
	char folder[CTL_PATH];
	bool ok = client_folder(w, folder) && make_client(w, folder);

	if (ok)
		printf("%s\n", folder);
	return !ok;
}

static bool is_made(const char *path)
{
	if (!access(path, F_OK))
		return true;
	report_error("%s: %s: \"kvgpu-remotectl certs server HOST\" makes it", path,
		     strerror(errno));
	return false;
}

bool certs_have_client(const struct certs_wish *w, char folder[CTL_PATH])
{
	char path[CTL_PATH + 16];

	if (!client_folder(w, folder))
		return false;
	snprintf(path, sizeof(path), "%s/client.key", folder);
	if (!access(path, F_OK))
		return true;
	path_of(path, w->folder, "ca.crt");
	return is_made(path) && make_client(w, folder);
}

bool certs_server_name(const char *folder, char *name, size_t size)
{
	char path[CTL_PATH], bytes[256];
	gnutls_datum_t text = { 0 };
	gnutls_x509_crt_t crt = NULL;
	size_t n = sizeof(bytes);
	int kind = -1;

	path_of(path, folder, "server.crt");
	if (!is_made(path))
		return false;
	if (certs_load(path, &text) && gnutls_fine(gnutls_x509_crt_init(&crt), path) &&
	    gnutls_fine(gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM), path))
		kind = gnutls_x509_crt_get_subject_alt_name(crt, 0, bytes, &n, NULL);
	if (crt)
		gnutls_x509_crt_deinit(crt);
	gnutls_free(text.data);
	if (kind == GNUTLS_SAN_DNSNAME)
		return snprintf(name, size, "%.*s", (int)n, bytes) < (int)size;
	if (kind == GNUTLS_SAN_IPADDRESS && n == 4)
		return inet_ntop(AF_INET, bytes, name, size);
	if (kind == GNUTLS_SAN_IPADDRESS && n == 16 &&
	    inet_ntop(AF_INET6, bytes, name + 1, size - 2)) {
		name[0] = '[';
		strcat(name, "]");
		return true;
	}
	report_error("%s names no address of the server: say it by --address", path);
	return false;
}

static bool show_one(const char *path)
{
	unsigned char sum[32];
	char name[NAME_MAX_BYTES + 1] = "?";
	size_t size = sizeof(sum), n = sizeof(name), i;
	gnutls_x509_crt_t crt = NULL;
	gnutls_datum_t text = { 0 };
	bool ok = certs_load(path, &text) && gnutls_fine(gnutls_x509_crt_init(&crt), path) &&
		  gnutls_fine(gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM), path) &&
		  gnutls_fine(gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, sum, &size),
			      path);

	for (i = 0; ok && i < size; i++)
		printf("%02x", sum[i]);
	if (ok) {
		/* a name that is longer lets no client in */
		gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &n);
		text_clean(name, sizeof(name));
		printf(" %s\n", name);
	}
	if (crt)
		gnutls_x509_crt_deinit(crt);
	gnutls_free(text.data);
	return ok;
}

int certs_show(const struct certs_wish *w)
{
	unsigned int i;
	bool ok = true;

	for (i = 0; i < w->nr_names; i++)
		ok = show_one(w->names[i]) && ok;
	return !ok;
}
