// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure.h has the contracts. What must not fail ends the program, and leaves the vGPUs.
 */
#include "measure.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "churn.h"

static const char *const role_names[] = { "stream",  "greedy", "latency", "waiter",
					  "faulter", "hanger", "sleeper", "resetter" };
const unsigned int spans[SPANS] = { 2, 3 };

enum { WATCHDOG_S = 2 }; /* watchdog_ms of a card, if nothing sets it */

/* turns: .slices of the vGPUs, of the first and the last look */
struct look {
	uint64_t at, took, busy, strikes, gpu[MAX_TENANTS], bytes[MAX_TENANTS], dry;
	uint64_t turns[MAX_TENANTS];
};

/*
 * @on: no process of ordinary priority delays this one from now on, so that a look is short; else
 * as before. The slicer's thread has the same priority, so neither interrupts the other one.
 */
static void go_first(bool on)
{
	const struct sched_param p = { .sched_priority = on ? 1 : 0 };

	if (sched_setscheduler(0, on ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, &p)) {
		printf("Bail out! sched_setscheduler: %s\n", strerror(errno));
		exit(1);
	}
}

/* A vGPU's gpu_time_ns and copy_time_ns, opened. Tenants copy: which one grows is the card's. */
struct times {
	int gpu, copies;
};

/*
 * Read the times first and without a pause: a vGPU that is read 1 ms later than another one may
 * have had the GPU for 1 ms more.
 * The other values are read at ordinary priority, so that they do not keep the slicer from the CPU.
 * Call it after go_first(true).
 */
static void look(const struct tenant *t, const struct times *times, unsigned int nr, struct look *l)
{
	unsigned int i;

	l->at = now_ns();
	for (i = 0; i < nr; i++)
		l->gpu[i] = value_read(times[i].gpu) + value_read(times[i].copies);
	l->took = now_ns() - l->at;
	go_first(false);
	l->strikes = l->dry = 0;
	for (i = 0; i < nr; i++) {
		l->dry += t[i].shared->dry;
		l->bytes[i] = t[i].shared->bytes;
		l->strikes += vgpu_value(&t[i], "strikes");
	}
	l->busy = card_value("busy_ns") + card_value("copy_busy_ns");
	go_first(true);
}

static void look_at_turns(const struct tenant *t, unsigned int nr, struct look *l)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		l->turns[i] = vgpu_value(&t[i], "slices");
}

/* Tell hangers to hang at each sixth look. */
static void tell_hangers(const struct setup *s, struct tenant *t, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->role[i] == ROLE_HANGER && at % 6 == 1)
			t[i].shared->rounds++;
}

static void look_again_and_again(const struct setup *s, struct tenant *t, unsigned int looks,
				 double seconds, struct look *l)
{
	struct times times[MAX_TENANTS];
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		times[i] = (struct times){ vgpu_open(&t[i], "gpu_time_ns"),
					   vgpu_open(&t[i], "copy_time_ns") };
	look_at_turns(t, s->nr, &l[0]);
	go_first(true);
	look(t, times, s->nr, &l[0]);
	for (i = 1; i <= looks; i++) {
		tell_hangers(s, t, i);
		usleep(seconds * 1e6);
		look(t, times, s->nr, &l[i]);
	}
	go_first(false);
	look_at_turns(t, s->nr, &l[looks]);
	for (i = 0; i < s->nr; i++) {
		close(times[i].gpu);
		close(times[i].copies);
	}
}

static void set_number(const struct tenant *t, const char *name, unsigned int v)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", v);
	if (v && vgpu_write(t, name, text)) {
		printf("Bail out! %s = %u is refused\n", name, v);
		exit(1);
	}
}

/* parts of the time by the policy, when all tenants are there; of a best-effort setup 0 */
static double entitled[MAX_TENANTS];

static void start(const struct setup *s, struct tenant *t)
{
	unsigned int i;

	card_write("policy", s->policy ? s->policy : "best-effort");
	for (i = 0; i < s->nr; i++) {
		tenant_create(&t[i], i, "512m");
		set_number(&t[i], "weight", s->weight[i]);
		set_number(&t[i], "cap", s->cap[i]);
		tenant_start(&t[i], s->role[i]);
	}
	for (i = 0; i < s->nr; i++) {
		if (!tenant_await(&t[i], TENANT_READY, 60000)) {
			printf("Bail out! tenant %u does not start\n", i);
			exit(1);
		}
	}
	for (i = 0; i < s->nr; i++) {
		entitled[i] = s->policy ? vgpu_value(&t[i], "entitlement_ppm") / 1e6 : 0;
		t[i].shared->order = ORDER_RUN;
	}
}

