// SPDX-License-Identifier: MIT
/* Loading GnuTLS, and the files of one side: its certificate and key, and the CA that it trusts. */
#include "credentials.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/process.h>

#include "address.h"

enum { FILE_MAX = 64 << 10, P256 = 256 };

struct gnutls_functions gnutls;

const char *channel_text(const char *format, ...)
{
	static __thread char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

static void date_of(time_t t, char to[16])
{
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(to, 16, "%Y-%m-%d", &tm))
		strcpy(to, "?");
}

static int load_certificates(const char **why)
{
	void *library = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL);
	struct gnutls_functions found;

	if (!library) {
		*why = "tls: wants GnuTLS, which is not there: apt install libgnutls30, or dnf install gnutls";
		return -ENOENT;
	}
#define GNUTLS_FIND(name)                                                            \
	found.name = (typeof(found.name))(uintptr_t)dlsym(library, "gnutls_" #name); \
	if (!found.name) {                                                           \
		*why = "this GnuTLS is too old: it lacks gnutls_" #name "()";        \
		return -ENOENT;                                                      \
	}
	GNUTLS_NAMES(GNUTLS_FIND)
	gnutls = found;
	return 0;
}

int tls_load(const char **why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool loaded;
	int r = 0;

	pthread_mutex_lock(&lock);
	if (!loaded)
		r = load_certificates(why);
	loaded = !r;
	pthread_mutex_unlock(&lock);
	return r;
}

/* ------------------------------------------------------------------ files */

struct text_file {
	char path[256];
	gnutls_datum_t bytes; /* with a zero behind */
};

static void forget(struct text_file *f)
{
	if (!f->bytes.data)
		return;
	explicit_bzero(f->bytes.data, f->bytes.size);
	free(f->bytes.data);
	f->bytes.data = NULL;
}

static int complain_of_file(const char **why, int error, const char *path, const char *what)
{
	*why = channel_text("%s: %s", path, what);
	return -error;
}

static int read_open(struct text_file *f, int fd, bool secret, const char **why)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return complain_of_file(why, EINVAL, f->path, "no file of at most 64 KiB");
	if (secret && st.st_mode & (S_IROTH | S_IWOTH)) {
		*why = channel_text("%s: everybody may read this key: chmod o= %s", f->path,
				    f->path);
		return -EPERM;
	}
	f->bytes.data = calloc(1, FILE_MAX + 1);
	if (!f->bytes.data)
		return complain_of_file(why, ENOMEM, f->path, "out of memory");
	while ((n = read(fd, f->bytes.data + f->bytes.size, FILE_MAX - f->bytes.size)) > 0)
		f->bytes.size += n;
	return n ? complain_of_file(why, errno, f->path, strerror(errno)) : 0;
}

static int read_text(struct text_file *f, const char *folder, const char *name, bool secret,
		     const char **why)
{
	static const char missing[] =
		"no such file: \"kvgpu-remotectl certs\" makes it on the server's machine";
	int fd, r;

	*f = (struct text_file){ 0 };
	if (snprintf(f->path, sizeof(f->path), "%s/%s", folder, name) >= (int)sizeof(f->path))
		return complain_of_file(why, ENAMETOOLONG, folder, "the path is too long");
	fd = own_descriptor(open(f->path, O_RDONLY | O_CLOEXEC));
	if (fd < 0) {
		r = errno;
		return complain_of_file(why, r, f->path, address_not_opened(r, missing));
	}
	r = read_open(f, fd, secret, why);
	close(fd);
	if (r)
		forget(f);
	return r;
}

