#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank;
	volatile double x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double begin = MPI_Wtime();
	for (int i = 0; i < 100000; i++) x += i;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) printf("%.9f\n", MPI_Wtime() - begin);
	MPI_Finalize();
	return 0;
}
