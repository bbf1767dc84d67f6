/* SPDX-License-Identifier: GPL-2.0-only */
/* Draw a whole screen in a terminal, and wait for keys and signals. */
#ifndef KVGPU_TOOLS_TERMINAL_H
#define KVGPU_TOOLS_TERMINAL_H

#include <stdint.h>

enum terminal_event { TERMINAL_TIME, TERMINAL_REDRAW, TERMINAL_QUIT };

/*
 * Take over the screen, the keys, and signals that end, stop or resize. terminal_leave() brings
 * back the screen and the mode of the keys as they were before.
 */
void terminal_enter(void);
void terminal_leave(void);
void terminal_size(int *columns, int *lines);
/*
 * Draw @text from the top left. If @text has more than @lines lines, the last line that is drawn
 * says how many are left out.
 */
void terminal_draw(const char *text, int lines);
/*
 * Wait for one of three events, and return it. TERMINAL_TIME: the monotonic clock shows @until_ns.
 * TERMINAL_REDRAW: the terminal's size changed, or the program was stopped and goes on.
 * TERMINAL_QUIT: key q, a signal that ends the program, the end of the input, or an error.
 */
enum terminal_event terminal_wait(int64_t until_ns);

#endif
