#include <mpi.h>

int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
#ifdef LOGGP_MPI
	if (provided != MPI_THREAD_FUNNELED) return 1;
#endif
	MPI_Finalize();
	return 0;
}
