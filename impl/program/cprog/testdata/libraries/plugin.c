// A library that is loaded later. It is linked to nothing, as extension modules are.
#include <mpi.h>
#include <stdio.h>

extern int total;
int sum(int x);

int run(int x) {
	static int runs;
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("%d: plugin, run %d, total %d\n", rank, ++runs, total);
	return sum(10 * x);
}