static bool always_works(const struct setup *s, unsigned int i)
{
	return s->role[i] == ROLE_STREAM || s->role[i] == ROLE_GREEDY;
}

static unsigned int weight(const struct setup *s, unsigned int i)
{
	return s->weight[i] ? s->weight[i] : 100;
}

/* The part of the wall time that a tenant has at most; 0: there is no limit. */
static double limit(const struct setup *s, unsigned int i)
{
	return s->cap[i] ? s->cap[i] / 100.0 : entitled[i];
}

/* Samples may have seen no work at all of a tenant that has little: then @all is 0. */
static double part(double is, double all)
{
	return all > 0 ? is / all : 0;
}

/*
 * Tell which part of the time that all tenants got each should have got. A tenant that does not
 * always work should have what it got. One with a cap, or an entitlement by the policy, should get
 * that of the wall time. The others should share the rest by weight.
 */
static void wanted(const struct setup *s, const struct look *a, const struct look *b, double *want)
{
	double weights = 0, rest = 1, all = 0;
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		all += b->gpu[i] - a->gpu[i];
	for (i = 0; i < s->nr; i++) {
		double wall = b->at - a->at;

		want[i] = 0;
		if (!always_works(s, i))
			want[i] = part(b->gpu[i] - a->gpu[i], all);
		else if (limit(s, i))
			want[i] = part(limit(s, i) * wall, all);
		else
			weights += weight(s, i);
		rest -= want[i];
	}
	for (i = 0; i < s->nr; i++)
		if (!limit(s, i) && always_works(s, i))
			want[i] = rest * weight(s, i) / weights;
}

static double relative_error(double is, double want)
{
	return want > 0 ? (is - want) / want : 0;
}

static void add_window(struct spread *to, double mean, double worst)
{
	to->mean = (to->mean * to->windows + mean) / (to->windows + 1);
	to->windows++;
	if (worst > to->worst)
		to->worst = worst;
}

/*
 * For each tenant that always works: by what part it got less of the wall time than if all tenants
 * had worked.
 */
static void hang_window(const struct setup *s, const struct look *a, const struct look *b,
			struct spread *lost)
{
	double weights = 0, mean = 0, worst = 0, e;
	unsigned int i, n = 0;

	for (i = 0; i < s->nr; i++)
		weights += weight(s, i);
	for (i = 0; i < s->nr; i++) {
		if (!always_works(s, i))
			continue;
		e = 1 - (b->gpu[i] - a->gpu[i]) / ((b->at - a->at) * (weight(s, i) / weights));
		mean += e;
		n++;
		if (e > worst)
			worst = e;
	}
	add_window(lost, n ? mean / n : 0, worst);
}

static void share_window(const struct setup *s, const struct look *a, const struct look *b,
			 struct window *w)
{
	double want[MAX_TENANTS], all = 0, e;
	unsigned int i;

	w->mean = w->worst = 0;

	for (i = 0; i < s->nr; i++)
		all += b->gpu[i] - a->gpu[i];
	wanted(s, a, b, want);
	for (i = 0; i < s->nr; i++) {
		w->error[i] = relative_error(part(b->gpu[i] - a->gpu[i], all), want[i]);
		e = fabs(w->error[i]);
		w->mean += e / s->nr;
		if (e > w->worst)
			w->worst = e;
	}
}

static bool has_role(const struct setup *s, enum role role)
{
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		if (s->role[i] == role)
			return true;
	return false;
}

/*
 * Windows follow one another and do not overlap. A hang is counted when the watchdog ends it, so
 * the window in which it began may have no strike of its own: a strike may come later by the
 * watchdog's time. @seconds lie between two looks.
 */
