// SPDX-License-Identifier: MIT
/* Prints what kernels print and assert, while the CPU waits for them. messages.h has the lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

enum { SPEC_BYTES = 64 };

/* the rest of a record */
struct cursor {
	const uint8_t *at, *end;
};

static uint64_t item(struct cursor *c)
{
	uint64_t v = 0;

	if (c->end - c->at >= 8) {
		memcpy(&v, c->at, sizeof(v));
		c->at += 8;
	}
	return v;
}

/* *length characters, no 0 at the end */
static const char *string(struct cursor *c, int *length)
{
	uint64_t n = item(c);
	const char *s = (const char *)c->at;

	if (n > (uint64_t)(c->end - c->at))
		n = c->end - c->at;
	*length = n;
	c->at += (n + 7) & ~7ull;
	return s;
}

/* ------------------------------------------------------------------ printf */

/*
 * Read one conversion, like "%-*.3lld", from @f; return the rest. @spec gets it without length
 * modifiers, with stars as numbers; its last character is the type, unless the conversion is
 * incomplete or longer than fits. *wide: 64 bits; *halves: how many "h".
 */
static const char *take_spec(const char *f, struct cursor *c, char spec[SPEC_BYTES], bool *wide,
			     unsigned int *halves)
{
	unsigned int n = 0;

	*wide = false;
	*halves = 0;
	for (; *f; f++) {
		if (*f == '*')
			n += snprintf(spec + n, SPEC_BYTES - n - 4, "%d", (int)item(c));
		else if (strchr("ljztL", *f))
			*wide = true;
		else if (*f == 'h')
			++*halves;
		else if (n < SPEC_BYTES / 2)
			spec[n++] = *f;
		if (n && !strchr("%-+ #.0123456789*ljztLh", *f))
			break;
		if (n > SPEC_BYTES / 2)
			n = SPEC_BYTES / 2;
	}
	spec[n] = 0;
	return *f ? f + 1 : f;
}

static void print_integer(char *spec, uint64_t v, bool wide, unsigned int halves)
{
	size_t n = strlen(spec);
	char type = spec[n - 1];
	bool is_signed = type == 'd' || type == 'i';

	if (type == 'c') {
		printf(spec, (int)v);
		return;
	}
	if (!wide && halves)
		v = halves > 1 ? (is_signed ? (uint64_t)(signed char)v : (unsigned char)v) :
				 (is_signed ? (uint64_t)(short)v : (unsigned short)v);
	else if (!wide)
		v = is_signed ? (uint64_t)(int)v : (unsigned int)v;
	memcpy(spec + n - 1, (char[]){ 'l', 'l', type, 0 }, 4);
	printf(spec, (unsigned long long)v);
}

static void print_one(char *spec, struct cursor *c, bool wide, unsigned int halves)
{
	char type = spec[strlen(spec) - 1];
	uint64_t v;
	double d;
	int n;

	if (type == 's') {
		const char *s = string(c, &n);
		char *copy = strndup(s, n);

		if (copy)
			printf(spec, copy);
		free(copy);
		return;
	}
	v = item(c);
	if (strchr("diouxXc", type)) {
		print_integer(spec, v, wide, halves);
	} else if (strchr("eEfFgGaA", type)) {
		memcpy(&d, &v, sizeof(d));
		printf(spec, d);
	} else if (type == 'p') {
		printf(spec, (void *)(uintptr_t)v);
	}
}

static void print(const char *f, struct cursor *c)
{
	char spec[SPEC_BYTES];
	unsigned int halves;
	bool wide;

	while (*f) {
		size_t plain = strcspn(f, "%");

		fwrite(f, 1, plain, stdout);
		f += plain;
		if (!*f)
			break;
		if (f[1] == '%') {
			putchar('%');
			f += 2;
			continue;
		}
		f = take_spec(f, c, spec, &wide, &halves);
		if (strlen(spec) > 1)
			print_one(spec, c, wide, halves);
	}
}

static void print_record(struct messages *m, uint64_t format, struct cursor *c)
{
	const struct text *t;

	for (t = m->texts; t; t = t->next) {
		if (format - t->va < t->size) {
			print(t->bytes + (format - t->va), c);
			return;
		}
	}
	printf("(a kernel's printf with a format that is no constant of its program)\n");
}

/* the form of the message: CUDA C programming guide, "Assertion" */
static void print_assert(struct cursor *c)
{
	int expression_n, file_n, function_n;
	const char *expression = string(c, &expression_n), *file = string(c, &file_n), *function;
	unsigned int line = item(c), at[6] = { 0 };

	function = string(c, &function_n);
	if (c->end - c->at >= (ptrdiff_t)sizeof(at))
		memcpy(at, c->at, sizeof(at));
	fflush(stdout);
	fprintf(stderr,
		"%.*s:%u: %.*s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%.*s' failed.\n",
		file_n, file, line, function_n, function, at[0], at[1], at[2], at[3], at[4], at[5],
		expression_n, expression);
}

/* ------------------------------------------------------------------ taking */

/* False: there is no record. A kernel may have overwritten anything in it. */
static bool take_messages(struct messages *m)
{
	uint32_t at = m->taken & (m->ring_bytes - 1), rest = m->ring_bytes - at;
	uint8_t *record = (uint8_t *)m->block->map + RING_AT + at;
	uint32_t bytes = __atomic_load_n((uint32_t *)record, __ATOMIC_ACQUIRE);
	struct syscall_record r = { .kind = 0 };
	struct cursor c = { record + sizeof(r), record + bytes };

	if (!bytes)
		return false;
	if (bytes > rest || bytes % 8)
		bytes = rest;
	else if (bytes >= sizeof(r))
		memcpy(&r, record, sizeof(r));
	if (r.kind == SYSCALL_PRINTF)
		print_record(m, r.at, &c);
	else if (r.kind == SYSCALL_ASSERT)
		print_assert(&c);
	m->asserted |= r.kind == SYSCALL_ASSERT;
	memset(record, 0, bytes);
	m->taken += bytes;
	__atomic_store_n(&block_of(m)->taken, m->taken, __ATOMIC_RELEASE);
	return true;
}

CUresult messages_take(CUcontext ctx)
{
	struct messages *m = __atomic_load_n(&ctx->messages, __ATOMIC_ACQUIRE);
	bool asserted;

	if (!m)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&m->lock);
	while (take_messages(m))
		;
	asserted = m->asserted;
	pthread_mutex_unlock(&m->lock);
	return asserted ? CUDA_ERROR_ASSERT : CUDA_SUCCESS;
}
