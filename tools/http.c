// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-top --http: one request of HTTP/1 on standard input, one answer on standard output.
 * systemd starts one such process for each connection (kvgpu-prometheus@.service), and ends it
 * after some seconds. The process reads 8 KiB at most, and nothing of them but the first line.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "http.h"

#define REQUEST_SIZE 8192

/* Read up to the empty line. Return false if it does not come, or comes too late. */
static bool read_request(char *request)
{
	size_t have = 0;
	ssize_t n;

	while (have < REQUEST_SIZE - 1) {
		n = read(STDIN_FILENO, request + have, REQUEST_SIZE - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += n;
		request[have] = 0;
		if (strlen(request) != have)
			return false;
		if (strstr(request, "\r\n\r\n") || strstr(request, "\n\n"))
			return true;
	}
	return false;
}

static bool answer(FILE *out, const char *status, const char *type, const char *body, size_t size)
{
	fprintf(out,
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status, type, size);
	fwrite(body, 1, size, out);
	return !fflush(out) && !ferror(out);
}

static bool answer_text(FILE *out, const char *status, const char *text)
{
	return answer(out, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* Say whether the target of the request's line GET TARGET ... is @path, with or without a query. */
static bool gets(const char *line, const char *path)
{
	const char *target = line + strlen("GET ");
	size_t n = strlen(path);

	return !strncmp(target, path, n) && (target[n] == ' ' || target[n] == '?');
}

bool serve_http(FILE *out, bool (*print)(FILE *out, void *arg), void *arg)
{
	char request[REQUEST_SIZE], *body = NULL;
	size_t size = 0;
	FILE *f;
	bool ok;

	if (!read_request(request))
		return answer_text(out, "400 Bad Request", "no request of HTTP\n");
	request[strcspn(request, "\r\n")] = 0;
	if (!strstr(request, " HTTP/1."))
		return answer_text(out, "400 Bad Request", "no request of HTTP/1\n");
	if (strncmp(request, "GET ", 4))
		return answer_text(out, "405 Method Not Allowed", "only GET\n");
	if (!gets(request, "/metrics"))
		return answer_text(out, "404 Not Found", "the numbers are at /metrics\n");
	f = open_memstream(&body, &size);
	ok = f && print(f, arg);
	if (f)
		ok = !fclose(f) && ok;
	if (ok)
		ok = answer(out, "200 OK", "text/plain; version=0.0.4; charset=utf-8", body, size);
	else
		answer_text(out, "500 Internal Server Error", "sysfs can't be read\n");
	free(body);
	return ok;
}
