/* Two threads of each rank exchange messages with those of the other one. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>

static int rank, rounds = 20;

static void *exchange(void *arg) {
	int tag = *(int *)arg, x = 0;
	double y = 1;
	static char data[3][20000];
	for (int i = 0; i < rounds; i++) {
		for (int k = 0; k < 20000; k++) y = y * 1.0001 + tag;
		if (rank == 0) {
			MPI_Send(data[tag], 1000 * tag + i, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
			MPI_Recv(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(data[tag], 20000, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(&x, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
		}
	}
	return y < 0 ? data : NULL;
}

int main(int argc, char **argv) {
	int provided, tags[2] = {1, 2};
	pthread_t thread;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_create(&thread, NULL, exchange, &tags[0]);
	exchange(&tags[1]);
	pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
