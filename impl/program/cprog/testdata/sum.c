/* Each rank has variables of its own, and all know their sum. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int own[1000], *at = &own[7];

int main(int argc, char **argv) {
	int rank, size;
	long mine, sum;
	char page[5000];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*at += rank;
	memset(page, rank, sizeof page);
	MPI_Barrier(MPI_COMM_WORLD);
	mine = own[7];
	MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (page[size % sizeof page] != (char)rank || at != &own[7]) MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0) printf("%ld\n", sum);
	MPI_Finalize();
	return 0;
}
