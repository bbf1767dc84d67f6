/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen of a terminal, which is drawn anew again and again, and keys. Uses only ANSI escapes.
 */
#ifndef KVGPU_TOOLS_TERMINAL_H
#define KVGPU_TOOLS_TERMINAL_H

#include <stdint.h>

enum terminal_event { TERMINAL_TIME, TERMINAL_REDRAW, TERMINAL_QUIT };

/* Take over the screen; terminal_leave() brings back the old one. */
void terminal_enter(void);
void terminal_leave(void);
void terminal_size(int *columns, int *lines);
/* draw @text from the top left, cut to @lines */
void terminal_draw(const char *text, int lines);
/* Wait for a key, a signal or a resize, or until the monotonic clock shows @until_ns. */
enum terminal_event terminal_wait(int64_t until_ns);

#endif
