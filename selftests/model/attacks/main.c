// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-attack: the command line. Runs as root in the server (selftests/model/native). A bail()
 * ends the program, and the attacks after it do not run.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attacks.h"
#include "gpu.h"
#include "tap.h"

static const struct {
	const char *name;
	void (*run)(struct machine *m);
	bool with_nouveau;
	const char *what;
} attacks[] = {
	{ "window", attack_window, false, "PRAMIN: any VRAM, any host memory" },
	{ "tables", attack_tables, false, "forged page tables and instance blocks" },
	{ "bar1", attack_bar1, false, "BAR1 pointed at foreign memory" },
	{ "peephole", attack_peephole, false, "the arbitrary-address port" },
	{ "userd", attack_userd, false, "progress written to a chosen host page" },
	{ "physical", attack_physical, false, "copies by physical address, and their refusal" },
	{ "stale", attack_stale, false,
	  "translations that were not invalidated; invalidates by channels" },
	{ "greed", attack_greed, false, "one channel that keeps all others from the engine" },
	{ "engines", check_engines, false,
	  "not an attack: each copy engine on the runlist of PTOP" },
	{ "groups", check_groups, false, "not an attack: channel groups" },
	{ "tenant-memory", attack_tenant_memory, true,
	  "another process's video memory through PRAMIN" },
	{ "tenant-runlist", attack_tenant_runlist, true,
	  "another process's channels left out of the runlist" },
	{ "tenant-channel", attack_tenant_channel, true, "a forged channel among the driver's" },
	{ "patch-list", attack_patch_list, true,
	  "registers written by the context image's patch list" },
	{ "no-context", attack_no_context, true,
	  "graphics methods without a context, a forged image at address 0" },
};

enum { NR_ATTACKS = sizeof(attacks) / sizeof(attacks[0]) };

static void usage(FILE *f)
{
	unsigned int i;

	fprintf(f,
		"usage: kvgpu-attack NAME...|bare|nouveau\n"
		"Shows, as root on an unmediated GK110, what a mediator has to stop. 'ok' means that the attack works.\n"
		"Prints TAP; exit code 0 if all attacks work, 1 if one does not, 2 for a wrong command line.\n"
		"'bare' runs all that need a card without a driver, 'nouveau' all that need one with nouveau.\n\n");
	for (i = 0; i < NR_ATTACKS; i++)
		fprintf(f, "  %-15s %-8s %s\n", attacks[i].name,
			attacks[i].with_nouveau ? "nouveau" : "bare", attacks[i].what);
}

static bool selected(unsigned int i, const char *word)
{
	return !strcmp(word, attacks[i].name) ||
	       !strcmp(word, attacks[i].with_nouveau ? "nouveau" : "bare");
}

static bool known(const char *word)
{
	unsigned int i;

	for (i = 0; i < NR_ATTACKS; i++)
		if (selected(i, word))
			return true;
	return false;
}

static void run(struct machine *m, unsigned int i)
{
	bool nouveau = !strcmp(m->driver, "nouveau");

	if (nouveau != attacks[i].with_nouveau || (!nouveau && m->driver[0]))
		bail("'%s' needs the card %s nouveau; its driver is '%s'", attacks[i].name,
		     attacks[i].with_nouveau ? "with" : "without", m->driver);
	if (!nouveau)
		bare_take_over(&m->gpu);
	else
		bare_find_engines(&m->gpu);
	m->gpu.host.used = 0;
	attacks[i].run(m);
}

int main(int argc, char **argv)
{
	static struct machine m;
	unsigned int i;
	int a;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage(stdout);
		return 0;
	}
	for (a = 1; a < argc; a++) {
		if (!known(argv[a])) {
			fprintf(stderr, "kvgpu-attack: no attack '%s'\n", argv[a]);
			return 2;
		}
	}
	if (argc < 2) {
		usage(stderr);
		return 2;
	}
	machine_open(&m);
	for (a = 1; a < argc; a++)
		for (i = 0; i < NR_ATTACKS; i++)
			if (selected(i, argv[a]))
				run(&m, i);
	return tap_finish();
}
