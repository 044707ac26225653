// Threads of OpenMP call MPI one at a time.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
int main(int c, char **v) {
	int p, r, n, sum = 0, mains = 0;
	MPI_Init_thread(&c, &v, MPI_THREAD_MULTIPLE, &p);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(4)
		{
#pragma omp critical
			{
				int x = r, y, own;
				MPI_Sendrecv(&x, 1, MPI_INT, (r + 1) % n, 0, &y, 1, MPI_INT, (r + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				MPI_Is_thread_main(&own);
				sum += y;
				mains += own;
			}
#pragma omp barrier
#pragma omp single
			{
				int x = 1;
				MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
				sum += x;
			}
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		if (i == r) printf("%d: serialized %d, %d %d\n", r, p == MPI_THREAD_SERIALIZED, sum, mains);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
