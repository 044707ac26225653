/* Programs of two ranks that MPI forbids and most implementations run. The first argument says what
   they do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 100000

int main(int argc, char **argv) {
	int rank, x = 0, *late, *never;
	MPI_Request q[4];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(argv[1], "receives") == 0) {
		for (int i = 0; i < 4; i++)
			if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, q + i);
			else MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, q + i);
		MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	}
	if (strcmp(argv[1], "open") == 0) { /* what comes after Finalize may not be written to memory of the program */
		late = malloc(N * sizeof *late), never = malloc(sizeof *never);
		if (rank == 1) {
			for (int i = 0; i < N; i++) late[i] = -1;
			MPI_Irecv(never, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, q);
			MPI_Irecv(late, N, MPI_INT, 0, 8, MPI_COMM_WORLD, q + 1);
			MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			MPI_Finalize();
			for (int i = 0; i < N; i++)
				if (late[i] != -1) printf("changed\n");
			free(late), free(never);
			printf("1 ends\n");
			return 0;
		}
		MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		memset(late, 0, N * sizeof *late);
		MPI_Ssend(late, N, MPI_INT, 1, 8, MPI_COMM_WORLD);
	}
	if (strcmp(argv[1], "logical") == 0 && rank == 1) {
		long double in[] = {2, 0}, out[] = {0.5L, 3};
		MPI_Reduce_local(in, out, 2, MPI_LONG_DOUBLE, MPI_LXOR);
		if (out[0] != 0 || out[1] != 1) printf("combined to %Lg and %Lg\n", out[0], out[1]);
	}
	MPI_Finalize();
	printf("%d ends\n", rank);
	return 0;
}
