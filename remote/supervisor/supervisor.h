/* SPDX-License-Identifier: MIT */
/*
 * Internal header of kvgpu-remoted's first process. It has one thread, which may fork at any time,
 * and that of arbiter.c, which touches nothing that is declared here but these words. A client's
 * process calls clients_part(), arbiter_part(), child_main() and what these need: say(),
 * arbiter_doorbell(), confine(), filter_install(), filter_tighten(). A proxy's forker calls the
 * last three. The loop must not wait for a client but in poll(), nor for NSS: names are looked up
 * before it. A client's process is trusted no more than a client: its counters are bounded, its
 * texts are cleaned before they are printed. Except for two words: with TLS name and fingerprint in
 * its report are believed (is_who() in supervisor.c).
 */
#ifndef KVGPU_REMOTE_SUPERVISOR_H
#define KVGPU_REMOTE_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <remote/channel/address.h>
#include <remote/conf/refused.h>
#include <remote/conf/server.h>
#include <remote/server/counters.h>
#include <remote/server/sched_shared.h>
#include <remote/server/sleep_shared.h>
#include <remote/server/trace_shared.h>
#include <remote/server/pool.h>
#include <remote/sleep/sleepers.h>
#include <remote/wire/builds.h>

#include "bucket.h"

struct tls_credentials;

enum {
	LISTENERS = 256,
	ADMINS = 4,
	PEER_TEXT = CONF_WHO,
	REPORT_TEXT = 200,
	ANSWER_MAX = 640 << 10
};

/* The one report of a client's process: the client's name, or .refused and why in .text. */
struct report {
	uint32_t refused;
	char who[CONF_WHO], fingerprint[REFUSED_WORD]; /* by TLS: of certificate and key */
	char text[REPORT_TEXT];
};

/* All programs of one name, which are one client for the configuration. */
struct tenant {
	char who[CONF_WHO];
	/* programs served; 0: the row is free, and keeps its name until another one needs it */
	unsigned int programs;
	bool anew; /* the row had another name before, or none */
	/* when the row became free last, as a number that rises */
	uint64_t left;
	int fd; /* of .pool's memory */
	struct pool *pool; /* a row for each process, by its index */
	/* memory of its images (server/images.h), kept for programs to come; 0: there is none */
	int images;
	int compiled; /* the same of its folder of compiled PTX (compiled.c) */
};

enum client_state { CLIENT_NONE, CLIENT_NEW, CLIENT_SERVED, CLIENT_ENDING };

/* when to try again what has failed, as there is too little of something */
enum { AGAIN_MS = 100 };

/* A process of a client, from fork() until it was reaped, and while memory of it is kept. */
struct client {
	enum client_state state;
	/* came by TLS: the process checks the certificate, and reports "tls:" and the name in it */
	bool tls;
	/* the client of a shmem region in a file or on a device; NULL: it came by a socket */
	struct listener *listener;
	pid_t pid;
	/* the client's process was reaped; .pid is 0, or gives the memory back */
	bool reaped;
	uint64_t id; /* never used again */
	int report; /* socket to the process; -1: its report was answered */
	bool told; /* its report was read: .who is its name; not answered yet */
	int log; /* pipe of the process's lines; -1: its end was read */
	/* the client's own socket, looked at for its end; -1: the client came to an endpoint */
	int life;
	/* the process that connected by a UNIX socket; negative: not known */
	int program;
	/*
	 * memory that the process may share with a client of a UNIX socket; -1: there is none, or
	 * it was given back, or the process that does that is .pid
	 */
	int memory;
	uint64_t left_ms; /* since when the client is known to be gone; 0: it is not */
	char peer[PEER_TEXT], who[CONF_WHO], fingerprint[REFUSED_WORD];
	struct address_source from;
	time_t since;
	/* in ms of now_ms(): of a newcomer; until when memory is kept, if .reaped and no .pid */
	uint64_t came_ms, deadline_ms;
	struct tenant *tenant; /* NULL: the client is not served */
	uint64_t weight;
	int page; /* the memory of .counters; -1: there is none */
	struct counters *counters; /* shared with the process */
	size_t shared_bytes; /* of that memory; CLIENT_PAGE: there is no room for a trace */
	bool traced; /* a trace was ordered: its lines are kept when the client has gone */
	struct sleeper sleeper; /* sleep.c's, as the next one */
	/* what this process has told the client's about sleep, which can write the page, too */
	struct {
		uint32_t order, granted, wakes, answers;
		uint32_t wish, lacks, error; /* as seen last */
		uint64_t raised; /* bytes by which its host memory is bounded higher */
	} sleep;
};

