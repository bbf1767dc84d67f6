// SPDX-License-Identifier: MIT
/*
 * The kernel's log, from the opening of the device on: there nouveau says why it killed a channel.
 * A user that may not read it gets no cause.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../api/process.h"
#include "cause.h"
#include "nv.h"

enum { RECORD_BYTES = 8192, TRIES = 20, PAUSE_MS = 10 };

void nv_log_open(struct nv_device *d)
{
	d->log = own_descriptor(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	if (d->log >= 0)
		lseek(d->log, 0, SEEK_END);
}

void nv_log_close(struct nv_device *d)
{
	if (d->log >= 0)
		close(d->log);
}

static void owner(char *out, size_t n)
{
	FILE *f = own_file(fopen("/proc/self/comm", "re"), "r");
	char name[32] = "";

	if (f) {
		if (!fgets(name, sizeof(name), f))
			name[0] = 0;
		fclose(f);
	}
	name[strcspn(name, "\n")] = 0;
	snprintf(out, n, "%s[%d]", name, (int)getpid());
}

/* a record: numbers, a semicolon, the text, a newline, perhaps more */
static void read_all(int fd, struct cause_reader *r)
{
	char record[RECORD_BYTES], *text;
	ssize_t n;

	while ((n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = 0;
		text = strchr(record, ';');
		if (!text)
			continue;
		text[strcspn(text, "\n")] = 0;
		cause_line(r, text + 1);
	}
}

/*
 * The lines may come a moment after the channel's death: this sleeps between looks, with
 * check_lock.
 */
enum device_cause nv_cause(struct device *dev)
{
	struct nv_device *d = nv(dev);
	struct cause_reader r = { .cause = CAUSE_UNKNOWN };
	enum device_cause found;
	unsigned int i;

	pthread_mutex_lock(&d->check_lock);
	if (d->cause == CAUSE_UNKNOWN && d->log >= 0) {
		owner(r.owner, sizeof(r.owner));
		for (i = 0; i < TRIES && r.cause == CAUSE_UNKNOWN; i++) {
			if (i)
				nanosleep(&(struct timespec){ .tv_nsec = PAUSE_MS * 1000000 },
					  NULL);
			read_all(d->log, &r);
		}
		d->cause = r.cause;
	}
	found = d->cause;
	pthread_mutex_unlock(&d->check_lock);
	return found;
}
