#include <mpi.h>
#include "check.h"
#ifndef RANKS
#define RANKS 4
#endif
int size_in_environment(void);
int main(int argc, char **argv) {
	int size;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	finish(size != RANKS || size_in_environment() != 7);
	return 0;
}
