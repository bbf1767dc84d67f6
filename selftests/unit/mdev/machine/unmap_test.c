// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds of an unmap against the VFIO core's loop, as vfio_dma_do_unmap() has it: while a page is
 * pinned, all open devices are asked, and the eleventh repetition is a BUG. Between any two steps
 * guests pin as far as they may, vGPUs are closed and opened, and other threads make calls.
 * mdev/machine/unmap.c is real; kernel/ stands for all else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "standin.h"

enum { VGPUS = 8, ROUNDS_OF_CORE = 11, SEEDS = 20000, UNMAPS = 4, MANY = 300 };

struct vgpu {
	struct kvgpu_vgpu v;
	struct kvgpu_machine m;
	bool open, pins;
};

static struct vgpu vgpu[VGPUS];
static struct pid pids[2];
static struct task unmaps = { .pid = &pids[0] }, other = { .pid = &pids[1] };
static unsigned int nr, no_memory; /* no_memory: how many of 8 attempts to make a file fail */
struct task *current;
unsigned int standin_asked, standin_most_asked;

struct file *anon_inode_getfile(const char *name, const struct file_operations *ops, void *data,
				int flags)
{
	struct file *f = (unsigned int)rand() % 8 < no_memory ? NULL : malloc(sizeof(*f));

	if (f)
		*f = (struct file){ .f_op = ops, .private_data = data };
	return f;
}

void fput(struct file *f)
{
	list_add(&f->node, &current->files);
}

/* Lets @t return to user mode: the kernel closes the files that the task has released. */
static void returns(struct task *t)
{
	struct file *f, *next;

	list_for_each_entry_safe(f, next, &t->files, node) {
		list_del(&f->node);
		f->f_op->release(NULL, f);
		free(f);
	}
}

static void start(unsigned int n, unsigned int fails)
{
	unsigned int i;

	memset(vgpu, 0, sizeof(vgpu));
	memset(pids, 0, sizeof(pids));
	INIT_LIST_HEAD(&unmaps.files);
	INIT_LIST_HEAD(&other.files);
	nr = n;
	no_memory = fails;
	for (i = 0; i < n; i++) {
		vgpu[i].v.m = &vgpu[i].m;
		vmach_unmap_init(&vgpu[i].m);
	}
}

static void end(void)
{
	unsigned int i;

	if (rand() % 2)
		returns(&unmaps);
	for (i = 0; i < nr; i++) {
		vmach_unmap_fini(&vgpu[i].m);
		assert_true(list_empty(&vgpu[i].m.unmaps));
		assert_int_equal(vgpu[i].m.unmaps_forbid, 0);
	}
	returns(&unmaps);
	assert_int_equal(pids[0].refs, 0);
}

static void open_it(struct vgpu *g)
{
	g->open = true;
}

static void close_it(struct vgpu *g)
{
	g->open = g->pins = false;
}

static bool opens(struct task *t, struct vgpu *g)
{
	int ret;

	current = t;
	ret = vmach_unmap_open(&g->v);
	assert_true(!ret || ret == -EBUSY);
	if (!ret)
		open_it(g);
	return !ret;
}

static bool try_pin(struct vgpu *g)
{
	current = &other;
	if (g->open && vmach_pin_allowed(&g->v))
		g->pins = true;
	return g->pins;
}

static void ask(struct vgpu *g)
{
	current = &unmaps;
	vmach_unmap_note(&g->v, 0);
	g->pins = false;
}

static bool any_pins(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (vgpu[i].pins)
			return true;
	return false;
}

/* ------------------------------------------------------------------ what ends a loop */

static void refused(struct vgpu *g)
{
	ask(g);
	assert_true(try_pin(g));
	ask(g);
	assert_false(try_pin(g));
}

static void its_return_ends_it(void **state)
{
	start(1, 0);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	returns(&other);
	assert_false(try_pin(&vgpu[0]));
	returns(&unmaps);
	assert_true(try_pin(&vgpu[0]));
	/* a new loop of the same thread is counted from the start */
	refused(&vgpu[0]);
	end();
}

