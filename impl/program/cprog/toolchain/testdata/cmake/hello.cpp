#include <iostream>
#include <mpi.h>

int main(int argc, char **argv) {
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	std::cout << rank << " of " << ranks << std::endl;
	MPI_Finalize();
}
