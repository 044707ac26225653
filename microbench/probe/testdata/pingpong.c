/* A plain ping-pong, as everybody writes it: the median over blocks of what half a round trip takes, in nanoseconds. pingpong BYTES FILE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 200, TRIPS = 50 };

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double half[BLOCKS + 1];
	int rank, bytes, i, k;
	char *buffer;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	bytes = argc > 2 ? atoi(argv[1]) : 0;
	buffer = calloc(bytes + 1, 1);
	for (i = 0; i <= BLOCKS; i++) {
		double begin;
		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		for (k = 0; k < TRIPS; k++) {
			if (rank == 0)
				MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (rank == 1)
				MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		}
		half[i] = (MPI_Wtime() - begin) / TRIPS / 2 * 1e9;
	}
	if (rank == 0) {
		FILE *f = fopen(argv[2], "w");
		qsort(half + 1, BLOCKS, sizeof *half, by_size); /* the first warms up */
		fprintf(f, "%.3f\n", half[1 + BLOCKS / 2]);
		fclose(f);
	}
	MPI_Finalize();
	return 0;
}
