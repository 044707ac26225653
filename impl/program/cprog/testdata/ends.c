/* The ways in which a program ends. The first argument says which; rank 1 takes it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1) {
		if (!strcmp(argv[1], "exit")) exit(42);
		if (!strcmp(argv[1], "Abort")) MPI_Abort(MPI_COMM_WORLD, 7);
		if (!strcmp(argv[1], "abort")) abort();
		if (!strcmp(argv[1], "write")) *(volatile int *)0 = 1;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		for (int i = 0; i < 9; i++) MPI_Sendrecv(&rank, 0, MPI_INT, 0, 0, &rank, 0, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		printf("rank 0 has ended\n");
	}
	MPI_Finalize();
	return rank == 1 && !strcmp(argv[1], "return") ? 42 : 0;
}
