/* SPDX-License-Identifier: MIT */
/* Inside of kvgpu-remotectl. */
#ifndef KVGPU_REMOTE_CTL_H
#define KVGPU_REMOTE_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CTL_CLIENTS = 4096, CTL_WORD = 128 };

struct ctl_server {
	int64_t pid, since, served, newcomers, limit, accepted, refused, calls, received, sent;
	char state[CTL_WORD];
};

struct ctl_client {
	int64_t id, pid, user, since, weight, memory, calls, received, sent;
	/*
	 * the GPU's time: its share now in thousandths; us: in turns, without turns, waited for
	 * turns; turns, and those lost
	 */
	int64_t share, gpu, alone, waited, turns, lost;
	char state[CTL_WORD], peer[CTL_WORD], who[CTL_WORD];
};

/* What the server said at one time. */
struct ctl_sample {
	double at;	/* seconds of a clock that only goes on */
	struct ctl_server server;
	struct ctl_client *clients;
	size_t nr_clients;
};

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ talk.c */

/* One command; the answer's lines in @text, "ok" left out. false: said why. */
bool talk(const char *socket, const char *command, char **text);
/*
 * Reads the answer to "clients". false: it is none; @s is as far as it came, sample_free() frees it
 * in both cases.
 */
bool sample_read(const char *text, struct ctl_sample *s);
bool sample_take(const char *socket, struct ctl_sample *s);
void sample_free(struct ctl_sample *s);

/* ------------------------------------------------------------------ show.c */

/* @before: NULL, or an earlier sample, which rates are computed from */
void show_table(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now);
void show_json(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now);
void show_prometheus(FILE *out, const struct ctl_sample *now);

/* ---------------------------------------------------------------- certs.c: 0 or 1, and said why */

struct certs_wish {
	const char *folder;
	unsigned int days;	/* how long it is valid */
	const char *const *names;
	unsigned int nr_names;
};

/* The server's key and certificate for names and addresses; a CA where there is none yet. */
int certs_server(const struct certs_wish *w);
/*
 * A client's, into folder/clients/NAME, with the CA's certificate: what is copied to that machine's
 * /etc/kvgpu/tls.
 */
int certs_client(const struct certs_wish *w);

/* ------------------------------------------------------------------ write.c */

struct new_file {
	const char *path;
	const void *bytes;
	size_t n;
	unsigned int mode;
};

/*
 * All of them, or none: what is there already is an error, and nothing is changed. false: said why.
 */
bool write_new(const struct new_file *files, unsigned int n);

#endif
