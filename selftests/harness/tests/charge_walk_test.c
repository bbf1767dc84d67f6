// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a vGPU has of the engines is about what it pays for (S5). Two vGPUs repeat a short random
 * script of work and tricks beside a third one, which has plain work, sleeps, or has no channel.
 * A script is made from a seed. Arguments: FIRST_SEED SEEDS MS_EACH; without, a few fixed seeds.
 *
 * A copy ends when its channel is preempted or disabled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

enum { HONEST = BOTH, ALL };

#define STEPS 10
/* per mille of the time by which what a vGPU has and pays for may differ */
#define MOST_OFF 60
#define SEEDS	 10
#define MS_EACH	 1500

enum act {
	GR_ON,
	GR_OFF,
	COPY,
	COPY_END,
	KICK,
	UNLIST,
	LIST,
	DISABLE,
	ENABLE,
	REBIND_1,
	REBIND_2,
	FLUSH,
	SLEEP,
	TILL_OPEN,
	TILL_SHOWN,
	TELL,
	UNTELL,
	HOLD,
	PREEMPT,
	TILL_CHARGED,
	NR_ACTS,
};

enum honest { NO_CHANNEL, SLEEPS, ALWAYS_WORKS, SHORT_JOBS, NR_HONEST };

static struct {
	u8 who, act;
	u32 arg;
} script[STEPS];
static u32 steps, rnd_state, honest_work, honest_pause;
static u64 has[ALL];
static u32 run_ms, first, nr;

static u32 rnd(u32 n)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (rnd_state >> 8) % n;
}

static u16 id_of(u32 i, u32 c)
{
	struct kvgpu_chan *k = vmach_chan_find(world.vgpu[i].v, (gchid_t){ c });

	return k ? k->hchid.v : 0;
}

static bool resident(u32 i)
{
	u64 e[2 * KVGPU_MAX_CHAN];
	u32 n = chip_list(0, e), k, id;

	for (k = 0; k < n; k++) {
		id = FIELD_GET(RUNLIST_ID, e[k]);
		if (id == id_of(i, 1) || id == id_of(i, 2))
			return true;
	}
	return false;
}

static bool copies(u32 i)
{
	return harness_now < chip.copying_until &&
	       (chip.copying == id_of(i, 2) || chip.copying == id_of(i, 1));
}

static void end_copy(u32 reg, u32 val)
{
	bool preempts = reg == PFIFO_PREEMPT && !(val & PFIFO_PREEMPT_TSG) &&
			FIELD_GET(PFIFO_PREEMPT_ID, val) == chip.copying;
	bool disables = reg >= PCCSR_BASE && reg < PCCSR_BASE + PCCSR_SIZE && !(reg & 4) &&
			(reg - PCCSR_BASE) / 8 == chip.copying;

	if (preempts || disables)
		chip.copying_until = 0;
}

static void meter(void *arg)
{
	u32 i;

	for (; !done; harness_sleep(MS / 40), all++)
		for (i = 0; i < ALL; i++)
			has[i] += chip_engine_works(id_of(i, 1)) || copies(i);
}

static void list_two(u32 i, u32 nr)
{
	u64 list[2] = { 1, 2 };

	g_list(&world.vgpu[i], list, nr);
}

/* Bit 0 of @us: the doorbell words tell of the work; bit 1: for 10 us only. */
static void gr_on(u32 i, u32 us)
{
	struct world_vgpu *g = &world.vgpu[i];

	g_ring(g, 1, us & 1);
	chip_at_work(id_of(i, 1), true);
	if (resident(i))
		chip_load_on_gr(id_of(i, 1));
	if ((us & 3) == 3) {
		harness_sleep(10 * US);
		g_ring(g, 1, 0);
	}
}

static void rebind(u32 i, u32 c)
{
	struct world_vgpu *g = &world.vgpu[i];

	g_unbind(g, c);
	g_inst(g, c, 0, 0);
	g_bind(g, c);
	g_enable(g, c, true);
}

static void flush(u32 i, bool waits, u64 until)
{
	struct vgpu_own *own = &world.vgpu[i].v->own[VGPU_OWN_FLUSH];
	volatile u32 *w = (volatile u32 *)(own->memory + (FLUSH_L2_DIRTY - own->at));

	*w = FLUSH_TRIGGER;
	while (waits && *w & FLUSH_TRIGGER && harness_now < until)
		harness_sleep(5 * US);
}

/* gpu_time_ns tells when a vGPU is charged */
static void till_charged(struct kvgpu_machine *m, u64 until)
{
	u64 was = vmach_gpu_time_get(m);

	while (vmach_gpu_time_get(m) == was && harness_now < until)
		harness_sleep(10 * US);
}

static void till_shown(u32 i, u32 k, u64 until)
{
	while (!(resident(i) && resident(k)) && harness_now < until)
		harness_sleep(5 * US);
}

static void hold(u32 i, u32 us)
{
	if (!resident(i) || !chip_may_load(id_of(i, 1), 0))
		return;
	g_ring(&world.vgpu[i], 1, us & 1);
	chip_hold(id_of(i, 1), us * US);
}