/* The loop of one thread is over, the loop of the other thread is not: pins stay forbidden. */
static void each_thread_by_itself(void **state)
{
	start(1, 0);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	current = &other;
	vmach_unmap_note(&vgpu[0].v, 0);
	vmach_unmap_note(&vgpu[0].v, 0);
	returns(&unmaps);
	assert_false(try_pin(&vgpu[0]));
	returns(&other);
	assert_true(try_pin(&vgpu[0]));
	end();
}

/* A thread for which no file could be made has left its loop when it makes any other call. */
static void a_call_ends_it(void **state)
{
	start(1, 8);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	current = &other;
	kvgpu_machine_call_note();
	assert_false(try_pin(&vgpu[0]));
	current = &unmaps;
	kvgpu_machine_call_note();
	assert_true(try_pin(&vgpu[0]));
	refused(&vgpu[0]);
	end();
}

/*
 * While a thread is in an unmap loop in which it has asked a vGPU, another process than the vGPU's
 * last one gets -EBUSY at open. The same process may open the vGPU.
 */
static void who_may_open(void **state)
{
	struct pid processes[2] = {};

	unmaps.process = &processes[0];
	other.process = &processes[1];
	start(1, 0);
	assert_true(opens(&unmaps, &vgpu[0]));
	refused(&vgpu[0]);
	close_it(&vgpu[0]);
	assert_false(opens(&other, &vgpu[0]));
	assert_true(opens(&unmaps, &vgpu[0]));
	close_it(&vgpu[0]);
	returns(&unmaps);
	assert_true(opens(&other, &vgpu[0]));
	/*
	 * this goes by the vGPU's last process, not by the thread's: a container may be shared by
	 * processes
	 */
	refused(&vgpu[0]);
	close_it(&vgpu[0]);
	assert_true(opens(&other, &vgpu[0]));
	close_it(&vgpu[0]);
	assert_false(opens(&unmaps, &vgpu[0]));
	end();
	/* Open is refused even while the loop forbids no pins yet. */
	start(2, 0);
	assert_true(opens(&unmaps, &vgpu[0]));
	assert_true(opens(&unmaps, &vgpu[1]));
	ask(&vgpu[0]);
	ask(&vgpu[1]);
	close_it(&vgpu[0]);
	assert_false(opens(&other, &vgpu[0]));
	ask(&vgpu[1]);
	current = &other;
	assert_false(vmach_pin_allowed(&vgpu[0].v));
	returns(&unmaps);
	assert_true(opens(&other, &vgpu[0]));
	end();
	/*
	 * a thread without a file that makes no more calls: only its death tells that it has left
	 */
	start(1, 8);
	assert_true(opens(&unmaps, &vgpu[0]));
	ask(&vgpu[0]);
	close_it(&vgpu[0]);
	assert_false(opens(&other, &vgpu[0]));
	pids[0].dead = true;
	assert_true(opens(&other, &vgpu[0]));
	pids[0].dead = false;
	end();
	assert_int_equal(processes[0].refs, 0);
	assert_int_equal(processes[1].refs, 0);
}

/*
 * Any number of threads may be without a file. The lock is held for only a few of them at a time.
 */
static void many_without_a_file(void **state)
{
	static struct pid pid[MANY];
	struct pid processes[2] = {};
	struct task thread = { .process = &processes[0] };
	unsigned int i;

	INIT_LIST_HEAD(&thread.files);
	other.process = &processes[1];
	memset(pid, 0, sizeof(pid));
	start(2, 8);
	assert_true(opens(&thread, &vgpu[0]));
	assert_true(opens(&other, &vgpu[1]));
	for (i = 0; i < MANY; i++) {
		thread.pid = &pid[i];
		current = &thread;
		vmach_unmap_note(&vgpu[0].v, 0);
		vmach_unmap_note(&vgpu[0].v, 0);
	}
	current = &other;
	standin_most_asked = 0;
	assert_false(vmach_pin_allowed(&vgpu[0].v));
	vmach_unmap_note(&vgpu[1].v, 0);
	vmach_unmap_note(&vgpu[1].v, 0);
	assert_false(vmach_pin_allowed(&vgpu[1].v));
	close_it(&vgpu[0]);
	assert_false(opens(&other, &vgpu[0]));
	/* the threads that live do not keep the dead ones from being found */
	for (i = 0; i < MANY / 2; i++)
		pid[i].dead = true;
	pids[1].dead = true;
	for (i = 0; i < MANY && !vmach_pin_allowed(&vgpu[1].v); i++)
		;
	assert_true(i < MANY);
	assert_false(opens(&other, &vgpu[0]));
	for (i = 0; i < MANY; i++)
		pid[i].dead = true;
	assert_true(opens(&other, &vgpu[0]));
	assert_in_range(standin_most_asked, 1, 16);
	for (i = 0; i < MANY; i++)
		assert_int_equal(pid[i].refs, 0);
	end();
}

