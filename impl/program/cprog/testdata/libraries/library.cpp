// A shared library that calls MPI, and what it keeps once a process.
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

template <class T> struct Counter {
	static inline int calls; // a unique symbol
};

extern "C" {
int total;
int sum(int x);
}

static int rank;

static void last() { printf("%d: atexit of the library, %d calls\n", rank, Counter<int>::calls); }

__attribute__((constructor)) static void begin() { total = 100; }
__attribute__((destructor)) static void end() { printf("destructor of the library, total %d\n", total); }

int sum(int x) {
	if (Counter<int>::calls++ == 0) atexit(last);
	total += x;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int all = 0;
	if (x < 0) MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
	try {
		throw MPI_Allreduce(&x, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} catch (int status) {
		printf("%d: sum %d, status %d, total %d, random %d\n", rank, all, status, total, rand() % 1000);
	}
	return all;
}
