/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_MODEL_GR_SM_PRINT_H
#define KVGPU_MODEL_GR_SM_PRINT_H
/* The inside of the text form: print.c fills in the forms of print_forms.c. */
#include "insn.h"

struct sm_text {
	char *buf;
	size_t size, len;	/* len counts also what did not fit */
};

/*
 * a word after a dot: words[byte of the instruction at `from`], NULL for nothing; or a function
 * that prints it, dot and all
 */
struct sm_modifier {
	const char *name;
	uint16_t from;
	const char *const *words;
	void (*print)(struct sm_text *t, const struct sm_insn *in);
};

struct sm_operand_form {
	const char *name;
	void (*print)(struct sm_text *t, const struct sm_insn *in, uint64_t addr);
};

extern const struct sm_modifier sm_modifiers[];
extern const struct sm_operand_form sm_operand_forms[];

/* what follows the name of this instruction, and the name */
const char *sm_form(const struct sm_insn *in, const char **name);

void sm_put(struct sm_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sm_put_hex(struct sm_text *t, int64_t value);
void sm_put_reg(struct sm_text *t, unsigned int reg);
void sm_put_part(struct sm_text *t, const struct sm_operand *o, const char *part);
void sm_put_operand(struct sm_text *t, const struct sm_operand *o);
void sm_put_address(struct sm_text *t, unsigned int base, int64_t offset);

#endif
