#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int rank, n = atoi(argv[1]);
	char b[8] = {0};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < n; i++)
		if (rank == 0) {
			MPI_Send(b, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(b, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(b, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(b, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
		}
	MPI_Finalize();
	return 0;
}
