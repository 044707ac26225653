/* Memory that the ranks of a node share. On machines whose nodes have one rank, each is alone. */

static MPI_Comm node(int *me, int *n) {
	MPI_Comm c;
	MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
	MPI_Comm_rank(c, me);
	MPI_Comm_size(c, n);
	return c;
}

static void shared_by_neighbours(void) {
	int *x, *theirs, me, n, unit, *flavor, flag;
	MPI_Aint bytes;
	MPI_Comm near = node(&me, &n);
	MPI_Win w;
	MPI_Win_allocate_shared((2 + me) * sizeof *x, sizeof *x, MPI_INFO_NULL, near, &x, &w);
	MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
	say(" %d", *flavor == MPI_WIN_FLAVOR_SHARED);
	MPI_Win_shared_query(w, (me + 1) % n, &bytes, &unit, &theirs);
	say(" %d %d", bytes == (MPI_Aint)((2 + (me + 1) % n) * sizeof *x), unit);
	MPI_Win_lock_all(0, w);
	theirs[1] = me; /* a store to memory of another rank */
	MPI_Win_sync(w);
	MPI_Barrier(near);
	MPI_Win_sync(w);
	say(" %d", x[1] == (me + n - 1) % n);
	MPI_Win_unlock_all(w);
	MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &theirs);
	say(" %d", (int)(bytes / sizeof *x));
	MPI_Win_free(&w);
	MPI_Comm_free(&near);
}

static void shared_and_accessed(void) {
	int *x, *first, me, n, unit;
	MPI_Aint bytes;
	MPI_Comm near = node(&me, &n);
	MPI_Win w;
	MPI_Win_allocate_shared(2 * sizeof *x, sizeof *x, MPI_INFO_NULL, near, &x, &w);
	x[0] = x[1] = 0;
	MPI_Win_fence(0, w);
	int v = me + 1;
	MPI_Accumulate(&v, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	MPI_Win_shared_query(w, 0, &bytes, &unit, &first);
	say(" %d", first[1] == n * (n + 1) / 2);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	MPI_Comm_free(&near);
}

/* The part of a rank that contributes no memory has no address. */
static void shared_without_memory(void) {
	int *x, *theirs, me, n, unit;
	MPI_Aint bytes;
	MPI_Comm near = node(&me, &n);
	MPI_Info i;
	MPI_Win w;
	MPI_Info_create(&i);
	MPI_Info_set(i, "alloc_shared_noncontig", "true");
	MPI_Win_allocate_shared(me % 2 ? 0 : 3 * sizeof *x, sizeof *x, i, near, &x, &w);
	for (int k = 0; k < n; k++) {
		MPI_Win_shared_query(w, k, &bytes, &unit, &theirs);
		if (bytes < (k % 2 ? 0 : (MPI_Aint)(3 * sizeof *x)) || k % 2 && theirs != NULL || k % 2 == 0 && theirs == NULL) say(" rank %d wrong", k);
	}
	say(" queried");
	MPI_Info_free(&i);
	MPI_Win_free(&w);
	MPI_Comm_free(&near);
}
