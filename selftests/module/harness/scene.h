/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A test is a row of a table: who acts (roles) on a chip of which manners, and what must hold
 * afterwards. A program has a table for one topic. Each row runs in a process of its own.
 */
#ifndef KVGPU_HARNESS_SCENE_H
#define KVGPU_HARNESS_SCENE_H

#include "selftests/module/harness/admin.h"
#include "selftests/module/harness/world.h"

#define MS 1000000ull
#define US 1000ull

/* A step of vGPU @i. false: it is not so, and the row fails. */
struct step {
	bool (*act)(u32 i, u64 a, u64 b, u64 c);
	u64 a, b, c;
	u32 i; /* beyond the role's .vgpu */
};
/* The head of a step's function. */
#define STEP(name) static bool name(u32 i, u64 a, u64 b, u64 c)
/* Whether @is: a row that fails names the last step that asked. */
#define ASK(is) scene_ask(__func__, is)
bool scene_ask(const char *step, bool is);
#define STEPS(...) ((const struct step[]){ __VA_ARGS__, {} })

struct role {
	void (*act)(const struct role *r); /* a thread of the VMM */
	u32 vgpu;
	u64 arg;
	bool lazy; /* as in actor_new() */
};
/* A role that takes these steps. The oracle looks after each, if no other role is there. */
void plays(const struct role *r);
#define PLAYS(vgpu, ...)                             \
	{                                            \
		plays, vgpu, (u64)STEPS(__VA_ARGS__) \
	}

/* What is measured: a value, how much it has grown, or that in thousandths of the time. */
struct measure {
	const char *name;
	u64 (*read)(u32 vgpu);
	enum { VALUE, GROWTH, PART } kind;
};
#define MEASURE(n, text, of, how)     \
	static u64 read_##n(u32 vgpu) \
	{                             \
		return of;            \
	}                             \
	const struct measure m_##n = { text, read_##n, how }

struct must {
	const struct measure *what;
	u32 vgpu; /* or CARD */
	u64 least, most;
	const char *why; /* begins with the invariant, S1 to S6 */
};
#define AT_LEAST(n) (n), ~0ull
#define AT_MOST(n)  0, (n)
#define IS(n)	    (n), (n)

#define SCENE_ROLES 6
#define SCENE_MUSTS 6

struct scene {
	const char *name;
	u32 vgpus; /* of one VMM, each runs channel 1 and has work (setup_begin()) */
	struct chip_manners chip;
	struct policy policy; /* .seed 0 stands for 1 */
	u64 ms; /* the time of scene_goes_on() */
	const char *set; /* by an admin, "0 cap 10 -1 watchdog_ms 100": of vGPU 0, of the card */
	u64 arg[4]; /* for the functions of the row */
	void (*probe)(const struct scene *s); /* before the card is probed */
	void (*before)(const struct scene *s); /* when the vGPUs run */
	const struct step *first, *last; /* STEPS() after .before, and after .after */
	struct role roles[SCENE_ROLES]; /* all end by themselves; none: .ms go by */
	/* when all roles have ended, and the row's chip_before_write with them */
	void (*after)(const struct scene *s);
	struct must must[SCENE_MUSTS]; /* asked between roles and .after */
	/*
	 * The first two roles run with all kinds of interleavings, which choose the chip's
	 * manners and the policy.
	 */
	bool interleaved;
	bool may_lose; /* the card; in other rows it must not be lost (S5) */
	bool slow; /* make check runs a quarter of these rows a day */
};

/* Manners of the chip, and policies, of rows of several topics. PLAIN(...): these manners, too */
/* clang-format off */
#define CALM	    { .late = 1 }
#define EAGER	    { .eager = true, .late = 1 }
#define BUSY	    { .eager = true, .busy = true, .late = 1 }
#define PLAIN(...)  { .eager = true, .busy = true, .late = 2, .idles = true, ##__VA_ARGS__ }
#define COARSE	    { .oversleep_ns = 3000 }
#define VERY_COARSE { .oversleep_ns = 20000 }
/* clang-format on */

/* the row that runs */
extern const struct scene *scene;
/* For .ms since the roles have begun, or until scene_stop(). */
bool scene_goes_on(void);
void scene_stop(void);

/*
 * main() of a program. Arguments: patterns of names (fnmatch()), of which rows run; -l lists them.
 * TAP on stdout.
 */
int scenes_main(int argc, char **argv, const struct scene *s, u32 nr);
#define SCENES(table)                                                     \
	int main(int argc, char **argv)                                   \
	{                                                                 \
		return scenes_main(argc, argv, table, ARRAY_SIZE(table)); \
	}

/* For what a row does not claim, and needs to try its claim. */
#define NEEDS(x) FAIL_ON(!(x), "%s needs: %s", scene->name, #x)
/* Wait until @cond holds, for @ns at most, and return whether it does. */
#define WITHIN(ns, step, cond)                                \
	({                                                    \
		u64 end_ = harness_now + (ns);                \
		bool is_;                                     \
		while (!(is_ = (cond)) && harness_now < end_) \
			harness_sleep(step);                  \
		is_;                                          \
	})
/* Wait for something that a row is about: a row fails that waits for so long. */
#define UNTIL_IN(ns, step, cond) FAIL_ON(!WITHIN(ns, step, cond), "never: %s", #cond)
#define UNTIL(cond)		 UNTIL_IN(5000 * MS, 20 * US, cond)
/* Wait for something that the end of the row makes needless. */
#define UNTIL_OVER(step, cond)                     \
	do {                                       \
		while (!(cond) && scene_goes_on()) \
			harness_sleep(step);       \
	} while (0)

/* of a vGPU */
extern const struct measure m_charged; /* gpu_time_ns, in thousandths of the time */
extern const struct measure m_strikes, m_suspended;
extern const struct measure m_faults, m_events_dropped, m_lives; /* m_lives: of channel 1 */
/* of the card; m_irq_ran: with its sleeps */
extern const struct measure m_interrupts, m_irq_ran, m_irq_worked, m_resets, m_lost;
/* what the roles have counted, in scene_count[] by .vgpu */
extern const struct measure m_count;
extern u64 scene_count[8];

#endif