/*
 * memory that a client's process shares with the first process: a page of words, and TRACE_ROOM
 * bytes that a trace's lines have
 */
struct client_page {
	struct counters counters;
	struct sched_shared shared;
	struct sleep_shared sleep;
	struct trace_shared trace;
};
enum { CLIENT_PAGE = 4096 };
_Static_assert(sizeof(struct client_page) <= CLIENT_PAGE, "the words have a page");

/* the process that reads how much memory the GPUs have (meter.c) */
struct meter {
	pid_t pid; /* 0: it was reaped */
	int fd; /* a pipe from it; -1: there is none */
	/* in ms of now_ms(): its last sign of life; when it was needed last; when one may begin */
	uint64_t heard_ms, needed_ms, next_ms;
	char why[96]; /* why the last one failed, as was said; empty: it has read something */
};

static inline struct sched_shared *sched_shared_of(struct counters *counters)
{
	return &((struct client_page *)counters)->shared;
}

static inline struct trace_shared *trace_shared_of(struct counters *counters)
{
	return &((struct client_page *)counters)->trace;
}

static inline char *trace_text_of(struct counters *counters)
{
	return (char *)counters + CLIENT_PAGE;
}

static inline struct sleep_shared *sleep_shared_of(struct counters *counters)
{
	return &((struct client_page *)counters)->sleep;
}

/* The file of a socket that this process listens at. */
struct socket_file {
	char path[108]; /* "": there is none */
	dev_t dev;
	ino_t ino;
};

struct listener {
	int fd; /* -1: an endpoint; without .endpoint and .taken the row is free */
	bool tls;
	/* the shmem region; NULL: a socket's, or the memory is gone, or listen_end() was called */
	struct kvgpu_remote_endpoint *endpoint;
	bool taken;
	bool leaves; /* the configuration has the region no more: it goes with its client */
	char who[CONF_WHO];
	const char *text; /* the configuration's line, in .conf; NULL: a socket of systemd's */
	struct socket_file file; /* to remove at the end */
};

/* how many connections come from one site, one network in it, and one address in that */
struct number {
	unsigned int site, net, one;
};

/* A connection that has said nothing yet, or waits for a newcomer's slot. */
struct preauth_conn {
	int fd; /* -1: the entry is free */
	bool tls; /* as its listener, which may be gone by now */
	struct address_source from;
	bool ready; /* the connection has sent what begins as a hello, not read yet */
	bool again; /* may be of a peer that failed as a newcomer, and comes again */
	uint64_t id, came_ms;
	/*
	 * of its source: connections in the pre-auth queue; newcomers and starts, for
	 * preauth_next()
	 */
	struct number beside, newcomers;
};

/* The connection of an admin. */
struct admin {
	int fd; /* -1: the entry is free */
	size_t have;
	char line[128];
};

struct supervisor {
	const struct remoted_conf *conf;
	struct kvgpu_remote_build build; /* what clients are compared with */
	FILE *dump; /* print frames there as text; NULL: don't */
	gid_t groups[CONF_GROUPS]; /* of .conf, those that there were at the start */
	unsigned int nr_groups;
	struct listener listeners[LISTENERS];
	unsigned int nr_listeners;
	/* addresses of files and devices that are not served yet; .said: why */
	struct awaited {
		const char *text;
		char said[120];
	} awaited[LISTENERS];
	unsigned int nr_awaited;
	uint64_t next_try_ms;
	uint64_t accept_ms; /* nothing is accepted before, as there was too little of something */
	struct client *clients;
	struct tenant *tenants;
	uint64_t tenants_left; /* how many tenants have left */
	unsigned int nr_clients; /* rows of .clients and of .tenants */
	struct preauth_conn *preauth;
	unsigned int nr_preauth;
	uint64_t last_preauth;
	/* starts of newcomers' processes: in all; by preauth_source(); by network */
	struct buckets all, sites, nets;
	int admin_fd; /* the socket that listens; -1: none */
	struct socket_file admin_file;
	struct admin admins[ADMINS];
	bool cgroups;
	bool draining, ended, failed;
	uint64_t drained_ms; /* when a drain ends the clients that are left; 0: never */
	/* how this process was started, for handover() */
	const char *program;
	char **argv;
	int argc;
	const char *state; /* what is taken over (state.h); NULL: nothing, or it was */
	int state_fd;
	bool trial; /* only look whether that can be taken over: change nothing that others see */
	int awaits; /* the admin's connection who has asked for that; -1: none */
	/* an address that was taken while it was under way, or whose group was not set; or NULL */
	const char *undone;
	char notify[108]; /* NOTIFY_SOCKET of systemd, or empty */
	time_t since;
	uint64_t last_id, accepted, refused;
	struct sleepers sleepers;
	uint8_t uuids[SLEEP_GPUS][16]; /* of .sleepers.gpus */
	char gpus[SLEEP_GPUS][96]; /* their types */
	uint64_t sleep_ms; /* when suspend_look() has something to do; UINT64_MAX: nothing */
	struct meter meter;
	struct counters gone; /* sums of clients that have ended */
	/* memory of the last client that has gone and was traced; NULL: there is none */
	struct {
		uint64_t id;
		struct counters *counters;
		size_t bytes;
	} traced;
};

