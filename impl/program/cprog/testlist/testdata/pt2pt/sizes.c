#include <mpi.h>
#include <stdlib.h>
#include "check.h"
int main(int argc, char **argv) {
	int size;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	finish(size != 4 || atoi(getenv("SIZE")) != 7);
	return 0;
}
