/* SPDX-License-Identifier: MIT */
/*
 * The command line "PROGRAM ranks COMMAND --next COMMAND --next COMMAND": the commands of ranks 0, 1,
 * 2 ... in one, for an mpirun that starts all ranks by the same command (../run/command.c). Pure.
 */
#ifndef KVGPU_CLUSTER_RANKS_H
#define KVGPU_CLUSTER_RANKS_H

#include <stdbool.h>

/*
 * Sets *argc and *argv to the command of the rank that the text @rank names, and the word behind
 * that command to NULL. The command's first word is the name of the program. False: there is no
 * such rank.
 */
bool ranks_pick(const char *rank, int *argc, char ***argv);

#endif
