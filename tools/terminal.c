// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of kvgpu-top. The state is static, because a process has one terminal. The signal
 * handler only sets flags, on which terminal_wait() acts.
 */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct termios saved;
static bool have_keys;
static sigset_t outside;
static volatile sig_atomic_t caught_quit, caught_stop, caught_resize;

static void on_signal(int signal)
{
	switch (signal) {
	case SIGWINCH:
		caught_resize = 1;
		break;
	case SIGTSTP:
		caught_stop = 1;
		break;
	default:
		caught_quit = 1;
	}
}

static void take_screen(void)
{
	struct termios t;

	have_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &saved);
	if (have_keys) {
		t = saved;
		t.c_lflag &= ~(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &t);
	}
	fputs("\033[?1049h\033[?25l", stdout);
	fflush(stdout);
}

void terminal_leave(void)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (have_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* The signals below are blocked except in terminal_wait()'s ppoll(). */
void terminal_enter(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH };
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		sigaddset(&block, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &block, &outside);
	take_screen();
}

void terminal_size(int *columns, int *lines)
{
	struct winsize w;

	*columns = 80;
	*lines = 24;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col && w.ws_row) {
		*columns = w.ws_col;
		*lines = w.ws_row;
	}
}

/* Write no line end after the last line, because it would scroll the first line away. */
void terminal_draw(const char *text, int lines)
{
	int nr = 0;

	for (const char *p = text; *p; p++)
		nr += *p == '\n';
	fputs("\033[H", stdout);
	for (int i = 0; i < lines && *text; i++) {
		size_t length = strcspn(text, "\n");

		if (i)
			fputs("\r\n", stdout);
		if (i == lines - 1 && nr > lines)
			printf("... %d more", nr - i);
		else
			fwrite(text, 1, length, stdout);
		fputs("\033[K", stdout);
		text += length + (text[length] == '\n');
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void stop_and_continue(void)
{
	terminal_leave();
	raise(SIGSTOP);
	take_screen();
}

static bool key_quits(void)
{
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);

	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN) ||
	       (n == 1 && (key == 'q' || key == 'Q'));
}

enum terminal_event terminal_wait(int64_t until_ns)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec t;
	int64_t left;
	int ready;

	for (;;) {
		if (caught_quit)
			return TERMINAL_QUIT;
		if (caught_stop)
			stop_and_continue();
		if (caught_stop || caught_resize) {
			caught_stop = caught_resize = 0;
			return TERMINAL_REDRAW;
		}
		clock_gettime(CLOCK_MONOTONIC, &t);
		left = until_ns - (t.tv_sec * 1000000000ll + t.tv_nsec);
		if (left <= 0)
			return TERMINAL_TIME;
		t = (struct timespec){ left / 1000000000, left % 1000000000 };
		ready = ppoll(&input, have_keys, &t, &outside);
		if (ready > 0 && key_quits())
			return TERMINAL_QUIT;
		if (ready < 0 && errno != EINTR)
			return TERMINAL_QUIT;
	}
}
