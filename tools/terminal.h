/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen of a terminal, which is drawn again and again, and its keys. The escape sequences are
 * ANSI's and two private ones (second screen, cursor on and off).
 */
#ifndef KVGPU_TOOLS_TERMINAL_H
#define KVGPU_TOOLS_TERMINAL_H

#include <stdint.h>

enum terminal_event { TERMINAL_TIME, TERMINAL_REDRAW, TERMINAL_QUIT };

/* Take over the screen. terminal_leave() brings back the screen as it was before. */
void terminal_enter(void);
void terminal_leave(void);
void terminal_size(int *columns, int *lines);
/* Draw @text from the top left, and cut it to @lines lines. */
void terminal_draw(const char *text, int lines);
/*
 * Wait until the monotonic clock shows @until_ns, the screen must be drawn again, or a key, a
 * signal or the end of the input ends the program. Return which it was.
 */
enum terminal_event terminal_wait(int64_t until_ns);

#endif
