// The communication patterns of programs_test.go: ./patterns PATTERN ROUNDS BYTES.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, rounds, bytes;

static char *allocate(int n) {
	char *b = calloc(n, bytes);
	if (!b) {
		fprintf(stderr, "patterns: no memory for %d messages of %d bytes\n", n, bytes);
		exit(1);
	}
	return b;
}

static void exchange_messages(void) {
	int peer = (rank + ranks / 2) % ranks;
	char *b = allocate(1);
	for (int i = 0; i < rounds; i++)
		if (rank < peer) {
			MPI_Send(b, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
			MPI_Recv(b, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(b, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(b, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
		}
	free(b);
}

static void exchange_halos(void) {
	int rows = 1;
	while (rows * rows < ranks)
		rows *= 2;
	int columns = ranks / rows, row = rank / columns, column = rank % columns;
	int neighbours[4] = {(row + 1) % rows * columns + column, (row + rows - 1) % rows * columns + column,
		row * columns + (column + 1) % columns, row * columns + (column + columns - 1) % columns};
	char *out = allocate(4), *in = allocate(4);
	MPI_Request requests[8];
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 4; k++)
			MPI_Irecv(in + k * bytes, bytes, MPI_BYTE, neighbours[k ^ 1], k, MPI_COMM_WORLD, &requests[k]);
		for (int k = 0; k < 4; k++)
			MPI_Isend(out + k * bytes, bytes, MPI_BYTE, neighbours[k], k, MPI_COMM_WORLD, &requests[4 + k]);
		MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
	}
	free(out);
	free(in);
}

static void call_collective(const char *name) {
	int n = strcmp(name, "alltoall") ? 1 : ranks;
	char *out = allocate(n), *in = allocate(n);
	for (int i = 0; i < rounds; i++)
		if (!strcmp(name, "allreduce"))
			MPI_Allreduce(out, in, bytes / 8, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
		else if (!strcmp(name, "alltoall"))
			MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
		else
			MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
	free(out);
	free(in);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	if (argc != 4) {
		fprintf(stderr, "usage: patterns PATTERN ROUNDS BYTES\n");
		return 1;
	}
	rounds = atoi(argv[2]), bytes = atoi(argv[3]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!strcmp(argv[1], "pingpong"))
		exchange_messages();
	else if (!strcmp(argv[1], "halo"))
		exchange_halos();
	else
		call_collective(argv[1]);
	MPI_Finalize();
	return 0;
}
