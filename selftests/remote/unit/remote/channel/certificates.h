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

/* the CA's signature in other bytes, by which it is as valid (RFC 5280, 4.1.1; SEC 1, 4.1.4) */
enum variant { NEGATED, WITH_PARAMETERS };

/* @s becomes n - @s, where n is the order of P-256 */
static void negate(gnutls_datum_t *s)
{
	static const uint8_t order[32] =
		"\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
		"\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51";
	uint8_t was[32] = { 0 };
	int i, left, borrow = 0;

	left = s->size < 32 ? 32 - s->size : 0;
	memcpy(was + left, s->data + s->size - (32 - left), 32 - left);
	s->data = gnutls_realloc(s->data, 33);
	s->size = 33;
	s->data[0] = 0;
	for (i = 31; i >= 0; i--) {
		s->data[i + 1] = order[i] - was[i] - borrow;
		borrow = order[i] < was[i] + borrow;
	}
}

/*
 * Replaces @file by the same certificate with that variant of its signature, which comes last, as a
 * bit string behind the algorithm's identifier of 12 bytes. All three have a header of 2 bytes, the
 * whole one of 4.
 */
static void vary(const char *file, enum variant v)
{
	gnutls_x509_crt_t crt = crt_of(file);
	gnutls_datum_t der, signature, r, s, out = { 0 };
	uint8_t all[2048], *to;
	size_t n;

	assert_int_equal(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_DER, &der), 0);
	n = sizeof(all);
	assert_int_equal(gnutls_x509_crt_get_signature(crt, (char *)all, &n), 0);
	signature = (gnutls_datum_t){ all, n };
	assert_int_equal(gnutls_decode_rs_value(&signature, &r, &s), 0);
	if (v == NEGATED)
		negate(&s);
	assert_int_equal(gnutls_encode_rs_value(&signature, &r, &s), 0);
	n = der.size - n - 3;
	assert_true(der.data[0] == 0x30 && der.data[1] == 0x82 && der.data[n - 12] == 0x30 &&
		    der.data[n - 11] == 10 && der.data[n] == 3 && signature.size < 120);
	memcpy(all, der.data, n);
	to = all + n;
	if (v == WITH_PARAMETERS) {
		to[-11] = 12;
		memcpy(to, "\5\0", 2);
		to += 2;
	}
	memcpy(to, (uint8_t[]){ 3, signature.size + 1, 0 }, 3);
	memcpy(to + 3, signature.data, signature.size);
	n = to + 3 + signature.size - all;
	all[2] = (n - 4) >> 8;
	all[3] = n - 4;
	assert_int_equal(
		gnutls_pem_base64_encode2("CERTIFICATE", &(gnutls_datum_t){ all, n }, &out), 0);
	keep(file, &out);
	gnutls_free(der.data);
	gnutls_free(signature.data);
	gnutls_free(r.data);
	gnutls_free(s.data);
	gnutls_x509_crt_deinit(crt);
}

/* the SHA-256 of all of the certificate's bytes */
static void whole_sum(const char *file, uint8_t sum[32])
{
	gnutls_x509_crt_t crt = crt_of(file);
	size_t n = 32;

	assert_int_equal(gnutls_x509_crt_get_fingerprint(crt, GNUTLS_DIG_SHA256, sum, &n), 0);
	gnutls_x509_crt_deinit(crt);
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
