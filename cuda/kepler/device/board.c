// SPDX-License-Identifier: MIT
#include "board.h"

#include <stddef.h>

#include "../../../include/gk110/boards.h"

#define BOARD(board_id, board_name, mib, run) { board_id, board_name },
static const struct {
	uint32_t id;
	const char *name;
} boards[] = { GK110_BOARDS(BOARD) };

const char *board_name(uint32_t pci_id)
{
	size_t i;

	for (i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		if (boards[i].id == pci_id)
			return boards[i].name;
	return "GK110";
}