/* refuse this side's certificate for its dates or its key here, where the owner can replace it */
static int check_certificate(const struct text_file *f, const char **why)
{
	time_t now = time(NULL), from, until;
	unsigned int bits = 0;
	gnutls_x509_crt_t crt;
	char date[16];
	int r, kind;

	if (gnutls.x509_crt_init(&crt))
		return complain_of_file(why, ENOMEM, f->path, "out of memory");
	r = gnutls.x509_crt_import(crt, &f->bytes, GNUTLS_X509_FMT_PEM);
	from = r ? 0 : gnutls.x509_crt_get_activation_time(crt);
	until = r ? 0 : gnutls.x509_crt_get_expiration_time(crt);
	kind = r ? GNUTLS_PK_UNKNOWN : gnutls.x509_crt_get_pk_algorithm(crt, &bits);
	gnutls.x509_crt_deinit(crt);
	if (r)
		return complain_of_file(why, EINVAL, f->path, "no certificate in PEM");
	if (kind != GNUTLS_PK_ECDSA || bits != P256) {
		*why = channel_text(
			"tls: %s: its key is %s of %u bits; wanted is ECDSA P-256, as \"kvgpu-remotectl certs\" makes it",
			f->path, gnutls.pk_get_name(kind) ?: "of an unknown kind", bits);
		return -EINVAL;
	}
	if (now > until) {
		date_of(until, date);
		*why = channel_text(
			"%s: expired on %s: make a new one with \"kvgpu-remotectl certs\"", f->path,
			date);
		return -EKEYEXPIRED;
	}
	if (now < from) {
		date_of(from, date);
		*why = channel_text("%s: not valid before %s: is this machine's clock right?",
				    f->path, date);
		return -EKEYEXPIRED;
	}
	return 0;
}

static int take_files(struct tls_credentials *c, struct text_file *ca, struct text_file *crt,
		      struct text_file *key, const char **why)
{
	const char *side = c->server ? "server" : "client";
	char name[16];
	int r = read_text(ca, c->folder, "ca.crt", false, why);

	if (r)
		return r;
	snprintf(name, sizeof(name), "%s.crt", side);
	r = read_text(crt, c->folder, name, false, why);
	if (!r)
		r = check_certificate(crt, why);
	if (r)
		return r;
	snprintf(name, sizeof(name), "%s.key", side);
	r = read_text(key, c->folder, name, true, why);
	if (r)
		return r;
	if (gnutls.certificate_set_x509_trust_mem(c->of, &ca->bytes, GNUTLS_X509_FMT_PEM) <= 0)
		return complain_of_file(why, EINVAL, ca->path, "no certificate in PEM");
	r = gnutls.certificate_set_x509_key_mem(c->of, &crt->bytes, &key->bytes,
						GNUTLS_X509_FMT_PEM);
	if (r < 0) {
		*why = channel_text("%s and %s: %s", crt->path, key->path, gnutls.strerror(r));
		return -EINVAL;
	}
	return 0;
}

/*
 * A server's crl.pem, if it has one: of the CA in ca.crt, and current, as GnuTLS takes no other
 * list that it is to verify.
 */
static int take_revoked(struct tls_credentials *c, const char **why)
{
	gnutls_x509_trust_list_t trusted;
	struct text_file crl;
	struct stat st;
	int r = read_text(&crl, c->folder, "crl.pem", false, why);

	/* a link that leads nowhere is there, and can't be read */
	if (r == -ENOENT && lstat(crl.path, &st) && errno == ENOENT)
		return 0;
	if (r)
		return r;
	gnutls.certificate_get_trust_list(c->of, &trusted);
	r = gnutls.x509_trust_list_add_trust_mem(
		trusted, NULL, &crl.bytes, GNUTLS_X509_FMT_PEM,
		GNUTLS_TL_VERIFY_CRL | GNUTLS_TL_FAIL_ON_INVALID_CRL, 0);
	if (r <= 0)
		r = complain_of_file(
			why, EINVAL, crl.path,
			"no list in PEM that the CA in ca.crt has signed, or its next update is due");
	forget(&crl);
	return r < 0 ? r : 0;
}

int tls_credentials_read(const char *folder, bool server, struct tls_credentials **out,
			 const char **why)
{
	struct text_file ca = { 0 }, crt = { 0 }, key = { 0 };
	struct tls_credentials *c = calloc(1, sizeof(*c));
	int r;

	if (!c || gnutls.certificate_allocate_credentials(&c->of)) {
		free(c);
		*why = "out of memory";
		return -ENOMEM;
	}
	c->server = server;
	if (snprintf(c->folder, sizeof(c->folder), "%s", folder) >= (int)sizeof(c->folder))
		r = complain_of_file(why, ENAMETOOLONG, folder, "the path is too long");
	else
		r = take_files(c, &ca, &crt, &key, why);
	if (!r && server)
		r = take_revoked(c, why);
	forget(&ca);
	forget(&crt);
	forget(&key);
	if (r)
		tls_credentials_free(c);
	else
		*out = c;
	return r;
}

void tls_credentials_free(struct tls_credentials *c)
{
	gnutls.certificate_free_credentials(c->of);
	free(c);
}
