#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("begin and ");
	MPI_Barrier(MPI_COMM_WORLD);
	printf("end\n");
	fprintf(stderr, "on ");
	MPI_Barrier(MPI_COMM_WORLD);
	fprintf(stderr, "standard error\n");
	if (rank == 0)
		for (int i = 1; i < argc; i++) printf("argument %s\n", argv[i]);
	MPI_Finalize();
	return 0;
}
