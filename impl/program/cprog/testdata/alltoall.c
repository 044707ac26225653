#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
	int size, n = atoi(argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *out = calloc(size, n), *in = calloc(size, n);
	MPI_Alltoall(out, n, MPI_CHAR, in, n, MPI_CHAR, MPI_COMM_WORLD);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
