/* Buffers to send from and to receive into that share memory are errors of all collective operations, also of those that do
 * not wait, and of MPI_Reduce_local. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, accepted;

static void refuse(const char *name, int error) {
	int class = MPI_SUCCESS;
	if (error) MPI_Error_class(error, &class);
	if (class != MPI_ERR_BUFFER) accepted++, printf("rank %d: %s: class %d\n", rank, name, class);
}

int main(int argc, char **argv) {
	int x[8], y[8], counts[4] = {2, 2, 2, 2}, offsets[4] = {0, 2, 4, 6};
	MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
	MPI_Request q;
	MPI_Init(&argc, &argv);
	MPI_Comm c = MPI_COMM_WORLD;
	MPI_Comm_rank(c, &rank);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	if (rank == 0) {
		refuse("gatherv", MPI_Gatherv(x, 2, MPI_INT, x, counts, offsets, MPI_INT, 0, c));
		refuse("scatterv", MPI_Scatterv(x, counts, offsets, MPI_INT, x, 2, MPI_INT, 0, c));
		refuse("igatherv", MPI_Igatherv(x, 2, MPI_INT, x, counts, offsets, MPI_INT, 0, c, &q));
		refuse("iscatterv", MPI_Iscatterv(x, counts, offsets, MPI_INT, x, 2, MPI_INT, 0, c, &q));
	}
	refuse("allgatherv", MPI_Allgatherv(x + 2 * rank, 2, MPI_INT, x, counts, offsets, MPI_INT, c));
	refuse("iallgatherv", MPI_Iallgatherv(x + 2 * rank, 2, MPI_INT, x, counts, offsets, MPI_INT, c, &q));
	refuse("ialltoallv", MPI_Ialltoallv(x, counts, offsets, MPI_INT, x, counts, offsets, MPI_INT, c, &q));
	refuse("ialltoallw", MPI_Ialltoallw(x, counts, offsets, types, x, counts, offsets, types, c, &q));
	refuse("ireduce_scatter", MPI_Ireduce_scatter(x, x, counts, MPI_INT, MPI_SUM, c, &q));
	refuse("ireduce_scatter_block", MPI_Ireduce_scatter_block(x, x, 2, MPI_INT, MPI_SUM, c, &q));
	refuse("reduce_local", MPI_Reduce_local(x, x, 2, MPI_INT, MPI_SUM));
	refuse("reduce_local of a part", MPI_Reduce_local(x, x + 1, 2, MPI_INT, MPI_SUM));
	/* What only looks near is right: parts that take turns, and nothing at all. */
	int even[4] = {0, 2, 4, 6}, odd[4] = {1, 3, 5, 7}, ones[4] = {1, 1, 1, 1}, none[4] = {0, 0, 0, 0};
	for (int i = 0; i < 8; i++) x[i] = 10 * rank + i;
	MPI_Ialltoallv(x, ones, even, MPI_INT, x, ones, odd, MPI_INT, c, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Ialltoallv(x, none, even, MPI_INT, x, none, even, MPI_INT, c, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Reduce(&accepted, y, 1, MPI_INT, MPI_SUM, 0, c);
	if (rank == 0) printf("%d accepted; %d %d\n", y[0], x[1], x[3]);
	MPI_Finalize();
	return 0;
}
