/* Large messages: rank 1 prints whether what it has received is right. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(argv[1], "message")) {
		int n = 300 << 20;
		char *b = malloc(n);
		if (rank == 0) {
			memset(b, 7, n);
			MPI_Send(b, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		} else {
			MPI_Recv(b, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			puts(b[0] == 7 && b[n - 1] == 7 && !memcmp(b, b + 1, n - 1) ? "ok" : "wrong");
		}
		free(b);
	} else if (!strcmp(argv[1], "overlapping")) { /* the same number again and again */
		double x = 1;
		MPI_Datatype t;
		MPI_Type_create_hvector(INT_MAX, 1, 0, MPI_DOUBLE, &t);
		MPI_Type_commit(&t);
		if (rank == 0)
			MPI_Send(&x, 1, t, 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (!strcmp(argv[1], "type")) { /* one element of more than INT_MAX bytes */
		MPI_Datatype part, t;
		long size = 3L << 30;
		MPI_Type_contiguous(1 << 20, MPI_CHAR, &part);
		MPI_Type_contiguous(3 << 10, part, &t);
		MPI_Type_commit(&t);
		char *a = malloc(size), *b = malloc(size);
		MPI_Sendrecv(a, 1, t, 1 - rank, 0, b, 1, t, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		free(a);
		free(b);
	}
	MPI_Finalize();
	return 0;
}