static void all_windows(const struct setup *s, const struct look *l, unsigned int looks,
			double seconds, struct result *r)
{
	unsigned int late = has_role(s, ROLE_HANGER) ? ceil(WATCHDOG_S / seconds) : 0, k, i, end;

	for (k = 0; k < SPANS; k++) {
		for (i = spans[k]; i <= looks; i += spans[k]) {
			const struct look *from = &l[i - spans[k]];
			struct window *w = &r->window[k][r->error[k].windows];

			end = i + late < looks ? i + late : looks;
			if (from->dry != l[i].dry) {
				r->dry[k]++;
			} else if (from->strikes == l[end].strikes) {
				*w = (struct window){ .from = i - spans[k], .to = i };
				share_window(s, from, &l[i], w);
				add_window(&r->error[k], w->mean, w->worst);
			} else if (!k) {
				hang_window(s, from, &l[i], &r->lost);
			}
		}
	}
}

static void note_moments(const struct look *l, unsigned int looks, struct result *r)
{
	unsigned int i;

	r->looks = looks;
	for (i = 0; i <= looks; i++)
		r->moment[i] = (struct moment){ .at = l[i].at, .took = l[i].took };
}

static int by_value(const void *a, const void *b)
{
	return (int)(*(const uint32_t *)a > *(const uint32_t *)b) -
	       (int)(*(const uint32_t *)a < *(const uint32_t *)b);
}

static void latencies(const struct tenant *t, struct result *r)
{
	uint32_t n = t->shared->nr_samples, *us = malloc(n * sizeof(*us) + 1), i;

	for (i = 0; i < n; i++)
		us[i] = t->shared->sample_us[i];
	qsort(us, n, sizeof(*us), by_value);
	r->nr_samples = n;
	if (n) {
		r->p50_us = us[n / 2];
		r->p99_us = us[n * 99 / 100];
		r->max_us = us[n - 1];
	}
	free(us);
}

static void whole(const struct setup *s, const struct look *a, const struct look *b,
		  struct result *r)
{
	double all = 0, bytes = 0, wall = b->at - a->at;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		all += b->gpu[i] - a->gpu[i];
		bytes += b->bytes[i] - a->bytes[i];
	}
	wanted(s, a, b, r->want);
	for (i = 0; i < s->nr; i++) {
		double e;

		r->share[i] = part(b->gpu[i] - a->gpu[i], all);
		r->wall[i] = (b->gpu[i] - a->gpu[i]) / wall;
		r->bytes_share[i] = part(b->bytes[i] - a->bytes[i], bytes);
		e = fabs(relative_error(r->bytes_share[i], r->want[i]));
		if (!always_works(s, i))
			continue;
		if (e > r->work_error)
			r->work_error = e;
		if (!r->least || r->want[i] < r->least)
			r->least = r->want[i];
		if (r->want[i] > r->greatest)
			r->greatest = r->want[i];
	}
	r->busy = (b->busy - a->busy) / wall;
	r->bytes_per_s = bytes / wall * 1e9;
}

/* @a and @b are the first and the last look, with @looks - 1 between them. */
static void turns(const struct setup *s, const struct look *a, const struct look *b,
		  unsigned int looks, struct result *r)
{
	double had, of_window;
	unsigned int i;

	for (i = 0; i < s->nr; i++) {
		had = b->gpu[i] - a->gpu[i];
		r->turn_ns[i] = part(had, b->turns[i] - a->turns[i]);
		of_window = part(r->turn_ns[i], had * spans[0] / looks);
		if (always_works(s, i) && of_window > r->turn_part)
			r->turn_part = of_window;
	}
}

/*
 * Start a process that keeps the copy engines' interrupts off until it is killed. Until then a copy
 * that asks for an acknowledge hangs its engine.
 */
static pid_t mute_all_the_time(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		mute_engines(~0u);
		_exit(1);
	}
	return pid;
}

