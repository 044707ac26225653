// What threads of OpenMP may do to a rank.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int deep(int n) { volatile char b[1000]; b[n % 1000] = 1; return n == 0 ? b[3] : deep(n - 1) + b[5]; }
static int run(int r, const char *how, int more) {
	int x = 0;
#pragma omp parallel num_threads(3)
	{
		int t = omp_get_thread_num();
		if (r == 1 && t == 2 && !strcmp(how, "worker")) *(volatile int *)0x18 = 1;
		if (r == 1 && t == 0 && !strcmp(how, "master")) *(volatile int *)0x18 = 1;
		if (r == 1 && t == 0 && !strcmp(how, "stack")) deep(1000000 + more);
		if (r == 1 && t == 1 && !strcmp(how, "exit")) exit(5);
		if (r == 1 && t == 1 && !strcmp(how, "abort")) abort();
		if (t == 0 && !strcmp(how, "critical")) { // all ranks are in it at once
#pragma omp critical
			MPI_Allreduce(&r, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		}
#pragma omp barrier
	}
	return x;
}
int main(int c, char **v) {
	int r;
	MPI_Init(&c, &v);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	int x = run(r, v[1], c);
	if (r == 0 && x) printf("%d\n", x);
	MPI_Finalize();
	return 0;
}
