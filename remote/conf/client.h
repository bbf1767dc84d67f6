/* SPDX-License-Identifier: MIT */
/* remote.conf: where the CUDA programs of a machine find their GPU's server. */
#ifndef KVGPU_REMOTE_CONF_CLIENT_H
#define KVGPU_REMOTE_CONF_CLIENT_H

#include "conf.h"

#define REMOTE_CONF "/etc/kvgpu/remote.conf"

#define REMOTE_CONF_BLANKS " \t"

struct remote_conf {
	/* addresses with blanks between; empty: no server is named */
	char server[4096];
	char tls_folder[192]; /* empty: the default folder */
};

extern const struct conf_form remote_conf_form;

#endif