bool measure(const struct setup *s, unsigned int looks, double seconds, struct result *r)
{
	struct tenant t[MAX_TENANTS];
	struct look l[MAX_LOOKS + 1];
	struct churn churn;
	uint64_t refused;
	pid_t muting = 0;
	unsigned int i;

	memset(r, 0, sizeof(*r));
	if (has_role(s, ROLE_HANGER) && !card_registers()) {
		printf("%-26s not measured: the card's registers can't be mapped, boot with iomem=relaxed\n",
		       s->name);
		return false;
	}
	start(s, t);
	if (has_role(s, ROLE_HANGER))
		muting = mute_all_the_time();
	churn_begin(&churn, s->churn);
	sleep(1);
	for (i = 0; i < s->nr; i++)
		t[i].shared->nr_samples = 0;
	look_again_and_again(s, t, looks, seconds, l);
	note_moments(l, looks, r);
	all_windows(s, l, looks, seconds, r);
	whole(s, &l[0], &l[looks], r);
	turns(s, &l[0], &l[looks], looks, r);
	r->made = churn_end(&churn, &r->make_ns, &refused);
	r->bad += refused;
	if (muting) {
		kill(muting, SIGKILL);
		waitpid(muting, NULL, 0);
	}
	for (i = 0; i < s->nr; i++) {
		uint64_t max = vgpu_value(&t[i], "preempt_ns_max");

		r->preempts += vgpu_value(&t[i], "preempts");
		r->preempt_ns += vgpu_value(&t[i], "preempt_ns_total");
		r->preempt_max = max > r->preempt_max ? max : r->preempt_max;
		if (s->role[i] == ROLE_LATENCY)
			latencies(&t[i], r);
	}
	for (i = 0; i < s->nr; i++) {
		bool ended = tenant_end(&t[i]);

		r->bad += !ended + t[i].shared->bad;
		if (!ended)
			printf("# %s: the %s %u: %llu wrong or lost\n", s->name,
			       role_names[s->role[i]], i, (unsigned long long)t[i].shared->bad);
	}
	for (i = 0; i < s->nr; i++)
		tenant_remove(&t[i]);
	card_write("policy", "best-effort");
	return true;
}

/* ------------------------------------------------------------------ output */

void print_result(const struct setup *s, double seconds, const struct result *r)
{
	unsigned int i;

	printf("%-26s busy %5.1f %%  %7.1f MB/s  error of work %4.1f %%%s\n", s->name,
	       r->busy * 100, r->bytes_per_s / 1e6, r->work_error * 100,
	       r->bad ? "  WRONG DATA OR LOST WORK" : "");
	for (i = 0; i < SPANS; i++) {
		const struct spread *e = &r->error[i];

		printf("    error of share in %u windows of %g s: %.2f %% worst, %.2f %% mean",
		       e->windows, spans[i] * seconds, e->worst * 100, e->mean * 100);
		if (s->aim[i])
			printf(", aim %.1f %%: %s", s->aim[i] * 100,
			       !e->windows	     ? "no window" :
			       e->worst <= s->aim[i] ? "met" :
						       "MISSED");
		printf("\n");
	}
	if (r->dry[0])
		printf("    %u windows of %g s in which a tenant that should always have work had none: not judged\n",
		       r->dry[0], spans[0] * seconds);
	if (r->lost.windows)
		printf("    %u windows of %g s with a hang: those that work lost %.1f %% at most, %.1f %% mean\n",
		       r->lost.windows, spans[0] * seconds, r->lost.worst * 100,
		       r->lost.mean * 100);
	for (i = 0; i < s->nr; i++)
		printf("    %-8s weight %4u cap %3u  share %6.2f %% (want %6.2f %%)  of time %6.2f %%  of bytes %6.2f %%  a turn %5.2f ms\n",
		       role_names[s->role[i]], s->weight[i] ? s->weight[i] : 100,
		       s->cap[i] ? s->cap[i] : 100, r->share[i] * 100, r->want[i] * 100,
		       r->wall[i] * 100, r->bytes_share[i] * 100, r->turn_ns[i] / 1e6);
	if (r->preempts)
		printf("    %llu preempts, %llu us each, %llu us at most\n",
		       (unsigned long long)r->preempts,
		       (unsigned long long)(r->preempt_ns / r->preempts / 1000),
		       (unsigned long long)r->preempt_max / 1000);
	if (r->turn_part > 0)
		printf("    a turn, with what is charged of its switch: %.2f %% of what its tenant has in %g s, at most\n",
		       r->turn_part * 100, spans[0] * seconds);
	if (r->nr_samples)
		printf("    small copies: %u, %u us median, %u us p99, %u us at most\n",
		       r->nr_samples, r->p50_us, r->p99_us, r->max_us);
	if (s->churn)
		printf("    vGPUs made beside it, %u at a time: %llu, %.1f ms each\n", s->churn,
		       (unsigned long long)r->made, r->made ? r->make_ns / 1e6 / r->made : 0.0);
	fflush(stdout);
}

