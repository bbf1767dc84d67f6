/* SPDX-License-Identifier: MIT */
/* Internal header of kvgpu-remotectl. */
#ifndef KVGPU_REMOTE_CTL_H
#define KVGPU_REMOTE_CTL_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CTL_CLIENTS = 4096, CTL_WORD = 128, CTL_TEXT = 256, CTL_PATH = 512 };

struct ctl_server {
	int64_t pid, since, served, newcomers, limit, accepted, refused, calls, received, sent;
	char state[CTL_WORD];
};

/* slot: the server's row, which a later client gets again; id: never used again */
struct ctl_client {
	int64_t id, slot, pid, user, since, weight, memory, pinned, calls, received, sent;
	/*
	 * share: the part of the GPU's time that the weight gives the client now, in thousandths.
	 * gpu, alone, waited, in us: GPU time charged in turns; time with work while no turns were
	 * needed; time waited for turns. turns: how many there were; lost: how many of them were
	 * lost, as others waited too long.
	 */
	int64_t share, gpu, alone, waited, turns, lost;
	/*
	 * bytes of device memory that are in host memory while it sleeps; how often it went to
	 * sleep; for how many seconds it has been waiting to wake; how many wake before it
	 */
	int64_t suspended, sleeps, waits, ahead;
	int64_t old; /* its libcuda.so.1 is of another build than the server */
	/* fingerprint: of a certificate's key, of a client by TLS; else empty */
	char state[CTL_WORD], peer[CTL_WORD], who[CTL_WORD], fingerprint[CTL_WORD];
	char release[CTL_WORD], protocol[CTL_WORD]; /* of its libcuda.so.1; empty: not told yet */
	/*
	 * awake, going, asleep or waits; empty: it can't sleep. Why it was not put to sleep, or
	 * does not wake: a word of ../supervisor/clients.c
	 */
	char sleep[CTL_WORD], why[CTL_WORD];
};

/* The server's answer to "clients" at one time. */
struct ctl_sample {
	double at; /* seconds of a monotonic clock */
	struct ctl_server server;
	struct ctl_client *clients;
	size_t nr_clients;
};

void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ------------------------------------------------------------------ admin_socket.c */

/*
 * Send one command. *text: the answer's lines without "ok", which the caller frees. False: the
 * reason was printed, and *text is NULL.
 */
bool admin_socket_ask(const char *socket, const char *command, char **text);
/*
 * Read the answer to "clients". False: @text is no such answer, or there is no memory; @s has what
 * came before the error. Call sample_free() in both cases.
 */
bool sample_read(const char *text, struct ctl_sample *s);
bool sample_take(const char *socket, struct ctl_sample *s);
void sample_free(struct ctl_sample *s);

/* ------------------------------------------------------------------ show.c */

/* @before: an earlier sample, with which rates are computed; or NULL */
void show_table(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now);
void show_json(FILE *out, const struct ctl_sample *before, const struct ctl_sample *now);
void show_prometheus(FILE *out, const struct ctl_sample *now);
/* Put .why of the client into words. */
void sleep_text(const struct ctl_client *c, char to[CTL_TEXT]);

/* ------------------------------------------------------------------ sleep.c */

/*
 * Send @command, "suspend ID" or "resume ID", wait until it is done, and print how it went. Return
 * 0, or 1: it is not, and the reason was printed.
 */
int ctl_sleep(const char *socket, const char *command, int64_t id, unsigned int seconds);

/* ------------------------------------------------------------------ trace.c, trace_json.c */

/*
 * Have a client traced, and write what has come as a Chrome trace to standard output. Return 0, or
 * 1: it is not whole, and the reason was printed.
 */
int ctl_trace(const char *socket, int64_t id, unsigned int seconds);

struct trace_sum {
	uint64_t kernels, copies, waits; /* graphs count as kernels */
	uint64_t dropped; /* by the server; the caller sets it */
	uint64_t wrong; /* lines that are none of a trace */
};

/*
 * Write the lines @text of client @id as JSON. @end: why there are no more. False: an error of
 * @to, or out of memory.
 */
bool trace_json(FILE *to, const char *text, int64_t id, const char *end, struct trace_sum *sum);

/* ------------------------------------------- certs.c: return 0, or 1 and the reason was printed */

struct certs_wish {
	const char *folder;
	unsigned int days;
	const char *const *names;
	unsigned int nr_names;
};

/* Make the server's key and certificate for names and addresses; also a CA if there is none yet. */
int certs_server(const struct certs_wish *w);
/*
 * Make a client's key and certificate in folder/clients/NAME, with the CA's certificate: that
 * folder's files are copied to /etc/kvgpu/tls of the client's machine.
 */
int certs_client(const struct certs_wish *w);
/*
 * The same for a client that has none; one that has them keeps them. @folder: where they are.
 * False: there is no CA, or as above.
 */
bool certs_have_client(const struct certs_wish *w, char folder[CTL_PATH]);
/* The first name or address in the certificate of a folder's server, as it stands in an address. */
bool certs_server_name(const char *folder, char *name, size_t size);
/* Read a file; the caller calls gnutls_free(to->data). */
bool certs_load(const char *path, gnutls_datum_t *to);
/* Print the key's fingerprint and the name of each certificate; .names are files. */
int certs_show(const struct certs_wish *w);

/* ------------------------------------------ bundle.c: return 0, or 1 and the reason was printed */

/*
 * Write what the client .names[0] needs to standard output, an archive. @address: of the server;
 * NULL: the first name in its certificate, port 7411. @libraries: the folder of the client's.
 */
int ctl_bundle(const struct certs_wish *w, const char *address, const char *libraries);

/* ------------------------------------------ cdi.c: return 0, or 1 and the reason was printed */

/*
 * Write a CDI specification for containers of this machine to standard output, with one device,
 * @name. @bundle: the folder of an unpacked bundle; NULL: what packages have installed, and
 * /etc/kvgpu/remote.conf.
 */
int ctl_cdi(const char *name, const char *bundle);

/* ------------------------------------------ refuse.c: return 0, or 1 and the reason was printed */

/*
 * Put @text, a name or a fingerprint, into the file "refused" of a server's folder, if it is not
 * there, and have a server at @socket, if one is there, end the clients that it fits.
 */
int ctl_refuse(const char *socket, const char *folder, const char *text);
/* Take it out. */
int accept_again(const char *folder, const char *text);

/* ------------------------------------------------------------------ write.c */

struct new_file {
	const char *path;
	const void *bytes;
	size_t n;
	unsigned int mode;
};

/*
 * Write all files, or none: a file that is there already is an error. False: the reason was
 * printed.
 */
bool write_new(const struct new_file *files, unsigned int n);

#endif
