/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen of a terminal that is drawn anew again and again, and keys. Nothing but ANSI escapes.
 */
#ifndef KVGPU_TOOLS_TERMINAL_H
#define KVGPU_TOOLS_TERMINAL_H

#include <stdint.h>

enum terminal_event { TERMINAL_TIME, TERMINAL_REDRAW, TERMINAL_QUIT };

/* takes the screen over; what was on it comes back with terminal_leave() */
void terminal_enter(void);
void terminal_leave(void);
void terminal_size(int *columns, int *lines);
/* draws @text from the top left, cut to @lines */
void terminal_draw(const char *text, int lines);
/* until the monotonic clock shows @until_ns: a key, a signal, a resize, or the time */
enum terminal_event terminal_wait(int64_t until_ns);

#endif
