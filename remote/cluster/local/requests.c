// SPDX-License-Identifier: MIT
/* The functions of mpi.h. */
#include "mpi.h"

#include <stdlib.h>
#include <time.h>

#include "carrier.h"

int MPI_Init(int *argc, char ***argv)
{
	return wire_begin() ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int MPI_Finalize(void)
{
	wire_end();
	return MPI_SUCCESS;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	*rank = own_rank;
	return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	*size = ranks;
	return MPI_SUCCESS;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, int handler)
{
	return MPI_SUCCESS;
}

double MPI_Wtime(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* ------------------------------------------------------------------ making and beginning */

static int make_request(MPI_Request *to, const struct request *like)
{
	struct request *r;

	*to = MPI_REQUEST_NULL;
	if (like->rank >= ranks || like->rank == own_rank || like->rank < MPI_ANY_SOURCE ||
	    (like->rank < 0 && !like->receives))
		return MPI_ERR_OTHER;
	r = malloc(sizeof(*r));
	if (!r)
		return MPI_ERR_OTHER;
	*r = *like;
	*to = r;
	return MPI_SUCCESS;
}

int MPI_Send_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
		  MPI_Request *r)
{
	return make_request(r, &(struct request){ .at = (uint8_t *)(uintptr_t)from,
						  .bytes = n,
						  .rank = to,
						  .tag = tag,
						  .synchronous = n > FRAME_ROOM });
}

int MPI_Ssend_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
		   MPI_Request *r)
{
	return make_request(r, &(struct request){ .at = (uint8_t *)(uintptr_t)from,
						  .bytes = n,
						  .rank = to,
						  .tag = tag,
						  .synchronous = true });
}

int MPI_Recv_init(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm comm,
		  MPI_Request *r)
{
	return make_request(
		r, &(struct request){
			   .at = to, .bytes = n, .rank = from, .tag = tag, .receives = true });
}

/* where the other rank has gone the request ends with an error at once */
int MPI_Start(MPI_Request *to)
{
	static uint64_t serial;
	struct request *r = *to;
	struct peer *p = r->rank < 0 ? NULL : &peers[r->rank];

	r->status = (MPI_Status){ .MPI_SOURCE = r->rank, .MPI_TAG = r->tag };
	if (r->receives) {
		match_receive(r);
		return MPI_SUCCESS;
	}
	if (p->fd < 0) {
		request_over(r, MPI_ERR_OTHER);
		return MPI_SUCCESS;
	}
	r->state = QUEUED;
	r->says = r->synchronous ? FRAME_PLACE : FRAME_EAGER;
	r->serial = r->synchronous ? ++serial : 0;
	r->moved = 0;
	TAILQ_INSERT_TAIL(&p->out, r, entry);
	wire_flush(p);
	return MPI_SUCCESS;
}

/* begin a request that was made, and that ends by itself */
static int begin_request(int made, MPI_Request *r)
{
	if (made != MPI_SUCCESS)
		return made;
	(*r)->once = true;
	return MPI_Start(r);
}

int MPI_Isend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
	      MPI_Request *r)
{
	return begin_request(MPI_Send_init(from, n, of, to, tag, comm, r), r);
}

int MPI_Issend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
	       MPI_Request *r)
{
	return begin_request(MPI_Ssend_init(from, n, of, to, tag, comm, r), r);
}

int MPI_Irecv(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm comm, MPI_Request *r)
{
	return begin_request(MPI_Recv_init(to, n, of, from, tag, comm, r), r);
}

/* ------------------------------------------------------------------ ending */

int MPI_Test(MPI_Request *of, int *done, MPI_Status *status)
{
	struct request *r = *of;
	int error;

	if (r && r->state != IDLE && r->state != OVER)
		wire_look();
	*done = !r || r->state == IDLE || r->state == OVER;
	if (!*done)
		return MPI_SUCCESS;
	if (status)
		*status = r && r->state == OVER ? r->status :
						  (MPI_Status){ .MPI_SOURCE = MPI_ANY_SOURCE };
	if (!r || r->state == IDLE)
		return MPI_SUCCESS;
	r->state = IDLE;
	error = r->error;
	if (r->once)
		MPI_Request_free(of);
	return error;
}

int MPI_Wait(MPI_Request *r, MPI_Status *status)
{
	int done, error;

	while (error = MPI_Test(r, &done, status), !done)
		wire_wait();
	return error;
}

int MPI_Cancel(MPI_Request *of)
{
	struct request *r = *of;

	if (r->state == POSTED)
		TAILQ_REMOVE(r->rank < 0 ? &any_posted : &peers[r->rank].posted, r, entry);
	else if (r->state == QUEUED && r->says != FRAME_BYTES)
		TAILQ_REMOVE(&peers[r->rank].out, r, entry);
	else
		return MPI_SUCCESS;
	r->status.cancelled = 1;
	request_over(r, MPI_SUCCESS);
	return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *of)
{
	struct request *r = *of;

	*of = MPI_REQUEST_NULL;
	if (r->state == IDLE || r->state == OVER)
		free(r);
	else
		r->freed = true;
	return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype of, int *n)
{
	*n = status->bytes;
	return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status *status, int *is)
{
	*is = status->cancelled;
	return MPI_SUCCESS;
}
