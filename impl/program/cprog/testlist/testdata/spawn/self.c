#include <mpi.h>
#include "check.h"

/* It starts itself by its name. */
int main(int argc, char **argv) {
	MPI_Comm parent, child;
	int n = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL) {
		MPI_Comm_spawn("./self", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
		MPI_Comm_remote_size(child, &n);
		MPI_Comm_disconnect(&child);
		finish(n != 1);
	} else {
		MPI_Comm_disconnect(&parent);
		MPI_Finalize();
	}
	return 0;
}
