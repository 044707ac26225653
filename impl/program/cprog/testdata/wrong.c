/* Programs that are wrong. The first argument says how; rank 1 does it. */
#include <assert.h>
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int deep(int n) {
	volatile char b[1000];
	b[n % 1000] = 1;
	return n == 0 ? b[3] : deep(n - 1) + b[5];
}

static int wrong(const char *how, int argc) {
	int x = 0;
	MPI_Request q = MPI_REQUEST_NULL, old;
	MPI_Datatype t;
#define IS(name) if (strcmp(how, name) == 0)
	IS("write") *(volatile int *)0x10 = 1;
	IS("call") ((void (*)(void))0x20)();
	IS("stack") deep(1000000 + argc);
	IS("abort") abort();
	IS("assert") assert(x == 1);
	IS("exit") exit(3);
	IS("leave") exit(0);
	IS("endless") for (;;) __asm__ volatile("");
	IS("deadlock") MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	IS("buffer") MPI_Send((void *)0x10000, 100, MPI_INT, 0, 0, MPI_COMM_WORLD);
	IS("MPI_Abort") MPI_Abort(MPI_COMM_WORLD, 7);
	IS("rank") MPI_Send(&x, 1, MPI_INT, 5, 0, MPI_COMM_WORLD);
	IS("freed") {
		MPI_Type_contiguous(1, MPI_INT, &t);
		MPI_Datatype u = t;
		MPI_Type_free(&t);
		MPI_Send(&x, 1, u, 0, 0, MPI_COMM_WORLD);
	}
	IS("stale") {
		MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q);
		old = q;
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Wait(&old, MPI_STATUS_IGNORE);
	}
	IS("truncate") {
		int z[4] = {0};
		MPI_Isend(z, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, &q);
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	IS("overlap") {
		MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q);
		MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &old);
	}
	IS("collective") MPI_Barrier(MPI_COMM_WORLD);
	IS("short broadcast") {
		int z[4];
		MPI_Ibcast(z, 4, MPI_INT, 0, MPI_COMM_WORLD, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	IS("error field") {
		MPI_Status s = {.MPI_ERROR = 77};
		MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q);
		MPI_Cancel(&q);
		MPI_Waitall(1, &q, &s);
		if (s.MPI_ERROR == MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 9);
	}
	IS("sleep") sleep(9300000);
	IS("often") for (int i = 0; i < 20; i++) sleep(1000000);
	IS("nanosleep") {
		struct timespec longest = {INT64_MAX, 0}, bad = {-1, 0};
		if (nanosleep(&bad, NULL) == 0 || errno != EINVAL) abort();
		nanosleep(&longest, NULL);
	}
	IS("again") MPI_Init(NULL, NULL);
	return x;
}

int main(int argc, char **argv) {
	int rank, x = 0;
	if (strcmp(argv[1], "early") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("rank %d, without the end of the line", rank);
	if (rank == 1) x = wrong(argv[1], argc);
	else if (strcmp(argv[1], "collective") == 0) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
	else if (strcmp(argv[1], "short broadcast") == 0) {
		MPI_Request q;
		MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return x;
}
