#include <mpi.h>
#include <stdio.h>
#include <string.h>
/* The last rank takes or gives less than the others in blocking collective operations: it, or the root that it
   gives to, has the error, and the others go on. MPICH has the same errors but for MPI_Scatter, of which it has none. */
static int a[400000], b[400000];
static int bad, r, n;
static void expect(const char *what, int ints, int e, int wrong) {
	int k; MPI_Error_class(e, &k);
	if (k != (wrong ? MPI_ERR_TRUNCATE : MPI_SUCCESS)) { bad++; printf("rank %d, %s of %d: class %d\n", r, what, ints, k); }
}
int main(int c, char **v) {
	MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (c < 2 || strcmp(v[1], "fatal")) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int sizes[] = {10, 1000, 100000}, last = r == n - 1, counts[8], offsets[8];
	for (int i = 0; i < 3; i++) {
		int m = sizes[i], few = last ? m - 3 : m;
		for (int k = 0; k < n; k++) counts[k] = m, offsets[k] = k * m;
		b[few] = -5;
		expect("bcast", m, MPI_Bcast(b, few, MPI_INT, 0, MPI_COMM_WORLD), last);
		if (last && b[few] != -5) bad++, printf("bcast of %d writes behind its buffer\n", m);
		expect("scatter", m, MPI_Scatter(a, m, MPI_INT, b, few, MPI_INT, 0, MPI_COMM_WORLD), last);
		expect("scatterv", m, MPI_Scatterv(a, counts, offsets, MPI_INT, b, few, MPI_INT, 0, MPI_COMM_WORLD), last);
		int more = last ? m + 3 : m;
		expect("gather", m, MPI_Gatherv(a, more, MPI_INT, b, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD), r == 0);
		MPI_Barrier(MPI_COMM_WORLD);
		int sum = 0;
		expect("allreduce", m, MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), 0);
		if (sum != n * (n - 1) / 2) bad++, printf("sum %d\n", sum);
	}
	printf("bad %d\n", bad);
	MPI_Finalize();
	return 0;
}
