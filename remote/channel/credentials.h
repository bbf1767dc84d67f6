/* SPDX-License-Identifier: MIT */
/*
 * Internal header of TLS: credentials as credentials.c reads them and tls.c uses them. They do not
 * change once they are read. One thread reads, uses and frees them.
 */
#ifndef KVGPU_REMOTE_CREDENTIALS_H
#define KVGPU_REMOTE_CREDENTIALS_H

#include "gnutls.h"
#include "tls.h"

struct tls_credentials {
	gnutls_certificate_credentials_t of;
	bool server;
	char folder[192]; /* where they were read; later for messages alone */
};

/* make a text, which is valid until this thread's next one */
const char *channel_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
