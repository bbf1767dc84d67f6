/* SPDX-License-Identifier: MIT */
/*
 * Inside of kvgpu-remoted's first process. One thread, and that of arbiter.c; nothing here blocks
 * but poll() and, briefly, fork(). What a client's process says is believed no more than a client:
 * numbers are numbers, texts are cleaned before they are printed.
 */
#ifndef KVGPU_REMOTE_STARTER_H
#define KVGPU_REMOTE_STARTER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <remote/channel/address.h>
#include <remote/conf/server.h>
#include <remote/server/counters.h>
#include <remote/server/door.h>
#include <remote/server/pool.h>

struct tls_credentials;

enum {
	LISTENERS = 256,
	ADMINS = 4,
	PEER_TEXT = CONF_WHO,
	REPORT_TEXT = 200,
	ANSWER_MAX = 512 << 10
};

/* What a client's process says once: it is known, or it was refused because of... */
struct report {
	uint32_t refused;
	char who[CONF_WHO];
	char text[REPORT_TEXT];
};

/*
 * All programs of one name: one client for the configuration, as long as it has any here. Its index
 * is its cgroup's number.
 */
struct tenant {
	char who[CONF_WHO];
	/* that are served; 0: the row is free, and keeps its name until another one needs it */
	unsigned int programs;
	bool anew;		/* it had another name before */
	/* when it became free, as a number that rises; 0: it never had a name */
	uint64_t left;
	int fd;			/* .pool's */
	struct pool *pool;	/* rows are the processes' indices */
};

enum client_state { CLIENT_NONE, CLIENT_NEW, CLIENT_SERVED, CLIENT_ENDING };

/* A process of a client, from fork() until it was reaped. Its index is its user's number, too. */
struct client {
	enum client_state state;
	/* its certificate, which its process has looked at, says its name */
	bool tls;
	/* it is the client of an aperture in a file or on a device; NULL: it came by a socket */
	struct listener *place;
	pid_t pid;
	uint64_t id;		/* never used again */
	int report;		/* its socket, -1 after it was read */
	/* the client's own socket, of which only the end is looked at; -1: it came to a place */
	int life;
	uint64_t left_ms;	/* since when its client is known to be gone; 0: it is not */
	char peer[PEER_TEXT], who[CONF_WHO];
	struct address_source from;
	time_t since;
	uint64_t came_ms, deadline_ms;	/* of a newcomer */
	struct tenant *tenant;	/* NULL: it is not served */
	uint64_t weight;
	struct counters *counters;	/* shared with it */
};

/* what a client's process and the first one share */
struct client_page {
	struct counters counters;
	struct door door;
};

static inline struct door *door_of(struct counters *counters)
{
	return &((struct client_page *)counters)->door;
}

struct listener {
	int fd;			/* -1: a place */
	bool tls;
	/*
	 * A file or a device that is an aperture; its one client is "aperture:/path". NULL: none,
	 * or lost, or drained
	 */
	struct kvgpu_remote_place *place;
	bool taken;
	char who[CONF_WHO];
	char path[108];		/* a socket file to remove at the end */
};

/* how many come from one network, and from one address of it */
struct number {
	unsigned int net, one;
};

/* A connection that has said nothing yet, or waits for a newcomer's place. */
struct caller {
	int fd;			/* -1: none */
	unsigned int listener;
	struct address_source from;
	bool ready;		/* it has said something, which nobody has read */
	uint64_t id, deadline_ms;	/* of one that is not ready */
	/* of its source in the hall; of newcomers, for hall_next() */
	struct number beside, newcomers;
};

/* One admin that is connected. */
struct admin {
	int fd;			/* -1: none */
	size_t have;
	char line[128];
};

struct starter {
	const struct remoted_conf *conf;
	uint64_t version;		/* of the frames */
	FILE *dump;			/* frames as text */
	struct listener listeners[LISTENERS];
	unsigned int nr_listeners;
	/*
	 * addresses of devices that are not there yet: a VM's udev has not made them, or they are
	 * plugged in later
	 */
	/* .said: why it is not served yet */
	struct awaited { const char *text; char said[120]; } awaited[LISTENERS];
	unsigned int nr_awaited;
	uint64_t next_try_ms;
	struct client *clients;
	struct tenant *tenants;
	uint64_t tenants_left;	/* how many have */
	unsigned int nr_clients;	/* places; rows of .tenants */
	struct caller *hall;
	unsigned int nr_hall;
	uint64_t last_caller;
	int admin_fd;			/* listens; -1: none */
	struct admin admins[ADMINS];
	bool cgroups;
	bool draining, ended, failed;
	time_t since;
	uint64_t last_id, accepted, refused;
	struct counters gone;		/* of clients that have ended, together; memory unused */
};

/* ------------------------------------------------------------------ main.c */

