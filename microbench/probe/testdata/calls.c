/*
 * The program, with its calls written down: after it has run, the file calls.0 of the directory has those of P1 and calls.1 those of P2, one a
 * line, with how often if they come one after the other, and of collective operations with the bytes of a block. A call that is not measured is marked: of a barrier. Orders and samples are left out. The clock is one that moves by 100 ns when it is
 * read and by 1 us in each call of MPI, so that all times are known. A sample is one
 * operation.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 100000, MEASURED = 1 /* TAG of the program */ };

static const char *calls[MOST];
static int made[MOST], called;
static MPI_Comm dups[2]; /* what is measured; all else */
static int dupped;

static long long virtual; /* ns */

static void note(const char *call)
{
	virtual += strcmp(call, "clock") == 0 ? 100 : 1000;
	if (called > 0 && strcmp(calls[called - 1], call) == 0) {
		made[called - 1]++;
	} else if (called < MOST) {
		calls[called] = call;
		made[called++] = 1;
	}
}

static int my_clock(clockid_t id, struct timespec *t)
{
	(void)id;
	note("clock");
	t->tv_sec = virtual / 1000000000;
	t->tv_nsec = virtual % 1000000000;
	return 0;
}

static int my_dup(MPI_Comm c, MPI_Comm *d)
{
	int err = MPI_Comm_dup(c, d);
	dups[dupped++] = *d;
	return err;
}

#define SEND(name) \
	static int my_##name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) \
	{ \
		if (c != dups[1]) \
			note(#name); \
		else if (tag == MEASURED) \
			note("barrier " #name); \
		return MPI_##name(b, n, t, to, tag, c); \
	}
#define START(name) \
	static int my_##name(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) \
	{ \
		note(#name); \
		return MPI_##name(b, n, t, to, tag, c, r); \
	}

SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)
START(Isend)
START(Issend)
START(Irsend)
START(Ibsend)

static int my_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
{
	if (c != dups[1])
		note("Recv");
	else if (tag == MEASURED)
		note("barrier Recv");
	return MPI_Recv(b, n, t, from, tag, c, s);
}

static int my_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
	note("Irecv");
	return MPI_Irecv(b, n, t, from, tag, c, r);
}

static int my_Wait(MPI_Request *r, MPI_Status *s)
{
	note("Wait");
	return MPI_Wait(r, s);
}

/* collective notes an operation, if it is measured. */
static void collective(const char *name, int count, MPI_Datatype type, MPI_Comm c)
{
	char text[64], *kept;
	int size;

	if (c != dups[0])
		return;
	MPI_Type_size(type, &size);
	snprintf(text, sizeof text, "%s %d", name, count * size);
	kept = malloc(strlen(text) + 1);
	note(strcpy(kept, text));
}

static int my_Barrier(MPI_Comm c)
{
	if (c == dups[0])
		note("Barrier");
	else if (c == dups[1])
		note("barrier");
	return MPI_Barrier(c);
}

static int my_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
	collective("Bcast", n, t, c);
	return MPI_Bcast(b, n, t, root, c);
}

#define ROOTED(name) \
	static int my_##name(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c) \
	{ \
		collective(#name, n, t, c); \
		return MPI_##name(a, n, t, b, m, u, root, c); \
	}
#define UNROOTED(name) \
	static int my_##name(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c) \
	{ \
		collective(#name, n, t, c); \
		return MPI_##name(a, n, t, b, m, u, c); \
	}
#define COMBINING(name) \
	static int my_##name(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c) \
	{ \
		collective(#name, n, t, c); \
		return MPI_##name(a, b, n, t, op, c); \
	}

ROOTED(Scatter)
ROOTED(Gather)
UNROOTED(Allgather)
UNROOTED(Alltoall)
COMBINING(Allreduce)
COMBINING(Scan)

static int my_Reduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
	collective("Reduce", n, t, c);
	return MPI_Reduce(a, b, n, t, op, root, c);
}

static int my_Reduce_scatter(const void *a, void *b, const int *n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
	collective("Reduce_scatter", n[0] == n[1] ? n[0] : -1, t, c);
	return MPI_Reduce_scatter(a, b, n, t, op, c);
}

#define clock_gettime my_clock
#define MPI_Comm_dup my_dup
#define MPI_Send my_Send
#define MPI_Ssend my_Ssend
#define MPI_Rsend my_Rsend
#define MPI_Bsend my_Bsend
#define MPI_Isend my_Isend
#define MPI_Issend my_Issend
#define MPI_Irsend my_Irsend
#define MPI_Ibsend my_Ibsend
#define MPI_Recv my_Recv
#define MPI_Irecv my_Irecv
#define MPI_Wait my_Wait
#define MPI_Barrier my_Barrier
#define MPI_Bcast my_Bcast
#define MPI_Scatter my_Scatter
#define MPI_Gather my_Gather
#define MPI_Allgather my_Allgather
#define MPI_Alltoall my_Alltoall
#define MPI_Reduce my_Reduce
#define MPI_Allreduce my_Allreduce
#define MPI_Reduce_scatter my_Reduce_scatter
#define MPI_Scan my_Scan
#define BATCH 1
#define main probe
#undef _GNU_SOURCE
#define COLLECTIVES
#include "../program/probe.c"
#undef main

int main(int argc, char **argv)
{
	char path[4096];
	FILE *f;
	int i, status;

	status = probe(argc, argv);
	snprintf(path, sizeof path, "%s/calls.%d", argv[1], rank);
	f = fopen(path, "w");
	for (i = 0; i < called; i++) {
		if (made[i] > 1)
			fprintf(f, "%d %s\n", made[i], calls[i]);
		else
			fprintf(f, "%s\n", calls[i]);
	}
	fclose(f);
	return status;
}
