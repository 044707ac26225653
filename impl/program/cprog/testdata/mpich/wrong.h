/* Wrong calls under MPI_ERRORS_RETURN that Open MPI carries out. */
#define WRONG(call) say(" %s", class_of(call))

static int in[64], out[64];

static void truncated_matched(void) {
	int y[2];
	MPI_Request p;
	MPI_Message m;
	MPI_Status s;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Isend(in, 3, MPI_INT, next(), 0, W, &p);
	MPI_Mprobe(before(), 0, W, &m, &s);
	WRONG(MPI_Mrecv(y, 2, MPI_INT, &m, &s));
	MPI_Wait(&p, MPI_STATUS_IGNORE);
}

static void aliased_buffers(void) {
	int *x = calloc(4 * size, sizeof *x), counts[64], places[64];
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < size; i++) {
		counts[i] = 1;
		places[i] = i;
	}
	WRONG(MPI_Allreduce(x, x, 1, MPI_INT, MPI_SUM, W));
	if (rank == 0) WRONG(MPI_Reduce(x, x, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF));
	WRONG(MPI_Scan(x, x, 1, MPI_INT, MPI_SUM, W));
	WRONG(MPI_Exscan(x, x, 1, MPI_INT, MPI_SUM, W));
	WRONG(MPI_Allgather(x + rank, 1, MPI_INT, x, 1, MPI_INT, W));
	WRONG(MPI_Allgatherv(x + rank, 1, MPI_INT, x, counts, places, MPI_INT, W));
	WRONG(MPI_Alltoall(x, 1, MPI_INT, x, 1, MPI_INT, W));
	WRONG(MPI_Alltoallv(x, counts, places, MPI_INT, x, counts, places, MPI_INT, W));
	WRONG(MPI_Gather(x, 1, MPI_INT, x, 1, MPI_INT, 0, MPI_COMM_SELF));
	WRONG(MPI_Scatter(x, 1, MPI_INT, x, 1, MPI_INT, 0, MPI_COMM_SELF));
	WRONG(MPI_Reduce_scatter_block(x, x, 1, MPI_INT, MPI_SUM, W));
	WRONG(MPI_Reduce_scatter(x, x, counts, MPI_INT, MPI_SUM, W));
	free(x);
}

static void aliased_nonblocking_buffers(void) {
	int *x = calloc(4 * size, sizeof *x);
	MPI_Request q;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	WRONG(MPI_Iallreduce(x, x, 1, MPI_INT, MPI_SUM, W, &q));
	WRONG(MPI_Iallgather(x + rank, 1, MPI_INT, x, 1, MPI_INT, W, &q));
	WRONG(MPI_Ialltoall(x, 1, MPI_INT, x, 1, MPI_INT, W, &q));
	WRONG(MPI_Iscan(x, x, 1, MPI_INT, MPI_SUM, W, &q));
	WRONG(MPI_Igather(x, 1, MPI_INT, x, 1, MPI_INT, 0, MPI_COMM_SELF, &q));
	free(x);
}

static void keys_of_other_objects(void) {
	int type_key, comm_key, x = 0, *p, flag;
	MPI_Datatype t;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Type_contiguous(1, MPI_INT, &t);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
	WRONG(MPI_Comm_set_attr(W, type_key, &x));
	WRONG(MPI_Type_set_attr(t, comm_key, &x));
	WRONG(MPI_Comm_get_attr(W, type_key, &p, &flag));
	WRONG(MPI_Type_delete_attr(t, comm_key));
	MPI_Type_free_keyval(&type_key);
	MPI_Comm_free_keyval(&comm_key);
	MPI_Type_free(&t);
}

/* Objects have the error handler of W until they get another one. This comes first, while W has none either. */
static void inherited_handlers(void) {
	MPI_Comm c, grid = W;
	MPI_Group g;
	MPI_Win w;
	int x = 0, key, sides[2] = {size, 2}, periods[2] = {0, 0};
	MPI_Comm_dup(W, &c);
	MPI_Comm_group(c, &g);
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, c, &w);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	WRONG(MPI_Comm_create(c, g, NULL));
	WRONG(MPI_Comm_create_group(c, g, 0, NULL));
	WRONG(MPI_Comm_split(c, 0, 0, NULL));
	WRONG(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL));
	WRONG(MPI_Win_set_attr(w, key, &x));
	say(" %d", MPI_Cart_create(W, 2, sides, periods, 0, &grid) != MPI_SUCCESS && grid == MPI_COMM_NULL);
	MPI_Comm_free_keyval(&key);
	MPI_Win_free(&w);
	MPI_Group_free(&g);
	MPI_Comm_free(&c);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
}
