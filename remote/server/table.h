/* SPDX-License-Identifier: MIT */
/* The client's operations, which are numbered by its own table. */
#ifndef KVGPU_REMOTE_TABLE_H
#define KVGPU_REMOTE_TABLE_H

#include <cuda/api/api.h>
#include <remote/wire/frame.h>

struct server;
struct kvgpu_remote_cursor;
struct kvgpu_remote_reply;

struct table {
	unsigned int nr; /* of .own; 0: the client's operations are the server's */
	uint16_t own[KVGPU_REMOTE_TABLE_MAX]; /* 0: an entry that this build does not have */
};

/* Carry out KVGPU_REMOTE_OP_TABLE. */
CUresult table_take(struct server *s, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out);
/* This build's number of the client's operation @op, or 0. */
uint16_t table_own(const struct server *s, uint16_t op);

#endif
