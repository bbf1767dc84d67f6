// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text form of an instruction, in nvdisasm's syntax: the forms of print_forms.c are filled in
 * here. A form is
 *   {modifier}{modifier} {operand} {operand}
 * where each word in braces is looked up in sm_modifiers and sm_operand_forms.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gr/sm/encoding.h"
#include "print.h"

__attribute__((format(printf, 2, 3))) void sm_put(struct sm_text *t, const char *format, ...)
{
	size_t left = t->len < t->size ? t->size - t->len : 0;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(left ? t->buf + t->len : NULL, left, format, args);
	va_end(args);
	t->len += n > 0 ? n : 0;
}

void sm_put_hex(struct sm_text *t, int64_t value)
{
	if (value < 0)
		sm_put(t, "-0x%llx", -(unsigned long long)value);
	else
		sm_put(t, "0x%llx", (unsigned long long)value);
}

/* Print a number as nvdisasm does. */
static void put_float(struct sm_text *t, double value)
{
	if (value == 0)
		sm_put(t, "%s", signbit(value) ? "-0.0" : "0");
	else if (isinf(value))
		sm_put(t, "%cINF", value < 0 ? '-' : '+');
	else if (fabs(value) >= 1e9)
		sm_put(t, "%.20e", value);
	else
		sm_put(t, "%.20g", value);
}

static void put_nan(struct sm_text *t, bool negative, bool quiet)
{
	sm_put(t, "%c%cNAN", negative ? '-' : '+', quiet ? 'Q' : 'S');
}

static double half_value(uint16_t bits)
{
	int exponent = bits >> 10 & 0x1f;
	double fraction = bits & 0x3ff;
	double value;

	if (exponent == 0)
		value = ldexp(fraction, -24);
	else if (exponent == 31)
		value = fraction ? NAN : INFINITY;
	else
		value = ldexp(fraction + 1024, exponent - 25);
	return bits & 0x8000 ? -value : value;
}

/* Only of a double does nvdisasm tell whether a NaN is signaling. */
static void put_number(struct sm_text *t, const struct sm_operand *o)
{
	float single;
	double value;
	uint32_t low = o->imm;

	switch (o->imm_type) {
	case SM_F16:
		value = half_value(o->imm);
		if (isnan(value))
			put_nan(t, o->imm & 0x8000, true);
		else
			put_float(t, value);
		break;
	case SM_F32:
		memcpy(&single, &low, sizeof(single));
		if (isnan(single))
			put_nan(t, low >> 31, true);
		else
			put_float(t, single);
		break;
	case SM_F64:
		memcpy(&value, &o->imm, sizeof(value));
		if (isnan(value))
			put_nan(t, o->imm >> 63, o->imm >> 51 & 1);
		else
			put_float(t, value);
		break;
	default:
		sm_put_hex(t, (int64_t)o->imm);
		break;
	}
}

static void put_immediate(struct sm_text *t, const struct sm_operand *o)
{
	put_number(t, o);
	sm_put(t, "%s%s%s", o->neg ? ".NEG" : "", o->abs ? ".ABS" : "", o->inv ? ".INV" : "");
}

void sm_put_reg(struct sm_text *t, unsigned int reg)
{
	if (reg == SM_RZ)
		sm_put(t, "RZ");
	else
		sm_put(t, "R%u", reg);
}

static void put_pred(struct sm_text *t, unsigned int reg)
{
	if (reg == SM_PT)
		sm_put(t, "PT");
	else
		sm_put(t, "P%u", reg);
}

/* Print c[bank][offset]. nvdisasm prints offsets in the upper half of a bank as negative. */
static void put_const(struct sm_text *t, const struct sm_operand *o)
{
	sm_put(t, "c[0x%x][", o->bank);
	sm_put_hex(t, (int16_t)o->offset);
	sm_put(t, "]");
}

