// Copies of communicators between two groups: each lower rank copies two of them in the same order, and completes them in the other one.
// Messages on the copies do not meet those on the original. A copy keeps the error handler that it gets before it is complete.
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) { // 5 ranks
	int rank, me, near, far, upper, bad = 0, sum = 0;
	MPI_Comm half, across, copy[2];
	MPI_Request q[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	upper = rank >= 2;
	MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : 2, 7, &across);
	MPI_Comm_rank(across, &me);
	MPI_Comm_size(across, &near);
	MPI_Comm_remote_size(across, &far);
	MPI_Comm_idup(across, &copy[0], &q[0]);
	MPI_Comm_idup(across, &copy[1], &q[1]);
	MPI_Comm_set_errhandler(copy[1], MPI_ERRORS_RETURN);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	MPI_Errhandler handler[2];
	for (int i = 0; i < 2; i++) MPI_Comm_get_errhandler(copy[i], &handler[i]);
	bad += handler[0] == MPI_ERRORS_RETURN || handler[1] != MPI_ERRORS_RETURN;
	for (int i = 1; i >= 0; i--) {
		int inter, size, value = 100 * i + me, got = -1, all = 0;
		MPI_Request s;
		MPI_Comm_test_inter(copy[i], &inter);
		MPI_Comm_remote_size(copy[i], &size);
		bad += !inter || size != far;
		MPI_Isend(&value, 1, MPI_INT, me % far, 3, copy[i], &s);
		if (me < far)
			for (int from = me; from < far; from += near) {
				MPI_Recv(&got, 1, MPI_INT, from, 3, copy[i], MPI_STATUS_IGNORE);
				bad += got != 100 * i + from;
			}
		MPI_Wait(&s, MPI_STATUS_IGNORE);
		MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, copy[i]);
		bad += all != 100 * i * far + far * (far - 1) / 2;
		MPI_Comm_free(&copy[i]);
	}
	MPI_Reduce(&bad, &sum, 1, MPI_INT, MPI_SUM, 0, half);
	if (me == 0) printf("%d of %d and %d: %d\n", upper, near, far, sum);
	MPI_Comm_free(&across);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