void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* what clients can cause: at most so many lines a minute, and how many there were not */
void say_of_clients(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern FILE *log_to;	/* NULL: standard error */

/* ------------------------------------------------------------------ starter.c */

/* Until it was told to end, or drained. Exit code. */
int starter_run(struct starter *s);

/* ------------------------------------------------------------------ listen.c */

uint64_t now_ms(void);
/* false: said why. @named: also those of the configuration */
bool listen_all(struct starter *s);
/*
 * Looks for the devices that are awaited, at most once a second; how many ms until it does again,
 * -1: none is awaited
 */
int listen_again(struct starter *s);
/* Its memory is gone. Without anything left to listen at the server ends. */
void listen_lost(struct starter *s, struct listener *l);
void listen_end(struct starter *s);

/* ------------------------------------------------------------- hall.c: who has said nothing yet */

/* after the table of clients was made; false: out of memory */
bool hall_begin(struct starter *s);
/* One more; where it is full one of the source that has most of it is ended. @fd is the hall's */
void hall_enter(struct starter *s, int fd, unsigned int listener,
		const struct address_source *from);
/* one of the source that has most of it is ended; false: it is empty */
bool hall_make_room(struct starter *s);
/* poll() has seen something at it: input, or, @gone, its end, whatever came before */
void hall_look(struct starter *s, struct caller *c, bool gone);
/*
 * of those that are ready the next to get a newcomer's place, or NULL; its descriptor is the
 * caller's after hall_forget()
 */
struct caller *hall_next(struct starter *s);
void hall_forget(struct starter *s, struct caller *c);
/* when the next one is late, in ms; UINT64_MAX: none will be */
uint64_t hall_deadline(const struct starter *s);
void hall_end_late_ones(struct starter *s);
void hall_end(struct starter *s);
/*
 * Whether a newcomer from there may come: 0; else the time from which on it may, if *go is ended
 * for it; *go: whom that time has come for, or NULL. UINT64_MAX: not before one of them ends.
 */
uint64_t newcomer_room(struct starter *s, const struct address_source *from, struct client **go);

/* ------------------------------------------------------------------ clients.c */

/*
 * Whether who connected there is a process of a client's, by its user number. One that was taken
 * over would be a further client, or many, with a quota for each. Without users of their own they
 * can't be told from others of the server's user.
 */
bool is_process_of_client(const struct starter *s, int fd);

/* A free row with counters, or NULL. */
struct client *client_place(struct starter *s);
/*
 * After the fork() of its process: no later one will have its page (@here: in the first process),
 * and it knows of no other client (in its own).
 */
void clients_part(struct starter *s, struct client *c, bool here);
struct client *client_by_pid(struct starter *s, pid_t pid);
unsigned int clients_in(const struct starter *s, enum client_state state);
void client_kill(struct client *c);
/* Its process was reaped. */
void client_gone(struct starter *s, struct client *c);
/*
 * The table as lines: "server key=value ..." and "client key=value ..."; how many bytes, cut at
 * @size.
 */
size_t clients_print(const struct starter *s, char *to, size_t size);
/* @text without what is no plain text */
void clean(char *text, size_t size);

/* ------------------------------------------------------------------ tenants.c */

/* How many programs of @who are served. */
unsigned int tenants_programs(struct starter *s, const char *who);
/* One more, as .who says; false: out of memory or descriptors */
bool tenants_enter(struct starter *s, struct client *c);
/* Its process has ended. A client that is not served has no name. */
void tenants_leave(struct starter *s, struct client *c);

/* ------------------------------------------------------------------ admin.c */

bool admin_listen(struct starter *s);
void admin_accept(struct starter *s);
void admin_read(struct starter *s, struct admin *a);
/* Carries out one line; the answer in @to. For admin_read() and tests. */
size_t admin_command(struct starter *s, const char *line, char *to, size_t size);

/* ------------------------------------------------------------------ arbiter.c: turns on the GPU */

/* A thread; false: out of memory or descriptors. Without it there are no turns. */
bool arbiter_begin(struct starter *s);
/*
 * The client is served, as .tenant and .weight say, and its process will look at its door; its
 * process has ended.
 */
void arbiter_enter(struct starter *s, struct client *c);
void arbiter_leave(struct starter *s, struct client *c);
/* what processes ring with; -1: there is no arbiter */
int arbiter_bell(void);
/* in a client's process, which knows of no other client */
void arbiter_part(struct starter *s);

/* ------------------------------------------------------------------ child.c */

/*
 * The process of a client, who came to @l; never returns. @slot: its index. @fd: its socket, or -1
 * at a place
 */
void child_main(const struct starter *s, unsigned int slot, const struct listener *l, int fd,
		int report, struct counters *counters) __attribute__((noreturn));
/* Says later if the library can't be loaded. After the table of clients was made. */
void child_try_library(const struct starter *s);

/* ---------------------------------------------------------------- confine.c, filter.c, cgroup.c */

/*
 * The process has a user of its own from now on, and can gain nothing. 0, or -errno and what
 * failed.
 */
int confine(const struct remoted_conf *conf, unsigned int slot, const char **what);
/* Whether such a process can be kept from making and removing files: the kernel has Landlock. */
bool folders_can_be_kept(void);
/* System calls that neither we nor a libcuda.so.1 need fail from now on. 0 or -errno. */
int filter_install(enum conf_filter filter);
/*
 * Limits of memory and CPU time by cgroups, where systemd delegated one to us; cgroups_begin() says
 * why if it did not. A client has one, with its tenant's index, and each of its programs one in
 * that, with its process's number.
 */
bool cgroups_begin(void);
void cgroup_enter(unsigned int tenant, unsigned int slot, pid_t pid, const struct conf_share *share,
		  uint64_t tasks);
/* of the program; of the client, too, if it was the @last one */
void cgroup_end(unsigned int tenant, unsigned int slot, bool last);

#endif
