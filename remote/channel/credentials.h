/* SPDX-License-Identifier: MIT */
/* Internal header of TLS: the credentials that credentials.c reads for tls.c. */
#ifndef KVGPU_REMOTE_CREDENTIALS_H
#define KVGPU_REMOTE_CREDENTIALS_H

#include <time.h>

#include "gnutls.h"
#include "tls.h"

struct tls_credentials {
	gnutls_certificate_credentials_t of;
	bool server;
	char folder[192];
};

/* print the date of @t, as 2027-01-31 */
void tls_date(time_t t, char to[16]);

#endif
