// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTX programs out of a list of instructions: `ptxgen LIST DIRECTORY` writes one file a line of the
 * list, with a kernel for each way to read the line.
 *
 *   {a b c}        each of these in turn; groups are numbered from 1
 *   $2             a register of the type that group 2 stands for
 *   %r1:{f32}      a register of this type
 *   %b1            an address in global memory
 *   sh, loc, con   arrays in shared, local and constant memory
 *   ;              between instructions of one kernel
 *
 * Registers are loaded before and stored behind, so that nothing is optimised away. A kernel of one
 * instruction comes again with one source after the other, but for predicates and bytes, taken from
 * a parameter (a constant bank), and, below a line "#: immediates", with a number in its place.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_GROUPS 12
#define MAX_REGS   16
#define MAX_LINE   1024

struct group {
	char *choice[32];
	unsigned int count, now;
};

static struct group groups[MAX_GROUPS];
static unsigned int group_count;

/* with \1, \2... (as bytes) for its groups */
static char form[MAX_LINE];

static struct reg {
	const char *type;
} regs[MAX_REGS];
static unsigned int reg_count;

static void die(const char *what, const char *line)
{
	fprintf(stderr, "ptxgen: %s: %s\n", what, line);
	exit(1);
}

static void parse(const char *line)
{
	char copy[MAX_LINE], *word, *save;
	const char *close;
	size_t n = 0;

	group_count = 0;
	while (*line && n < sizeof(form) - 2) {
		if (*line != '{') {
			form[n++] = *line++;
			continue;
		}
		close = strchr(line, '}');
		if (!close || group_count == MAX_GROUPS)
			die("groups", line);
		snprintf(copy, sizeof(copy), "%.*s", (int)(close - line - 1), line + 1);
		groups[group_count].count = groups[group_count].now = 0;
		for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
			groups[group_count].choice[groups[group_count].count++] = strdup(word);
		form[n++] = ++group_count;
		line = close + 1;
	}
	form[n] = '\0';
}

static const char *chosen(unsigned int group, const char *line)
{
	if (group < 1 || group > group_count)
		die("no such group", line);
	return groups[group - 1].choice[groups[group - 1].now];
}

static int next_choice(void)
{
	unsigned int g;

	for (g = group_count; g-- > 0;) {
		if (++groups[g].now < groups[g].count)
			return 1;
		groups[g].now = 0;
	}
	return 0;
}

static unsigned int bits(const char *type)
{
	return !strcmp(type, "pred") ? 1 : atoi(type + 1);
}

static const char *class_of(const char *type)
{
	switch (bits(type)) {
	case 1:
		return "pred";
	case 8:
	case 16:
		return "b16";
	case 32:
		return type[0] == 'f' ? "f32" : "b32";
	default:
		return type[0] == 'f' ? "f64" : "b64";
	}
}

static void put_reg(char *out, size_t size, const char *type)
{
	if (reg_count == MAX_REGS)
		die("registers", form);
	snprintf(out, size, "%%v%u", reg_count);
	regs[reg_count++].type = type;
}

/* with the present choices; register n becomes `text` */
static void expand(char *out, size_t size, unsigned int n, const char *text)
{
	const char *c = form, *type;
	char name[64];
	size_t len = 0;

	reg_count = 0;
	while (*c && len < size - 70) {
		type = NULL;
		name[0] = '\0';
		if (*c == '$') {
			type = chosen(atoi(c + 1), form);
			c += 2;
		} else if (c[0] == '%' && isalpha((unsigned char)c[1]) &&
			   isdigit((unsigned char)c[2]) && c[3] == ':') {
			type = chosen((unsigned char)c[4], form);
			c += 5;
		} else if (*c <= MAX_GROUPS) {
			snprintf(name, sizeof(name), "%s", chosen((unsigned char)*c++, form));
		} else {
			snprintf(name, sizeof(name), "%c", *c++);
		}
		if (type)
			put_reg(name, sizeof(name), type);
		len += snprintf(out + len, size - len, "%s",
				type && reg_count - 1 == n && text ? text : name);
	}
}