static void act(u32 i, enum act a, u32 us)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 until = harness_now + 3 * MS;
	u16 id = id_of(i, 1);

	switch (a) {
	case GR_ON:
		gr_on(i, us);
		break;
	case GR_OFF:
		chip_at_work(id, false);
		g_ring(g, 1, 0);
		break;
	case COPY:
		if (resident(i) && harness_now >= chip.copying_until)
			chip_copies(id_of(i, 2), harness_now + us * US);
		break;
	case COPY_END:
		if (copies(i))
			chip.copying_until = 0;
		break;
	case KICK:
		kick(i);
		break;
	case UNLIST:
	case LIST:
		list_two(i, a == LIST ? 2 : 0);
		break;
	case DISABLE:
	case ENABLE:
		g_enable(g, 1, a == ENABLE);
		break;
	case REBIND_1:
	case REBIND_2:
		rebind(i, a == REBIND_1 ? 1 : 2);
		break;
	case FLUSH:
		flush(i, us & 1, until);
		break;
	case SLEEP:
		harness_sleep(us * US);
		break;
	case TILL_OPEN:
		till_shown(WORKER, ACCOMPLICE, until);
		break;
	case TILL_SHOWN:
		till_shown(i, i, until);
		break;
	case TELL:
	case UNTELL:
		tell_work(i, a == TELL);
		break;
	case HOLD:
		hold(i, us);
		break;
	case PREEMPT:
		g_preempt(g, false, 1);
		break;
	default:
		till_charged(g->v->m, until);
	}
}

static void partners(void *arg)
{
	u64 end = harness_now + run_ms * MS;
	u32 k;

	while (harness_now < end) {
		for (k = 0; k < steps && harness_now < end; k++)
			act(script[k].who, script[k].act, script[k].arg);
		harness_sleep(20 * US);
	}
	done = true;
}

/* The third vGPU has its work on GR whenever GR is free, and its list is on the chip. */
static void honest(void *arg)
{
	u16 id = id_of(HONEST, 1);
	u64 did;

	while (!done) {
		g_ring(&world.vgpu[HONEST], 1, 1);
		chip_at_work(id, true);
		for (did = 0; did < honest_work * US && !done;) {
			harness_sleep(10 * US);
			if (resident(HONEST) && (chip.engine[0].chid == NO_CHAN ||
						 !chip_engine_works(chip.engine[0].chid)))
				chip_load_on_gr(id);
			did += chip_engine_works(id) ? 10 * US : 0;
		}
		chip_at_work(id, false);
		g_ring(&world.vgpu[HONEST], 1, 0);
		if (honest_pause)
			harness_sleep(honest_pause * US);
	}
}

static void script_make(u32 seed)
{
	static const u8 often[] = { GR_ON, SLEEP, KICK, GR_OFF, COPY };
	u32 k;

	rnd_state = seed * 2654435761u + 12345;
	steps = 4 + rnd(STEPS - 3);
	for (k = 0; k < steps; k++) {
		script[k].who = rnd(BOTH);
		script[k].act = rnd(3) ? rnd(NR_ACTS) : often[rnd(ARRAY_SIZE(often))];
		script[k].arg = rnd(3) ? 20 + rnd(400) : 100 + rnd(3000);
	}
}

static void walk_setup(u32 seed, enum honest kind)
{
	static const char *const caps[] = { "100", "100", "50", "10", "30" };
	struct policy p = coarse;
	u32 i;

	p.seed = 1 + seed;
	setup_begin(&p, &plain, ALL);
	for (i = 0; i < ALL; i++)
		g_ring(&world.vgpu[i], 1, 0);
	for (i = 0; i < BOTH; i++)
		second_channel(i);
	setup_knob(WORKER, "cap", caps[rnd(ARRAY_SIZE(caps))]);
	kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY,
				   rnd(4) || kind == NO_CHANNEL ? KVGPU_SCHED_BEST_EFFORT :
								  KVGPU_SCHED_EQUAL_SHARE);
	if (kind == NO_CHANNEL)
		g_unbind(&world.vgpu[HONEST], 1);
	harness_sleep(300 * MS);
	memset(has, 0, sizeof(has));
	all = 0;
	done = false;
	chip_before_write = end_copy;
}

static void walk(u32 seed)
{
	u64 began, took[ALL];
	enum honest kind;
	u32 i, h, paid;

	script_make(seed);
	kind = rnd(NR_HONEST);
	honest_work = 50 + rnd(500);
	honest_pause = kind == ALWAYS_WORKS ? 0 : 100 + rnd(800);
	walk_setup(seed, kind);
	began = harness_now;
	for (i = 0; i < ALL; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	if (kind >= ALWAYS_WORKS)
		actor_new("honest", setup_mm, false, honest, NULL);
	actors_run();
	chip_before_write = NULL;
	printf("# seed %u, third kind %u, cap %u; who:act,arg", seed, kind,
	       slice_of(WORKER)->ent.cap);
	for (i = 0; i < steps; i++)
		printf(" %u:%u,%u", script[i].who, script[i].act, script[i].arg);
	printf("; per mille had/paid");
	for (i = 0; i < ALL; i++) {
		h = 1000 * has[i] / all;
		paid = thousandths(i, took[i], began);
		printf(" %u/%u", h, paid);
		/* the first two may pay more: for all of a wait of their own */
		if (h > paid + MOST_OFF || (i == HONEST && paid > h + MOST_OFF))
			harness_fail("S5: seed %u: vGPU %u has %u per mille and pays for %u", seed,
				     i, h, paid);
	}
	printf("\n");
	setup_end();
}

static void walks(void **state)
{
	u32 i;

	for (i = 0; i < nr; i++)
		walk(first + i);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(walks) };

	first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	nr = argc > 2 ? strtoul(argv[2], NULL, 10) : SEEDS;
	run_ms = argc > 3 ? strtoul(argv[3], NULL, 10) : MS_EACH;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
