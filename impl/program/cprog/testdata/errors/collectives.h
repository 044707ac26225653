/* Wrong calls of collective operations: every rank makes them, so none has to wait for another. */

static int in[64], out[64];

static void wrong_roots(void) {
	MPI_Request q;
	WRONG(MPI_Bcast(in, 1, MPI_INT, size, W));
	WRONG(MPI_Bcast(in, 1, MPI_INT, -10, W));
	WRONG(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size, W));
	WRONG(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, W));
	WRONG(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, -5, W));
	WRONG(MPI_Gatherv(in, 1, MPI_INT, out, in, in, MPI_INT, size, W));
	WRONG(MPI_Scatterv(in, in, in, MPI_INT, out, 0, MPI_INT, size, W));
	WRONG(MPI_Ibcast(in, 1, MPI_INT, size, W, &q));
	WRONG(MPI_Ireduce(in, out, 1, MPI_INT, MPI_SUM, size, W, &q));
	WRONG(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, size, W, &q));
}

static void wrong_operations(void) {
	double x = 0, y;
	MPI_Op o = MPI_OP_NULL;
	WRONG(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_OP_NULL, W));
	WRONG(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, W));
	WRONG(MPI_Scan(&x, &y, 1, MPI_DOUBLE, MPI_BOR, W));
	WRONG(MPI_Op_free(&o));
	WRONG(MPI_Reduce_local(&x, &y, 1, MPI_DOUBLE, MPI_BXOR));
	o = MPI_SUM;
	WRONG(MPI_Op_free(&o));
}
