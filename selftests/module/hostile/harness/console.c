// SPDX-License-Identifier: GPL-2.0-only
/* Text to the first serial port, results of tests, and the end of the machine. */
#include "libcflat.h"

enum { COM1 = 0x3f8, LINE_STATUS = 5, CAN_SEND = 0x20, DEBUG_EXIT = 0xf4 };

static unsigned int tests, failures, skipped;

static void out8(unsigned short port, unsigned char v)
{
	asm volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}

static unsigned char in8(unsigned short port)
{
	unsigned char v;

	asm volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}

static void put(char c)
{
	while (!(in8(COM1 + LINE_STATUS) & CAN_SEND))
		;
	out8(COM1, c);
}

void exit(int code)
{
	out8(DEBUG_EXIT, code);
	for (;;)
		asm volatile("cli; hlt");
}

/* ------------------------------------------------------------------ text */

struct spec {
	bool zero;
	unsigned int width, longs;
};

static unsigned int put_number(uint64_t v, unsigned int base, bool negative, const struct spec *s)
{
	char digits[24];
	unsigned int n = 0, i, put_out = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	if (negative)
		digits[n++] = '-';
	for (i = n; i < s->width; i++, put_out++)
		put(s->zero ? '0' : ' ');
	for (i = n; i; i--, put_out++)
		put(digits[i - 1]);
	return put_out;
}

static unsigned int put_string(const char *text)
{
	unsigned int n = 0;

	for (text = text ? text : "(null)"; *text; text++, n++)
		put(*text);
	return n;
}

static unsigned int put_spec(char kind, const struct spec *s, va_list *va)
{
	uint64_t v;

	switch (kind) {
	case 's':
		return put_string(va_arg(*va, const char *));
	case 'c':
		put(va_arg(*va, int));
		return 1;
	case 'd':
		v = s->longs ? (uint64_t)va_arg(*va, long) : (uint64_t)(int64_t)va_arg(*va, int);
		return put_number((int64_t)v < 0 ? -v : v, 10, (int64_t)v < 0, s);
	case 'u':
	case 'x':
		v = s->longs ? va_arg(*va, unsigned long) : va_arg(*va, unsigned int);
		return put_number(v, kind == 'x' ? 16 : 10, false, s);
	default:
		put(kind);
		return 1;
	}
}

static int put_text(const char *fmt, va_list *va)
{
	int n = 0;

	for (; *fmt; fmt++) {
		struct spec s = { 0 };

		if (*fmt != '%') {
			put(*fmt);
			n++;
			continue;
		}
		for (fmt++; *fmt == '0'; fmt++)
			s.zero = true;
		for (; *fmt >= '0' && *fmt <= '9'; fmt++)
			s.width = s.width * 10 + *fmt - '0';
		for (; *fmt == 'l' || *fmt == 'z'; fmt++)
			s.longs++;
		if (!*fmt)
			break;
		n += put_spec(*fmt, &s, va);
	}
	return n;
}

int printf(const char *fmt, ...)
{
	va_list va;
	int n;

	va_start(va, fmt);
	n = put_text(fmt, &va);
	va_end(va);
	return n;
}

/* ------------------------------------------------------------------ results */

static void line(const char *word, const char *fmt, va_list *va)
{
	put_string(word);
	put_string(": ");
	put_text(fmt, va);
	put('\n');
}

bool report(bool pass, const char *fmt, ...)
{
	va_list va;

	tests++;
	failures += !pass;
	va_start(va, fmt);
	line(pass ? "PASS" : "FAIL", fmt, &va);
	va_end(va);
	return pass;
}

void report_skip(const char *fmt, ...)
{
	va_list va;

	tests++;
	skipped++;
	va_start(va, fmt);
	line("SKIP", fmt, &va);
	va_end(va);
}

void report_info(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	line("INFO", fmt, &va);
	va_end(va);
}

int report_summary(void)
{
	printf("SUMMARY: %u tests, %u failures, %u skipped\n", tests, failures, skipped);
	return tests == 0 || failures != 0;
}
