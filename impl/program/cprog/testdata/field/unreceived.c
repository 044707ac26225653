/* Messages that were not received when their communicator is freed are an error of that call. The program goes on. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
	int rank, class = 0;
	MPI_Comm c, d;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Request q = MPI_REQUEST_NULL;
	if (rank == 0) {
		MPI_Send(&rank, 1, MPI_INT, 1, 3, c);
		MPI_Send(&rank, 1, MPI_INT, 1, 4, c);
	}
	MPI_Barrier(c);
	int e = MPI_Comm_free(&c);
	if (e) MPI_Error_class(e, &class);
	if (rank == 1) printf("error %d of class %d, freed %d\n", e != MPI_SUCCESS, class == MPI_ERR_OTHER, c == MPI_COMM_NULL);
	/* A receive that waits is no mistake. */
	MPI_Comm_dup(MPI_COMM_WORLD, &d);
	if (rank == 1) MPI_Irecv(&class, 1, MPI_INT, 0, 0, d, &q);
	MPI_Comm copy = d;
	if (rank == 1) MPI_Comm_free(&d);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 0, copy), MPI_Comm_free(&d);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
