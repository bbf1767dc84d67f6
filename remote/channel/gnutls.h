/* SPDX-License-Identifier: MIT */
/*
 * GnuTLS's functions as found by dlopen(), so that a program that uses no tls: address does not
 * load it.
 */
#ifndef KVGPU_REMOTE_GNUTLS_H
#define KVGPU_REMOTE_GNUTLS_H

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/* clang-format off */
#define GNUTLS_NAMES(X) \
	X(alert_get) \
	X(alert_get_name) \
	X(alert_send) \
	X(alert_send_appropriate) \
	X(certificate_allocate_credentials) \
	X(certificate_free_credentials) \
	X(certificate_get_peers) \
	X(certificate_get_trust_list) \
	X(certificate_server_set_request) \
	X(certificate_set_x509_key_mem) \
	X(certificate_set_x509_trust_mem) \
	X(certificate_verify_peers) \
	X(credentials_clear) \
	X(credentials_set) \
	X(deinit) \
	X(error_is_fatal) \
	X(handshake) \
	X(hash_fast) \
	X(init) \
	X(pk_get_name) \
	X(priority_set_direct) \
	X(record_check_pending) \
	X(record_recv) \
	X(record_send) \
	X(server_name_set) \
	X(strerror) \
	X(transport_set_ptr) \
	X(transport_set_pull_function) \
	X(transport_set_push_function) \
	X(x509_crt_deinit) \
	X(x509_crt_get_activation_time) \
	X(x509_crt_get_dn_by_oid) \
	X(x509_crt_get_expiration_time) \
	X(x509_crt_get_key_id) \
	X(x509_crt_get_pk_algorithm) \
	X(x509_crt_import) \
	X(x509_crt_init) \
	X(x509_trust_list_add_trust_mem)
/* clang-format on */

struct gnutls_functions {
#define GNUTLS_MEMBER(name) typeof(&gnutls_##name) name;
	GNUTLS_NAMES(GNUTLS_MEMBER)
};

extern struct gnutls_functions gnutls; /* filled in by tls_load() */

#endif
