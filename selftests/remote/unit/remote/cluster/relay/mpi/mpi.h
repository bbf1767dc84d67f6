/* SPDX-License-Identifier: MIT */
/*
 * The part of MPI that the tested files of the relay use. Tests run without MPI, and define the
 * functions.
 */
#ifndef KVGPU_SELFTESTS_MPI_H
#define KVGPU_SELFTESTS_MPI_H

typedef int MPI_Request, MPI_Comm, MPI_Datatype;
typedef struct {
	int bytes, cancelled, MPI_SOURCE;
} MPI_Status;

enum {
	MPI_SUCCESS,
	MPI_ERR_COUNT,
	MPI_ERR_TRUNCATE,
	MPI_REQUEST_NULL = -1,
	MPI_COMM_WORLD = 0,
	MPI_BYTE = 1,
	MPI_ANY_SOURCE = -2
};
#define MPI_STATUS_IGNORE ((MPI_Status *)0)

double MPI_Wtime(void);
int MPI_Irecv(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm c, MPI_Request *r);
int MPI_Isend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
	      MPI_Request *r);
int MPI_Issend(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
	       MPI_Request *r);
int MPI_Test(MPI_Request *r, int *done, MPI_Status *status);
int MPI_Cancel(MPI_Request *r);
int MPI_Recv_init(void *to, int n, MPI_Datatype of, int from, int tag, MPI_Comm c, MPI_Request *r);
int MPI_Send_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
		  MPI_Request *r);
int MPI_Ssend_init(const void *from, int n, MPI_Datatype of, int to, int tag, MPI_Comm c,
		   MPI_Request *r);
int MPI_Start(MPI_Request *r);
int MPI_Wait(MPI_Request *r, MPI_Status *status);
int MPI_Request_free(MPI_Request *r);
int MPI_Test_cancelled(const MPI_Status *status, int *is);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype of, int *n);

#endif
