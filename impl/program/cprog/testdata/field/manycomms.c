/* A rank may hold so many communicators. All ranks of a call that would create one more get the error, also if only one of
 * them holds so many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 20000 };

int main(int argc, char **argv) {
	int rank, n = 0, codes[5] = {0};
	MPI_Comm *all = malloc(most * sizeof *all), c;
	MPI_Group world;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 0)
		while (n < most && MPI_Comm_dup(MPI_COMM_SELF, &all[n]) == MPI_SUCCESS) n++;
	codes[0] = MPI_Comm_dup(MPI_COMM_WORLD, &c);
	codes[1] = MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &c);
	codes[2] = MPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &c);
	codes[3] = MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 0, &c);
	MPI_Comm_idup(MPI_COMM_WORLD, &c, &q);
	codes[4] = MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (int i = 0; i < 5; i++) codes[i] = codes[i] != MPI_SUCCESS;
	if (rank == 0)
		for (int i = 0; i < n; i++) MPI_Comm_free(&all[i]);
	int later = MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_free(&c);
	for (int r = 0; r < 2; r++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (r == rank) printf("rank %d holds %d; refused %d %d %d %d %d, then %d\n", rank, n, codes[0], codes[1], codes[2], codes[3], codes[4], later);
	}
	MPI_Group_free(&world);
	MPI_Finalize();
	return 0;
}
