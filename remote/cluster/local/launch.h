/* SPDX-License-Identifier: MIT */
/* What mpirun is to other relays: all ranks of a job on this machine, as children. */
#ifndef KVGPU_CLUSTER_LOCAL_LAUNCH_H
#define KVGPU_CLUSTER_LOCAL_LAUNCH_H

/*
 * The variable that gives a rank its number, and for each rank the descriptor of the socket to it
 * and its process: "RANK FD:PID FD:PID ...".
 */
#define LAUNCH_VARIABLE "KVGPU_CLUSTER_LOCAL"

/*
 * Start the ranks of a command line such as "PROGRAM ranks COMMAND --next COMMAND ..."
 * (../relay/ranks.h), connected by a pair of sockets for each two of them. Wait until rank 0 has
 * ended, then for a while until the other ones have. Return the exit code of rank 0. Ranks that are
 * left, and all of them if this process is killed, are killed by the kernel.
 */
int launch_ranks(int argc, char **argv);

#endif
