/* SPDX-License-Identifier: MIT */
/*
 * The part of MPI that the relays use, for ranks of one machine that are forked and speak over
 * pairs of UNIX sockets (carrier.h). What differs from MPI's own words, or is left open there, is
 * said here. A rank has one thread. There is no work outside of these functions.
 */
#ifndef KVGPU_CLUSTER_LOCAL_MPI_H
#define KVGPU_CLUSTER_LOCAL_MPI_H

#define KVGPU_CLUSTER_LOCAL 1

typedef struct request *MPI_Request;
typedef int MPI_Comm, MPI_Datatype;
typedef struct {
	int MPI_SOURCE, MPI_TAG, bytes, cancelled;
} MPI_Status;

/* MPI_ERR_OTHER: the other rank has gone. It says so of requests with that rank alone. */
enum { MPI_SUCCESS, MPI_ERR_COUNT, MPI_ERR_TRUNCATE, MPI_ERR_OTHER };
enum { MPI_COMM_WORLD, MPI_BYTE, MPI_ERRORS_RETURN, MPI_ANY_SOURCE = -1 };
#define MPI_REQUEST_NULL  ((MPI_Request)0)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

/* Take the sockets that launch_ranks() has made (launch.h). It does not wait for other ranks. */
int MPI_Init(int *argc, char ***argv);
/* Rank 0 ends its connections. Every other rank waits until rank 0 has. */
int MPI_Finalize(void);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_set_errhandler(MPI_Comm comm, int handler);
double MPI_Wtime(void);

/*
 * Persistent requests. A send is over when the kernel has its bytes; a synchronous one, and one of
 * more than FRAME_ROOM bytes, when the other rank has begun the receive and taken them.
 */
int MPI_Send_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
		  MPI_Request *r);
int MPI_Ssend_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
		   MPI_Request *r);
int MPI_Recv_init(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm comm,
		  MPI_Request *r);
int MPI_Start(MPI_Request *r);
int MPI_Isend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
	      MPI_Request *r);
int MPI_Issend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm comm,
	       MPI_Request *r);
int MPI_Irecv(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm comm, MPI_Request *r);

/* MPI_Test() looks at the sockets, if the request is not over. */
int MPI_Test(MPI_Request *r, int *done, MPI_Status *status);
int MPI_Wait(MPI_Request *r, MPI_Status *status);
/*
 * Take a request back, if no byte of it is under way; else it goes on. MPI_Test() tells the end of
 * both.
 */
int MPI_Cancel(MPI_Request *r);
/* A request under way goes on, with its memory, until it is over. */
int MPI_Request_free(MPI_Request *r);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype of, int *n);
int MPI_Test_cancelled(const MPI_Status *status, int *is);

#endif
