/* SPDX-License-Identifier: MIT */
/* Folders of tls_test.c, below one of its own, and what is wrong or odd in them. */
#ifndef KVGPU_UNIT_REMOTE_CERTIFICATES_H
#define KVGPU_UNIT_REMOTE_CERTIFICATES_H

static char top[64];

static const char *path(const char *name)
{
	static char paths[4][128];
	static unsigned int i;
	char *p = paths[i++ % 4];

	snprintf(p, 128, "%s/%s", top, name);
	return p;
}

/* Runs a command in the test's folder. */
static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
	char line[400];
	va_list args;
	int n = snprintf(line, sizeof(line), "cd '%s' && ", top);

	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	assert_int_equal(system(line), 0);
}

static void copy(const char *from, const char *to)
{
	shell("mkdir -p %s && cp -pr %s/. %s", to, from, to);
}

static gnutls_x509_privkey_t key_of(const char *file)
{
	gnutls_x509_privkey_t key;
	gnutls_datum_t text;

	assert_int_equal(gnutls_load_file(path(file), &text), 0);
	gnutls_x509_privkey_init(&key);
	assert_int_equal(gnutls_x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM), 0);
	gnutls_free(text.data);
	return key;
}

static gnutls_x509_crt_t crt_of(const char *file)
{
	gnutls_x509_crt_t crt;
	gnutls_datum_t text;

	assert_int_equal(gnutls_load_file(path(file), &text), 0);
	gnutls_x509_crt_init(&crt);
	assert_int_equal(gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM), 0);
	gnutls_free(text.data);
	return crt;
}

static void keep(const char *file, gnutls_datum_t *text)
{
	FILE *f = fopen(path(file), "w");

	assert_int_equal(fwrite(text->data, text->size, 1, f), 1);
	fclose(f);
	gnutls_free(text->data);
}

/* Replaces the key @file by a new one of that kind. */
static void make_key(const char *file, gnutls_pk_algorithm_t kind, unsigned int bits)
{
	gnutls_x509_privkey_t key;
	gnutls_datum_t text;

	gnutls_x509_privkey_init(&key);
	assert_int_equal(gnutls_x509_privkey_generate(key, kind, bits, 0), 0);
	assert_int_equal(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text), 0);
	keep(file, &text);
	gnutls_x509_privkey_deinit(key);
}

/*
 * Replaces @file by a certificate of the same key @key_file with these times and this name, signed
 * by our CA.
 */
static void change(const char *key_file, const char *file, time_t from, time_t until,
		   const char *name)
{
	gnutls_x509_privkey_t ca_key = key_of("ours/ca.key"), key = key_of(key_file);
	gnutls_x509_crt_t ca = crt_of("ours/ca.crt"), x;
	gnutls_datum_t crt = { 0 };

	gnutls_x509_crt_init(&x);
	gnutls_x509_crt_set_version(x, 3);
	gnutls_x509_crt_set_serial(x, "\1", 1);
	gnutls_x509_crt_set_key(x, key);
	gnutls_x509_crt_set_activation_time(x, from);
	gnutls_x509_crt_set_expiration_time(x, until);
	gnutls_x509_crt_set_key_purpose_oid(x, GNUTLS_KP_TLS_WWW_CLIENT, 0);
	gnutls_x509_crt_set_dn_by_oid(x, GNUTLS_OID_X520_COMMON_NAME, 0, name, strlen(name));
	assert_int_equal(gnutls_x509_crt_sign2(x, ca, ca_key, GNUTLS_DIG_SHA256, 0), 0);
	assert_int_equal(gnutls_x509_crt_export2(x, GNUTLS_X509_FMT_PEM, &crt), 0);
	keep(file, &crt);
	gnutls_x509_privkey_deinit(ca_key);
	gnutls_x509_privkey_deinit(key);
	gnutls_x509_crt_deinit(ca);
	gnutls_x509_crt_deinit(x);
}

/* listed/crl.pem by a CA, until @until, with ann's certificate of ours, or none */
static void make_crl(const char *ca_key, const char *ca_crt, time_t until, bool with_ann)
{
	gnutls_x509_crt_t ca = crt_of(ca_crt), ann = crt_of("ours/clients/ann/client.crt");
	gnutls_x509_privkey_t key = key_of(ca_key);
	time_t now = time(NULL);
	gnutls_x509_crl_t crl;
	gnutls_datum_t text;

	gnutls_x509_crl_init(&crl);
	gnutls_x509_crl_set_version(crl, 2);
	gnutls_x509_crl_set_this_update(crl, now - 86400 * 2);
	gnutls_x509_crl_set_next_update(crl, until);
	gnutls_x509_crl_set_number(crl, "\1", 1);
	if (with_ann)
		assert_int_equal(gnutls_x509_crl_set_crt(crl, ann, now), 0);
	assert_int_equal(gnutls_x509_crl_sign2(crl, ca, key, GNUTLS_DIG_SHA256, 0), 0);
	assert_int_equal(gnutls_x509_crl_export2(crl, GNUTLS_X509_FMT_PEM, &text), 0);
	keep("listed/crl.pem", &text);
	gnutls_x509_privkey_deinit(key);
	gnutls_x509_crt_deinit(ca);
	gnutls_x509_crt_deinit(ann);
	gnutls_x509_crl_deinit(crl);
}

#endif