void sm_put_part(struct sm_text *t, const struct sm_operand *o, const char *part)
{
	if (o->kind == SM_IMM) {
		put_immediate(t, o);
		sm_put(t, "%s", part ? part : "");
		return;
	}
	sm_put(t, "%s%s%s", o->neg ? "-" : "", o->inv ? o->kind == SM_PRED ? "!" : "~" : "",
	       o->abs ? "|" : "");
	switch (o->kind) {
	case SM_REG:
		sm_put_reg(t, o->reg);
		break;
	case SM_PRED:
		put_pred(t, o->reg);
		break;
	case SM_CCREG:
		sm_put(t, "CC");
		break;
	case SM_CONST:
		put_const(t, o);
		break;
	case SM_PRFILE:
		sm_put(t, "PR");
		break;
	}
	sm_put(t, "%s%s", part ? part : "", o->abs ? "|" : "");
}

void sm_put_operand(struct sm_text *t, const struct sm_operand *o)
{
	sm_put_part(t, o, NULL);
}

void sm_put_address(struct sm_text *t, unsigned int base, int64_t offset)
{
	if (base == SM_RZ && offset) {
		sm_put(t, "0x%x", (uint32_t)offset);
		return;
	}
	sm_put_reg(t, base);
	if (offset) {
		sm_put(t, "+");
		sm_put_hex(t, offset);
	}
}

static const struct sm_modifier *find_modifier(const char *name, size_t len)
{
	const struct sm_modifier *m;

	for (m = sm_modifiers; m->name; m++)
		if (strlen(m->name) == len && memcmp(m->name, name, len) == 0)
			return m;
	return NULL;
}

static void put_modifier(struct sm_text *t, const char *name, size_t len, const struct sm_insn *in)
{
	const struct sm_modifier *m = find_modifier(name, len);
	const char *word;

	if (m->print) {
		m->print(t, in);
		return;
	}
	word = m->words[((const uint8_t *)in)[m->from]];
	if (word)
		sm_put(t, ".%s", word);
}

static void put_part(struct sm_text *t, const char *name, size_t len, const struct sm_insn *in,
		     uint64_t addr)
{
	const struct sm_operand_form *f;

	for (f = sm_operand_forms; f->name; f++) {
		if (strlen(f->name) == len && memcmp(f->name, name, len) == 0) {
			f->print(t, in, addr);
			return;
		}
	}
	put_modifier(t, name, len, in);
}

static const char *put_head(struct sm_text *t, const char *form, const struct sm_insn *in)
{
	const char *end;

	while (*form && *form != ' ') {
		if (*form == '{') {
			end = strchr(form, '}');
			put_modifier(t, form + 1, end - form - 1, in);
			form = end + 1;
		} else {
			sm_put(t, "%c", *form++);
		}
	}
	return form;
}

static void put_operands(struct sm_text *t, const char *form, const struct sm_insn *in,
			 uint64_t addr)
{
	bool first = true;
	const char *end;
	size_t before, start;

	while (*form == ' ') {
		end = strchr(form, '}');
		before = t->len;
		sm_put(t, "%s", first ? " " : ", ");
		start = t->len;
		put_part(t, form + 2, end - form - 2, in, addr);
		if (t->len == start)
			/* no operand: take its separator back */
			t->len = before;
		else
			first = false;
		form = end + 1;
	}
	if (t->len < t->size)
		t->buf[t->len] = '\0';
}

int sm_print(const struct sm_insn *in, uint64_t addr, char *buf, size_t size)
{
	struct sm_text t = { .buf = buf, .size = size };
	const char *name, *form = sm_form(in, &name);

	if (size)
		buf[0] = '\0';
	if (in->guard != SM_PT || in->guard_not) {
		sm_put(&t, "@%s", in->guard_not ? "!" : "");
		put_pred(&t, in->guard);
		sm_put(&t, " ");
	}
	sm_put(&t, "%s", name);
	form = put_head(&t, form, in);
	if (in->join)
		sm_put(&t, ".S");
	put_operands(&t, form, in, addr);
	return t.len;
}