/* ------------------------------------------------------------------ log.c */

/* before the first line: what standard error is */
void log_begin(void);
/* any thread but the arbiter's; in a client's process, too */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Kinds of lines about clients. Each has budgets of its own, so that it can't hide another kind. */
enum about {
	ABOUT_NEWCOMERS, /* refused, or ended before it was served */
	ABOUT_PROCESSES, /* what the first process sees of clients' processes */
	BY_PROCESSES, /* what these processes say */
	NR_ABOUT
};
/*
 * Say what clients can cause: at most so many lines a minute of each kind for each source. @from:
 * NULL: of no source. The first process's own thread, as the functions below.
 */
void say_of_clients(enum about about, const struct address_source *from, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The pipe of a client's process: ends[1] is the process's. 0 or -errno. */
int log_pipe(int ends[2]);
/* say what the process of @c has written; at its end set .log to -1 */
void log_hear(struct client *c);
/* 0: lines of @c may be said; else in how many ms its source has a budget again */
int log_wait(const struct client *c);
/* in a client's process, before it has a thread of its own: say() writes to @fd from here on */
void log_part(int fd);

/* ------------------------------------------------------------------ supervisor.c */

/* Run until told to end, or drained. Return the exit code. */
int supervisor_run(struct supervisor *s);

/* ------------------------------------------------------------------ listen.c */

uint64_t now_ms(void);
/* Take over the sockets that systemd opened. False: the reason was printed. */
bool listen_adopt(struct supervisor *s);
/* After listen_adopt(): listen at what the configuration names besides. False: as above. */
bool listen_all(struct supervisor *s);
/*
 * Tell systemd (NOTIFY_SOCKET, Type=notify): "READY=1", all is listened at; or another line. The
 * first call takes the variable out of the environment.
 */
void listen_tell(struct supervisor *s, const char *text);
/* Look for awaited files and devices. Return in how many ms to call again; -1: none is awaited. */
int listen_again(struct supervisor *s);
/* The memory of endpoint @l is gone. If nothing is left to listen at, the server ends. */
void listen_lost(struct supervisor *s, struct listener *l);
/*
 * accept() has failed, and errno says why. If the peer waits still, which poll() goes on to see,
 * nothing is accepted for AGAIN_MS.
 */
void accept_failed(struct supervisor *s);
/* In a trial, which ends then: remove files of sockets that listen_all() has made. */
void listen_undo(struct supervisor *s);
/* Listen no more at @l; an endpoint with a client goes with it. */
void listener_drop(struct supervisor *s, struct listener *l);
/* Close and forget all sockets and endpoints, also what is awaited, and end the pre-auth queue. */
void listen_end(struct supervisor *s);
void socket_file_begin(struct socket_file *f, const char *path);
/*
 * Give a file, which lines call @as, to that group; "": to its owner alone. @fd may be of O_PATH.
 * False: the reason was printed.
 */
bool file_give(int fd, const char *as, const char *group);
/* The same for the file of a socket, but not for another one that is at its path by now. */
bool socket_file_give(const struct socket_file *f, const char *as, const char *group);
/*
 * Remove the file, but not another one that is at its path by now. Call before the socket is
 * closed: until then no other file has its number.
 */
void socket_file_end(const struct socket_file *f);

/* ---------------------------------------------- preauth.c: connections that have no process yet */

/*
 * Call after the table of clients was made. May raise the limit of descriptors of this process, and
 * so of its children. False: out of memory.
 */
bool preauth_begin(struct supervisor *s);
/*
 * Take a connection into the pre-auth queue. If the pre-auth queue is full, a connection of the
 * source with most of it is ended. @fd belongs to the pre-auth queue.
 */
void preauth_enter(struct supervisor *s, int fd, bool tls, const struct address_source *from);
/*
 * end a connection of the source with most of the pre-auth queue; false: the pre-auth queue is
 * empty
 */
bool preauth_make_room(struct supervisor *s);
/*
 * poll() has seen input at a connection, which is ready then if it begins as a client's does, and
 * is ended if not; or @gone, its end, which drops it whatever it has sent.
 */
void preauth_look(struct supervisor *s, struct preauth_conn *c, bool gone);
/* the site of a source: its /48 of IPv6, its /24 of IPv4, or what it is else */
uint64_t preauth_site(const struct address_source *a);
/* what counts as one source of lines and of starts: a site, or one shmem region */
struct address_source preauth_source(const struct address_source *a);
/* The ready connection that is next to get a newcomer's slot, or NULL. */
struct preauth_conn *preauth_next(struct supervisor *s);
/* Free the entry. Its descriptor stays open, and is the caller's. */
void preauth_forget(struct supervisor *s, struct preauth_conn *c);
/* when the next connection is late, in ms of now_ms(); UINT64_MAX: none will be */
uint64_t preauth_deadline(const struct supervisor *s);
void preauth_end_late_ones(struct supervisor *s);
/* After preauth_begin(): a connection that was in the pre-auth queue of another build. */
void preauth_adopt(struct supervisor *s, const struct preauth_conn *of);
void preauth_end(struct supervisor *s);
/*
 * When a newcomer from source @from may come: 0: now. Else the time, in ms of now_ms(), from which
 * on its source has a start, or another newcomer may be ended for it, or UINT64_MAX; *go: one whose
 * time has come, or NULL.
 */
uint64_t newcomer_room(struct supervisor *s, const struct address_source *from, struct client **go);
/* A newcomer's process from @from is started; its client is served; or it ends and was not. */
void newcomer_starts(struct supervisor *s, const struct address_source *from);
void newcomer_is_served(struct supervisor *s, const struct address_source *from);
void newcomer_failed(struct supervisor *s, const struct address_source *from);

/* ------------------------------------------------------------------ clients.c */

/*
 * Whether the peer of @fd is a process of a client, by its user number: one that was taken over
 * could become further clients, with a quota for each. False if clients' processes have no user
 * numbers of their own.
 */
bool is_process_of_client(const struct supervisor *s, int fd);

/* a free row */
extern const struct client free_client;
/* Return a free row of s->clients, with a new page, or NULL. */
struct client *client_row(struct supervisor *s);
/* Map .page at .counters; false: out of memory. */
bool client_map(struct client *c);
/* Erase what functions that have returned left below the caller's frame. */
void erase_dead_frames(void);
/*
 * Call after fork() for the client's process. @here (in the first process): later processes don't
 * get this client's page. Else: erase what is known of other clients.
 */
void clients_part(struct supervisor *s, struct client *c, bool here);
struct client *client_by_pid(struct supervisor *s, pid_t pid);
struct client *client_by_id(struct supervisor *s, uint64_t id);
unsigned int clients_in(const struct supervisor *s, enum client_state state);
/* those that .clients of the configuration limits: served, or with memory that is kept */
unsigned int clients_with_row(const struct supervisor *s);
/*
 * Whether @c, which has reported its name, came by TLS with a certificate that the file of
 * remote/conf/refused.h has; also if that can't be read. @why: as of refused_find().
 */
bool client_is_refused(const struct supervisor *s, const struct client *c, char why[CONF_TEXT]);
/* Tell the client's process its limit of device memory, which may have begun with another one. */
void client_limit(struct client *c, const struct conf_share *share);
/* The row stays CLIENT_ENDING until the process is reaped, and no memory is kept. */
void client_kill(struct client *c);
/*
 * The client's process was reaped, or never made. Free the client's row and its listener, leave its
 * tenant, and unmap its page. Call cgroup_end() and arbiter_leave() first: they need the tenant and
 * the page.
 */
void client_gone(struct supervisor *s, struct client *c);
/*
 * Print the table as lines "server key=value ...", "client key=value ...", cut at @size. Return
 * how many bytes.
 */
size_t clients_print(const struct supervisor *s, char *to, size_t size);

/* -------------------------------- shared.c: memory that a client's process and its client share */

/*
 * Memory for a client at the socket @fd: 0 or -errno, and *memory, or -1 if that is no UNIX socket.
 */
int shared_begin(int fd, int *memory);
/*
 * The process .pid of @c was reaped, with @status; or, where .pid is 0, the memory is wanted back
 * now. True: the row stays, and .pid gives the memory back, or is 0: call again when .pid was
 * reaped, or the program .program has ended, by .deadline_ms at the latest. False: there is no such
 * memory any more.
 */
bool shared_stays(struct client *c, int status);

/* ------------------------------------------------------------------ tenants.c */

/* How many programs of the client named @who are served. */
unsigned int tenants_programs(struct supervisor *s, const char *who);
/* Count @c as a program of .who, and set .tenant. False: out of memory or descriptors. */
bool tenants_enter(struct supervisor *s, struct client *c);
/* The process of @c has ended. */
void tenants_leave(struct supervisor *s, struct client *c);
/* The server ends, and all that is kept for clients. */
void tenants_forget(struct supervisor *s);

/*
 * compiled.c: folders for what the GPU's library compiles. compiled_wrong(): why compiled-folder
 * can't have any, or NULL. compiled_make(): a descriptor of a new one, or -1. compiled_drop(): the
 * folder goes, with @fd. compiled_use(): the library, which this process has not loaded yet, keeps
 * @bytes there at most.
 */
const char *compiled_wrong(const struct remoted_conf *c);
int compiled_make(const struct remoted_conf *c);
void compiled_drop(int fd);
void compiled_use(int fd, uint64_t bytes);

/* ------------------------------------------------------------------ admin.c */

bool admin_listen(struct supervisor *s);
void admin_accept(struct supervisor *s);
void admin_read(struct supervisor *s, struct admin *a);
/* Carry out one line, and put the answer into @to. */
size_t admin_command(struct supervisor *s, const char *line, char *to, size_t size);

/* ---------------------------------- handover.c: another build in the place of this one, by exec */

/*
 * Execute the installed build, which goes on with all that there is, and answers @admin. Return
 * only if that can't be: the answer is in @to, and nothing has changed.
 */
size_t handover(struct supervisor *s, int admin, char *to, size_t size);
/*
 * In the other build: take over from the state at @fd what comes before the table of clients; its
 * rows, after make_table(); and after arbiter_begin(), make the configuration hold for clients that
 * run, and answer. False: the reason was printed.
 */
bool handover_begin(struct supervisor *s, int fd);
bool handover_rows(struct supervisor *s);
void handover_done(struct supervisor *s);

/* ------------------------------------------------------------------ arbiter.c: turns on the GPU */

/*
 * Start the arbiter's thread, with the turns of s->state; false: out of memory, descriptors or
 * threads, or that state is wrong. In a trial there is no thread.
 */
bool arbiter_begin(struct supervisor *s);
/* The arbiter looks no more, and its turns go into a state; the thread goes on. */
void arbiter_hold(void);
void arbiter_write(const struct supervisor *s, int fd);
void arbiter_go_on(void);
/*
 * arbiter_enter(): the client is served, with its .tenant and .weight; call before its process gets
 * the answer. arbiter_leave(): its process has ended; the arbiter reads its words no more.
 */
void arbiter_enter(struct supervisor *s, struct client *c);
void arbiter_leave(struct supervisor *s, struct client *c);
/* the descriptor by which processes ring the arbiter; -1: there is no arbiter */
int arbiter_doorbell(void);
/* in a client's process: erase what is known of other clients */
void arbiter_part(struct supervisor *s);

/* ------------------------------------------------------------------ sleep.c: who sleeps */

/* Call after the table of clients was made, and filled by a handover. False: out of memory. */
bool suspend_begin(struct supervisor *s);
/* Look at all clients, and do what remote/sleep decides. Sets .sleep_ms. */
void suspend_look(struct supervisor *s);
/* The client is served, or the configuration has changed; its process has ended. */
void suspend_enter(struct supervisor *s, struct client *c);
void suspend_leave(struct supervisor *s, struct client *c);
/*
 * By how many bytes the host memory of that client's programs is bounded higher, as some
 * sleep. They share a bound where there are cgroups.
 */
uint64_t suspend_raised(const struct supervisor *s, const struct tenant *tenant);
/* The admin's commands, behind their first word: "ok", or "error" and why. */
const char *suspend_order(struct supervisor *s, const char *text);
const char *suspend_resume(struct supervisor *s, const char *text);

/* ------------------------------------------------------------------ trace.c */

/* "ID SECONDS": begin a trace of a client. "ok", or "error ..." */
const char *trace_order(struct supervisor *s, const char *text);
/*
 * "ID BYTE": the answer to the admin about that trace: its state, and a piece of its lines from
 * there on. How much was written to @to.
 */
size_t trace_tell(struct supervisor *s, const char *text, char *to, size_t size);
bool one_sleeps(const struct supervisor *s);

/* ------------------------------------------------------------------ meter.c: memory of the GPUs */

/* Start the process, unless one runs or has failed just now. */
void meter_begin(struct supervisor *s);
/* poll() has seen something at .meter.fd: take readings into .sleepers. */
void meter_hear(struct supervisor *s);
/* End it where it is not needed any more, or silent. Return until when at most, in ms. */
uint64_t meter_look(struct supervisor *s);
void meter_end(struct supervisor *s);

/* ------------------------------------------------------------------ child.c */

/*
 * A child of the first process that loads a library of the GPU's vendor for it: close all
 * descriptors but *@fd, and give up all privileges as a client's process does. False: it could not.
 */
bool child_helps(const struct supervisor *s, pid_t parent, int *fd);

/*
 * The process of a client that came to @l. @slot: its index. @fd: its socket, or -1 at an endpoint.
 * @log: of log_pipe(). @memory: of shared_begin().
 */
void child_main(const struct supervisor *s, unsigned int slot, const struct listener *l, int fd,
		int report, int log, int memory, struct counters *counters)
	__attribute__((noreturn));
/*
 * Call after the table of clients was made. Forks a process, confined and filtered as a client's,
 * which loads the library, and ends; and a process above it, which prints what it writes, as an
 * error if that fails.
 */
void child_try_library(const struct supervisor *s);

/* ---------------------------------------------------------------- confine.c, filter.c, cgroup.c */

/*
 * Give this process a user of its own, if @conf has users, and keep it from gaining any privilege:
 * a process without privileges may install a filter only then. Call, as filter_install(), in a
 * process with one thread. 0, or -errno and *what: what failed.
 */
int confine(const struct remoted_conf *conf, unsigned int slot, const char **what);
/*
 * Where there is no cgroup: this process may have so many bytes of private memory (RLIMIT_DATA); 0:
 * any. 0, or -errno.
 */
int limit_memory(uint64_t bytes);
/*
 * The same for another process, which had limit_memory(@bytes), and @more by now. Where that can't
 * be set, 0 if the process has room for @more.
 */
int limit_memory_of(pid_t pid, uint64_t bytes, uint64_t more);
/* Whether a confined process can be kept from making and removing files. */
bool folders_can_be_kept(void);
/* Whether it can be kept from binding its client's TCP socket to another port. */
bool network_can_be_kept(void);
/*
 * Limit the system calls of this thread and of all that it makes later. Call after fork(): the
 * filter has getpid()'s number. 0 or -errno.
 */
int filter_install(enum conf_filter filter);
/*
 * After filter_install(), after the welcome, which sends memory to the client, and after the
 * library's cuInit(), which may listen at a socket: let no thread of this process send a descriptor
 * or name a socket any more. 0 or -errno.
 */
int filter_tighten(enum conf_filter filter);
/*
 * For the first process: limits of memory and CPU time by cgroups, if systemd has delegated a
 * cgroup to the service; else cgroups_begin() prints why not.
 */
bool cgroups_begin(void);
/*
 * This and the next two: only after cgroups_begin() has returned true. In a client's process,
 * before confine(): go into the cgroup of newcomers.
 */
void cgroup_newcomer(void);
/*
 * Put process @pid into its program's cgroup, before it gets the answer to its report: then it
 * loads the library. @more: what its client's programs have now by cgroup_memory().
 */
void cgroup_enter(unsigned int tenant, unsigned int slot, pid_t pid, const struct conf_share *share,
		  uint64_t more, uint64_t tasks);
/* Let all programs of the client have @more bytes than its share says. */
bool cgroup_memory(unsigned int tenant, const struct conf_share *share, uint64_t more);
/* Remove the program's cgroup, and if it was the @last one the client's. Call after the reaping. */
void cgroup_end(unsigned int tenant, unsigned int slot, bool last);
/* the service's cgroup, to be written to after another build called cgroups_begin() */
enum { CGROUP_PATH = 512 };
char *cgroup_own(void);
void cgroup_weigh(unsigned int tenant, uint64_t weight);

#endif
