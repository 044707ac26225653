#include <mpi.h>
#include <stdio.h>
#include "check.h"
void finish(int errors) {
	int rank, all;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0 && all == 0) printf(" No Errors\n");
	if (rank == 0 && all > 0) printf("Found %d errors\n", all);
	MPI_Finalize();
}
