// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints build/docs/registers.md: what a guest's access to each register means, from the tables
 * that decide it.
 */
#include <stdio.h>

#include <mmio-trap/units.h>

static const char *class_name(enum kvgpu_reg_class class)
{
	static const char *const names[] = {
		[KVGPU_REG_UNLISTED] = "unlisted", [KVGPU_REG_CONST] = "const",
		[KVGPU_REG_FILE] = "file",	   [KVGPU_REG_EMULATE] = "emulate",
		[KVGPU_REG_TRAP] = "**trap**",	   [KVGPU_REG_DENY] = "*deny*",
	};

	return names[class];
}

static void place(const struct kvgpu_reg_unit *u, const struct kvgpu_reg_line *l)
{
	printf("0x%06x", l->off);
	if (l->count > 1)
		printf(" + 0x%x x %u", l->stride ? l->stride : 4, l->count);
	if (u->copies > 1)
		printf(", per copy");
}

static void bits(const struct kvgpu_reg_line *l)
{
	if (l->reset && l->rd != KVGPU_REG_EMULATE)
		printf("; %s 0x%x", l->rd == KVGPU_REG_CONST ? "reads" : "at first", l->reset);
	if (l->w1c)
		printf("; write 1 to clear");
	if (l->zero)
		printf("; 0x%x read 0", l->zero);
	if (l->one)
		printf("; 0x%x read 1", l->one);
}

static void unit(const struct kvgpu_reg_unit *u)
{
	unsigned int copies = u->copies ? u->copies : 1, i;

	printf("\n## %s: 0x%06x-0x%06x", u->name, u->base, u->base + copies * u->size - 1);
	if (copies > 1)
		printf(", %u copies of 0x%x", copies, u->size);
	printf("\n\n| register | offset | read | write | why | source |\n|---|---|---|---|---|---|\n");
	for (i = 0; i < u->nr_lines; i++) {
		const struct kvgpu_reg_line *l = &u->line[i];

		printf("| %s | ", l->name);
		place(u, l);
		printf(" | %s | %s | %s", class_name(l->rd), class_name(l->wr), l->why);
		bits(l);
		printf(" | %s |\n", l->src);
	}
	if (u->rest.rd != KVGPU_REG_UNLISTED)
		printf("| all others | | %s | %s | %s | %s |\n", class_name(u->rest.rd),
		       class_name(u->rest.wr), u->rest.why, u->rest.src);
	else
		printf("| all others | | unlisted | unlisted | kept, read back and counted | |\n");
}

int main(void)
{
	const char *bad = kvgpu_trap_check_tables();
	unsigned int i;

	if (bad) {
		fprintf(stderr, "regdoc: %s\n", bad);
		return 1;
	}
	printf("# What a guest's register access means\n\n"
	       "Made from the tables of `mmio-trap/` by `make docs`. No access of a guest to a register reaches\n"
	       "the chip. A write of four bytes to a line marked **trap** is decoded. If a command comes of it, the\n"
	       "module checks its ownership and carries it out in its own terms. All else ends in the vGPU's own\n"
	       "state; only PTIMER's alarm sets a timer of the host. PRAMIN (0x700000 to 0x7fffff) is a window into\n"
	       "memory, and has no line here.\n\n"
	       "| class | read | write |\n|---|---|---|\n"
	       "| const | a value that writes do not change | ignored |\n"
	       "| file | what a write or an event stored last, or the value after POST | kept |\n"
	       "| emulate | computed from the vGPU's state and the time | changes the vGPU's state |\n"
	       "| trap | | decoded, becomes a command to the host if it asks for one; less than four bytes: does nothing, counted as deny |\n"
	       "| deny | as file, counted | kept (not where reads are const), does nothing, counted: dangerous on the chip, or of no use to a guest |\n"
	       "| unlisted | as file, counted | kept, does nothing, counted and listed in debugfs |\n\n"
	       "Addresses outside of all units are unlisted. \"Kept\" holds as long as the vGPU's register file has\n"
	       "room: it has 16,384 places, and a reset of the vGPU empties it. A write that finds no place is\n"
	       "lost and counted (`dropped` in debugfs), and the register reads as after POST.\n\n"
	       "How to read a line: `+ 0x4 x 3` behind an offset means three registers, 0x4 apart. `per copy`\n"
	       "means that each copy of the unit has the register; the offset is that in the first copy. Behind\n"
	       "the reason, `reads V` is the constant that is read, and `at first V` the value after POST.\n"
	       "`M read 0` and `M read 1` mean that the bits of the mask M always read as 0 or as 1.\n"
	       "`write 1 to clear` means that a 1 which is written clears that bit.\n");
	for (i = 0; i < kvgpu_trap_nr_units; i++)
		unit(kvgpu_trap_units[i]);
	return 0;
}
