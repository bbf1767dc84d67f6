/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interpreter of a VBIOS's boot scripts: post.c walks the scripts, postops.c has the opcodes,
 * postpins.c GPIO and I2C, postio.c what all of them do to the ROM and the card. Compiles in user
 * space, too, for tests and fuzzers. No lock, no memory of its own.
 *
 * nouveau's nvkm/subdev/bios/init.c is the reference of what an opcode does. These differ:
 * ZM_REG_INDIRECT writes the register that it names (nouveau's writes another one). Opcodes for
 * PLLs are skipped: nouveau sets PLLs of displays only, which these boards lack. So are opcodes for
 * AUX: nouveau does these only for scripts of a display's output, which do not run here.
 */
#ifndef KVGPU_HW_POST_H
#define KVGPU_HW_POST_H

#include <linux/types.h>

/* How the interpreter reaches the card. Offsets are in BAR0; those of 32 bits are aligned. */
struct hw_post_io {
	u32 (*read)(void *ctx, u32 reg);
	void (*write)(void *ctx, u32 reg, u32 val);
	u8 (*read8)(void *ctx, u32 reg);
	void (*write8)(void *ctx, u32 reg, u8 val);
	void (*delay)(void *ctx, unsigned int us);
	void *ctx;
};

#define POST_ROM_MAX (64u << 10) /* offsets in scripts have 16 bits */
#define POST_DEPTH   8 /* most calls and repeats in each other */
#define POST_STEPS   (1u << 17) /* most opcodes and accesses together */
#define POST_TARGETS 64 /* most places that wait to be decoded */

/* A POST; zeroed by hw_post_run(). Too large for a stack. */
struct hw_post {
	const u8 *rom;
	u32 size;
	const struct hw_post_io *io;
	/* offsets of BIT I, BIT M and the DCB, and the sizes of the first two; 0: absent */
	u32 bit_i, bit_i_size, bit_m, bit_m_size, dcb;
	u32 at; /* offset of the opcode */
	/* the opcode to go on with, or 0 at the end; the one behind it, if it says nothing else */
	u32 next;
	bool run; /* false: opcodes are decoded and checked, and the card is not accessed */
	bool off; /* a condition was not met: opcodes are decoded only */
	int ram; /* the board's variant of memory; -1: not read in this script */
	struct {
		u32 back; /* where the caller goes on; of a repeat: behind its END_REPEAT */
		u32 body; /* a repeat's first opcode; 0: a call */
		u8 left; /* repeats after this one */
	} frame[POST_DEPTH];
	unsigned int nr_frames;
	u32 steps, waited_us;
	u16 target[POST_TARGETS];
	unsigned int nr_targets;
	u8 seen[POST_ROM_MAX / 8]; /* bit @at: the opcode there was decoded */
	const char *why; /* what is wrong, or NULL */
};

/**
 * hw_post_run() - run a VBIOS's boot scripts
 * @p: memory for the interpreter
 * @rom: the VBIOS
 * @size: its bytes
 * @io: how to reach the card
 *
 * Decodes each opcode that a script can reach before it accesses the card. The whole takes less
 * than a minute of delays, and a limited number of steps.
 *
 * Return: 0, or -EINVAL: @p->why says what is wrong, @p->at where, and the byte of @rom there is
 * the opcode.
 */
int hw_post_run(struct hw_post *p, const u8 *rom, u32 size, const struct hw_post_io *io);

/* postops.c: the opcodes by their numbers. An opcode without .exec is unknown. */
struct hw_post_op {
	void (*exec)(struct hw_post *p);
	u8 length; /* bytes without those that a count in it adds */
};
#define POST_OPS 0xab /* opcodes from here on are unknown */
extern const struct hw_post_op hw_post_ops[POST_OPS];

/* postpins.c */
/* Sets the board's pins to their first states, but those with a function in ROM[@except]. */
void hw_post_gpio_reset(struct hw_post *p, u32 except, unsigned int nr);
/* Sends @nr bytes of @out, then reads a byte to *@in if that is not NULL. False: no answer. */
bool hw_post_i2c(struct hw_post *p, u8 port, u8 addr, const u8 *out, unsigned int nr, u8 *in);

/* postio.c: after .why is set these do nothing and return 0 */
void hw_post_fail(struct hw_post *p, const char *why);
u8 hw_post_rom8(struct hw_post *p, u32 at);
u16 hw_post_rom16(struct hw_post *p, u32 at);
u32 hw_post_rom32(struct hw_post *p, u32 at);
void hw_post_tables(struct hw_post *p); /* finds the tables */
u32 hw_post_table(struct hw_post *p, u32 slot); /* offset of a table of BIT I; fails without it */
bool hw_post_on(struct hw_post *p); /* opcodes act on the card */
u32 hw_post_read(struct hw_post *p, u32 reg);
void hw_post_write(struct hw_post *p, u32 reg, u32 val);
u32 hw_post_mask(struct hw_post *p, u32 reg, u32 clear, u32 set); /* returns the old value */
u8 hw_post_port_read(struct hw_post *p, u16 port);
void hw_post_port_write(struct hw_post *p, u16 port, u8 val);
/* a VGA port with an index; other ports read 0, and lose writes */
u8 hw_post_vga_read(struct hw_post *p, u16 port, u8 index);
void hw_post_vga_write(struct hw_post *p, u16 port, u8 index, u8 val);
void hw_post_delay(struct hw_post *p, u32 us);
bool hw_post_step(struct hw_post *p); /* counts a step; false: something is wrong */

#endif