/* A thread without a file is asked whether it lives: its death ends its loop. */
static void death_ends_it(void **state)
{
	start(1, 8);
	open_it(&vgpu[0]);
	refused(&vgpu[0]);
	pids[0].dead = true;
	assert_true(try_pin(&vgpu[0]));
	end();
}

/* ------------------------------------------------------------------ the core's loop */

/*
 * vGPUs that have been asked pin whenever they may. When none of them may, a vGPU that has not been
 * asked is opened and pins. The loop must still end after VGPUS + 1 rounds.
 */
static void late_comers(void **state)
{
	unsigned int next = 1, rounds = 0, i;

	start(VGPUS, 0);
	open_it(&vgpu[0]);
	assert_true(try_pin(&vgpu[0]));
	while (any_pins()) {
		assert_true(++rounds <= ROUNDS_OF_CORE);
		for (i = VGPUS; i-- > 0;)
			if (vgpu[i].open)
				ask(&vgpu[i]);
		for (i = 0; i < VGPUS; i++)
			try_pin(&vgpu[i]);
		if (any_pins() || next == VGPUS)
			continue;
		close_it(&vgpu[next - 1]);
		open_it(&vgpu[next - 1]);
		try_pin(&vgpu[next - 1]);
		open_it(&vgpu[next]);
		assert_true(try_pin(&vgpu[next++]));
	}
	assert_int_equal(rounds, VGPUS + 1);
	end();
}

static void anything(void)
{
	unsigned int n = rand() % 6;

	while (n--) {
		struct vgpu *g = &vgpu[rand() % nr];

		switch (rand() % 8) {
		case 0:
			close_it(g);
			break;
		case 1:
			if (!g->open)
				open_it(g);
			break;
		case 2:
			current = &other;
			kvgpu_machine_call_note();
			break;
		default:
			try_pin(g);
		}
	}
}

static unsigned int unmap(void)
{
	unsigned int rounds = 0, first, i;

	while (any_pins()) {
		if (++rounds > ROUNDS_OF_CORE)
			break;
		first = rand() % nr;
		for (i = 0; i < nr; i++) {
			struct vgpu *g = &vgpu[(first + i) % nr];

			anything();
			if (g->open)
				ask(g);
		}
		anything();
	}
	return rounds;
}

static void at_random(void **state)
{
	unsigned int seed, i, worked = 0;

	for (seed = 1; seed <= SEEDS; seed++) {
		srand(seed);
		start(1 + rand() % VGPUS, rand() % 9);
		open_it(&vgpu[0]);
		for (i = 0; i < UNMAPS; i++) {
			current = &unmaps;
			kvgpu_machine_call_note();
			anything();
			worked += any_pins();
			assert_true(unmap() <= ROUNDS_OF_CORE);
			returns(&unmaps);
			anything();
		}
		end();
	}
	/* else hardly any unmap found a page pinned */
	assert_true(worked > SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_return_ends_it),  cmocka_unit_test(each_thread_by_itself),
		cmocka_unit_test(a_call_ends_it),      cmocka_unit_test(who_may_open),
		cmocka_unit_test(many_without_a_file), cmocka_unit_test(death_ends_it),
		cmocka_unit_test(late_comers),	       cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