static void json_array(FILE *f, const char *name, const double *v, unsigned int nr)
{
	unsigned int i;

	fprintf(f, ", \"%s\": [", name);
	for (i = 0; i < nr; i++)
		fprintf(f, "%s%.5f", i ? ", " : "", v[i]);
	fprintf(f, "]");
}

static void json_window(FILE *f, double s, double aim, const struct spread *all,
			const struct window *each, unsigned int tenants)
{
	unsigned int i;

	fprintf(f,
		"{\"s\": %g, \"nr\": %u, \"mean\": %.5f, \"worst\": %.5f, \"aim\": %.5f, \"each\": [",
		s, all->windows, all->mean, all->worst, aim);
	for (i = 0; i < all->windows; i++) {
		fprintf(f, "%s{\"from\": %u, \"to\": %u, \"mean\": %.5f, \"worst\": %.5f",
			i ? ", " : "", each[i].from, each[i].to, each[i].mean, each[i].worst);
		json_array(f, "error", each[i].error, tenants);
		fprintf(f, "}");
	}
	fprintf(f, "]}");
}

/* looks: [when it began, how long it took], ns; "from" and "to" of windows are numbers of looks. */
static void json_looks(FILE *f, const struct result *r)
{
	unsigned int i;

	fprintf(f, ", \"least\": %.5f, \"greatest\": %.5f, \"looks\": [", r->least, r->greatest);
	for (i = 0; i <= r->looks; i++)
		fprintf(f, "%s[%llu, %llu]", i ? ", " : "", (unsigned long long)r->moment[i].at,
			(unsigned long long)r->moment[i].took);
	fprintf(f, "]");
}

void print_json(FILE *f, const struct setup *s, double seconds, const struct result *r, bool first)
{
	double turn_ms[MAX_TENANTS];
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		turn_ms[i] = r->turn_ns[i] / 1e6;
	fprintf(f,
		"%s  {\"name\": \"%s\", \"tenants\": %u, \"busy\": %.4f, \"bytes_per_s\": %.0f, \"mean_error\": %.5f, "
		"\"worst_error\": %.5f, \"work_error\": %.5f, \"bad\": %llu, \"windows\": [",
		first ? "" : ",\n", s->name, s->nr, r->busy, r->bytes_per_s, r->error[0].mean,
		r->error[0].worst, r->work_error, (unsigned long long)r->bad);
	for (i = 0; i < SPANS; i++) {
		fprintf(f, "%s", i ? ", " : "");
		json_window(f, spans[i] * seconds, s->aim[i], &r->error[i], r->window[i], s->nr);
	}
	fprintf(f, "], \"dry\": [%u, %u]", r->dry[0], r->dry[1]);
	json_looks(f, r);
	if (r->lost.windows)
		fprintf(f,
			", \"hangs\": {\"windows\": %u, \"mean_lost\": %.5f, \"worst_lost\": %.5f}",
			r->lost.windows, r->lost.mean, r->lost.worst);
	json_array(f, "share", r->share, s->nr);
	json_array(f, "want", r->want, s->nr);
	json_array(f, "of_time", r->wall, s->nr);
	fprintf(f, ", \"preempts\": %llu, \"preempt_us\": %llu, \"preempt_max_us\": %llu",
		(unsigned long long)r->preempts,
		(unsigned long long)(r->preempts ? r->preempt_ns / r->preempts / 1000 : 0),
		(unsigned long long)r->preempt_max / 1000);
	json_array(f, "turn_ms", turn_ms, s->nr);
	fprintf(f, ", \"turn_part\": %.5f", r->turn_part);
	if (r->nr_samples)
		fprintf(f, ", \"latency_us\": {\"n\": %u, \"p50\": %u, \"p99\": %u, \"max\": %u}",
			r->nr_samples, r->p50_us, r->p99_us, r->max_us);
	if (s->churn)
		fprintf(f, ", \"made\": %llu, \"make_us\": %llu", (unsigned long long)r->made,
			(unsigned long long)(r->made ? r->make_ns / r->made / 1000 : 0));
	fprintf(f, "}");
}