static void load(FILE *f, unsigned int n, const char *from)
{
	const char *class = class_of(regs[n].type);

	fprintf(f, "\t.reg .%s %%v%u;\n", class, n);
	if (!strcmp(class, "pred"))
		fprintf(f, "\tld.global.u32 %%t, [%%b1+%u];\n\tsetp.ne.u32 %%v%u, %%t, 0;\n", 8 * n,
			n);
	else if (from)
		fprintf(f, "\tld.param.%s %%v%u, [%s];\n", class, n, from);
	else
		fprintf(f, "\tld.global.%s %%v%u, [%%b1+%u];\n", class, n, 8 * n);
}

static void store(FILE *f, unsigned int n)
{
	const char *class = class_of(regs[n].type);

	if (!strcmp(class, "pred"))
		fprintf(f, "\tselp.u32 %%t, 1, 0, %%v%u;\n\tst.global.u32 [%%b1+%u], %%t;\n", n,
			256 + 8 * n);
	else
		fprintf(f, "\tst.global.%s [%%b1+%u], %%v%u;\n", class, 256 + 8 * n, n);
}

static void put_kernel(FILE *f, unsigned int number, unsigned int replaced, const char *text,
		       int param)
{
	char code[2 * MAX_LINE], *statement, *save;
	unsigned int n;

	expand(code, sizeof(code), replaced, text);
	fprintf(f,
		".visible .entry k%u(.param .u64 p, .param .b64 q)\n{\n\t.reg .b64 %%b1;\n\t.reg .b32 %%t;\n"
		"\t.local .align 16 .b8 loc[64];\n\tld.param.u64 %%b1, [p];\n",
		number);
	for (n = 0; n < reg_count; n++)
		load(f, n, param && n == replaced ? "q" : NULL);
	for (statement = strtok_r(code, ";", &save); statement;
	     statement = strtok_r(NULL, ";", &save))
		fprintf(f, "\t%s;\n", statement + strspn(statement, " "));
	for (n = 0; n < reg_count; n++)
		store(f, n);
	fprintf(f, "\tret;\n}\n");
}

static const char *number_of(const char *type)
{
	if (!strcmp(class_of(type), "f32"))
		return "0f3FC00000";
	if (!strcmp(class_of(type), "f64"))
		return "0d4009000000000000";
	return bits(type) == 16 ? "5" : "19";
}

static unsigned int put_kernels(FILE *f, unsigned int number, int immediates)
{
	char code[2 * MAX_LINE];
	unsigned int n, count;

	do {
		put_kernel(f, number++, MAX_REGS, NULL, 0);
		expand(code, sizeof(code), MAX_REGS, NULL);
		count = reg_count;
		for (n = 1; n < count; n++) {
			if (bits(regs[n].type) < 16 || strchr(form, ';'))
				continue;
			put_kernel(f, number++, n, NULL, 1);
			if (immediates && regs[n].type[0] != 'p')
				put_kernel(f, number++, n, number_of(regs[n].type), 0);
			expand(code, sizeof(code), MAX_REGS, NULL);
		}
	} while (next_choice());
	return number;
}

int main(int argc, char **argv)
{
	unsigned int files = 0, kernels = 0;
	char line[MAX_LINE], path[1200];
	int immediates = 0;
	FILE *list, *f;

	if (argc != 3 || !(list = fopen(argv[1], "r"))) {
		fprintf(stderr, "usage: ptxgen LIST DIRECTORY\n");
		return 2;
	}
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "#:", 2))
			immediates = strstr(line, "immediates") != NULL;
		if (!line[0] || line[0] == '#')
			continue;
		parse(line);
		snprintf(path, sizeof(path), "%s/%03u.ptx", argv[2], files++);
		f = fopen(path, "w");
		if (!f)
			die("can't write", path);
		fprintf(f,
			"// %s\n.version 6.5\n.target sm_35\n.address_size 64\n.shared .align 16 .b8 sh[64];\n"
			".const .align 16 .b8 con[64] = {1, 2, 3};\n",
			line);
		kernels += put_kernels(f, 0, immediates);
		if (fclose(f))
			die("can't write", path);
	}
	fclose(list);
	printf("%u files, %u kernels\n", files, kernels);
	return 0;
}
