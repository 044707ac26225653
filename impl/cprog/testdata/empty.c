#include <mpi.h>

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	if (provided != MPI_THREAD_FUNNELED) return 1;
	MPI_Finalize();
	return 0;
}
