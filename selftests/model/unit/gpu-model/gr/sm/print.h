/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_SELFTESTS_SM_PRINT_H
#define KVGPU_SELFTESTS_SM_PRINT_H
/* The text form of an instruction: print.c fills in the forms of print_forms.c. */
#include "gr/sm/insn.h"

/*
 * Print the text form as nvdisasm does, with the guard and without trailing semicolon. Return the
 * length, as snprintf() does; @buf gets at most @size bytes with the terminating zero.
 */
int sm_print(const struct sm_insn *insn, uint64_t addr, char *buf, size_t size);

const char *sm_op_name(enum sm_op op);

/* ------------------------------------------------------------------ between print*.c */

struct sm_text {
	char *buf;
	size_t size, len; /* @len also counts text that did not fit */
};

/*
 * A modifier: print words[v] after a dot, where v is the byte at offset @from of struct sm_insn,
 * and NULL prints nothing. Or a function that prints the modifier with its dot.
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

/* Return the form of what follows the instruction's name, and the name in *@name. */
const char *sm_form(const struct sm_insn *in, const char **name);

/* Append to @t. sm_put_part(): @part, such as ".H1", or NULL follows the operand. */
void sm_put(struct sm_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sm_put_hex(struct sm_text *t, int64_t value);
void sm_put_reg(struct sm_text *t, unsigned int reg);
void sm_put_part(struct sm_text *t, const struct sm_operand *o, const char *part);
void sm_put_operand(struct sm_text *t, const struct sm_operand *o);
void sm_put_address(struct sm_text *t, unsigned int base, int64_t offset);

#endif
