#include <mpi.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Between two calls the rank has no processor for 0.3 s, as if another process had it. */
int main(int argc, char **argv) {
	struct timespec t = {0, 300000000};
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	syscall(SYS_nanosleep, &t, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Finalize();
}
