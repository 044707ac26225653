// A Jacobi iteration on a grid in two dimensions: halos by non-blocking messages, columns by a vector
// type. Computing takes a time of the clock, and 1.4 times as long on one rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 32 };
static double a[2][n + 2][n + 2];

// compute computes until so many seconds have passed.
static void compute(double seconds) {
	double begin = MPI_Wtime();
	while (MPI_Wtime() - begin < seconds) ;
}

int main(int argc, char **argv) {
	int rank, size, dims[2] = {0, 0}, periods[2] = {0, 0}, up, down, left, right;
	int rounds = argc > 1 ? atoi(argv[1]) : 100, slow = argc > 2 ? atoi(argv[2]) : -1;
	MPI_Comm grid;
	MPI_Datatype column;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	MPI_Comm_rank(grid, &rank);
	MPI_Cart_shift(grid, 0, 1, &up, &down);
	MPI_Cart_shift(grid, 1, 1, &left, &right);
	MPI_Type_vector(n, 1, n + 2, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	if (up == MPI_PROC_NULL) for (int j = 0; j < n + 2; j++) a[0][0][j] = a[1][0][j] = 1;
	double change = 1;
	for (int round = 0; round < rounds; round++) {
		double (*now)[n + 2] = a[round & 1], (*next)[n + 2] = a[!(round & 1)];
		MPI_Request r[8];
		MPI_Irecv(&now[0][1], n, MPI_DOUBLE, up, 0, grid, &r[0]);
		MPI_Irecv(&now[n + 1][1], n, MPI_DOUBLE, down, 0, grid, &r[1]);
		MPI_Irecv(&now[1][0], 1, column, left, 0, grid, &r[2]);
		MPI_Irecv(&now[1][n + 1], 1, column, right, 0, grid, &r[3]);
		MPI_Isend(&now[1][1], n, MPI_DOUBLE, up, 0, grid, &r[4]);
		MPI_Isend(&now[n][1], n, MPI_DOUBLE, down, 0, grid, &r[5]);
		MPI_Isend(&now[1][1], 1, column, left, 0, grid, &r[6]);
		MPI_Isend(&now[1][n], 1, column, right, 0, grid, &r[7]);
		MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
		double local = 0;
		for (int i = 1; i <= n; i++)
			for (int j = 1; j <= n; j++) {
				next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4;
				local += (next[i][j] - now[i][j]) * (next[i][j] - now[i][j]);
			}
		compute(rank == slow ? 14e-3 : 10e-3);
		MPI_Allreduce(&local, &change, 1, MPI_DOUBLE, MPI_SUM, grid);
	}
	if (rank == 0) printf("change %g after %d rounds\n", change, rounds);
	MPI_Type_free(&column);
	MPI_Finalize();
	return 0;
}
