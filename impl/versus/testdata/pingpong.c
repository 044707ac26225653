/*
 * A plain ping-pong, as everybody writes it: pingpong BYTES:TRIPS:BLOCKS... prints for each the bytes and the median over blocks of half a round trip in
 * nanoseconds. One more block before them warms up.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int rank, size, a;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2) {
		fprintf(stderr, "%d ranks, and 2 are needed\n", size);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (a = 1; a < argc; a++) {
		int bytes, trips, blocks, i, k;
		double *half;
		char *out, *in;

		if (sscanf(argv[a], "%d:%d:%d", &bytes, &trips, &blocks) != 3) {
			fprintf(stderr, "%s is not BYTES:TRIPS:BLOCKS\n", argv[a]);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		half = malloc((blocks + 1) * sizeof *half);
		out = memset(malloc(bytes + 1), 1, bytes + 1); /* written, or all pages are one page of zeroes */
		in = memset(malloc(bytes + 1), 2, bytes + 1);
		for (i = 0; i <= blocks; i++) {
			double begin = MPI_Wtime();
			for (k = 0; k < trips; k++) {
				if (rank == 0)
					MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
				MPI_Recv(in, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				if (rank == 1)
					MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
			}
			half[i] = (MPI_Wtime() - begin) / trips / 2 * 1e9;
		}
		qsort(half + 1, blocks, sizeof *half, by_size);
		if (rank == 0)
			printf("%d %.3f\n", bytes, half[1 + blocks / 2]);
		fflush(stdout);
		free(half);
		free(out);
		free(in);
	}
	MPI_Finalize();
	return 0;
}
