/* Loops that look for what never happens. The first argument says how. */
#include <mpi.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IS(name) if (strcmp(argv[1], name) == 0)

int main(int argc, char **argv) {
	int rank, size, other, found = 0, x, i;
	MPI_Request q;
	MPI_Message m;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	other = (rank + 1) % size;
	MPI_Irecv(&x, 1, MPI_INT, other, 4, MPI_COMM_WORLD, &q);
	IS("MPI_Iprobe") while (!found) MPI_Iprobe(other, 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	IS("MPI_Improbe") while (!found) MPI_Improbe(other, 4, MPI_COMM_WORLD, &found, &m, MPI_STATUS_IGNORE);
	IS("MPI_Test") while (!found) MPI_Test(&q, &found, MPI_STATUS_IGNORE);
	IS("MPI_Testall") while (!found) MPI_Testall(1, &q, &found, MPI_STATUSES_IGNORE);
	IS("MPI_Testany") while (!found) MPI_Testany(1, &q, &i, &found, MPI_STATUS_IGNORE);
	IS("MPI_Testsome") while (!found) MPI_Testsome(1, &q, &found, &i, MPI_STATUSES_IGNORE);
	IS("MPI_Request_get_status") while (!found) MPI_Request_get_status(q, &found, MPI_STATUS_IGNORE);
	IS("MPI_Wtime") for (;;) MPI_Wtime();
	IS("clock_gettime") for (;;) clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0});
	IS("both") while (!found) {
		MPI_Test(&q, &found, MPI_STATUS_IGNORE);
		MPI_Wtime();
	}
	IS("usleep") while (!found) {
		MPI_Test(&q, &found, MPI_STATUS_IGNORE);
		usleep(10);
	}
	IS("turns") for (volatile double y = 1, t = 0; t < 1e-4;) { /* how long does this take? */
		double begin = MPI_Wtime();
		for (i = 0; i < 1000; i++) y *= 1.0000001;
		t = MPI_Wtime() - begin;
	}
	MPI_Cancel(&q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
