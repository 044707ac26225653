/* Collective operations, communicators and windows of threads. */

THREAD(collectives) {
	MPI_Comm c = comms[me];
	int all[16], x, sum = 0;
	for (int i = 0; i < 5; i++) {
		x = rank + me * i;
		MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, c);
		sum += x;
		x = me * 10 + i;
		if (rank != i % size) x = 0;
		MPI_Bcast(&x, 1, MPI_INT, i % size, c);
		sum += x;
		MPI_Barrier(c);
		x = rank * me;
		MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, c);
		for (int k = 0; k < size; k++) sum += all[k] * (k + 1);
		x = 0;
		MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_MAX, size - 1, c);
		sum += x;
		MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, c);
		sum += x;
		for (int k = 0; k < size; k++) all[k] = rank * 100 + k + me;
		int each[16];
		MPI_Alltoall(all, 1, MPI_INT, each, 1, MPI_INT, c);
		for (int k = 0; k < size; k++) sum += each[k];
	}
	tell(me, " %d", sum);
}

THREAD(nonblocking_collectives) {
	MPI_Request q[3];
	int x = rank + me, y = -1, z = rank == 0 ? 5 + me : 0;
	MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comms[me], &q[0]);
	MPI_Ibcast(&z, 1, MPI_INT, 0, comms[me], &q[1]);
	MPI_Ibarrier(comms[me], &q[2]);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	tell(me, " %d %d", y, z);
}

/* An operation that calls MPI while other threads are in their own. */
static void own_sum(void *in, void *inout, int *n, MPI_Datatype *t) {
	int bytes;
	MPI_Type_size(*t, &bytes);
	sched_yield();
	for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i] * (bytes == 4);
}
THREAD(own_operations) {
	MPI_Op o;
	int x[3] = {rank, me, rank * me}, y[3];
	MPI_Op_create(own_sum, 1, &o);
	for (int i = 0; i < 3; i++) MPI_Allreduce(x, y, 1 + i, MPI_INT, o, comms[me]);
	MPI_Op_free(&o);
	tell(me, " %d %d %d", y[0], y[1], y[2]);
}

/* Threads of different ranks come to the creation of communicators in different order. */
THREAD(duplicates) {
	MPI_Comm d[4];
	int x, sum = 0;
	if ((rank + me) % 2) sched_yield();
	for (int i = 0; i < 4; i++) {
		MPI_Comm_dup(i == 0 ? comms[me] : d[i - 1], &d[i]);
		x = rank + i;
		MPI_Request q;
		int y, z = 1000 * me + 10 * i + rank;
		MPI_Irecv(&y, 1, MPI_INT, before(), 0, d[i], &q);
		MPI_Send(&z, 1, MPI_INT, next(), 0, d[i]);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		sum += y;
		MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, d[i]);
		sum += x;
	}
	for (int i = 0; i < 4; i++) MPI_Comm_free(&d[i]);
	tell(me, " %d", sum);
}

THREAD(split_and_freed) {
	int sum = 0;
	for (int i = 0; i < 5; i++) {
		MPI_Comm c;
		int n, r, x;
		MPI_Comm_split(comms[me], (rank + me + i) % 2, -rank, &c);
		MPI_Comm_size(c, &n);
		MPI_Comm_rank(c, &r);
		MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, c);
		sum += x * (r + 1) + n;
		MPI_Comm_free(&c);
	}
	tell(me, " %d", sum);
}

THREAD(duplicates_without_waiting) {
	MPI_Comm c[2];
	MPI_Request q[2];
	int x, y;
	for (int i = 0; i < 2; i++) MPI_Comm_idup(comms[me], &c[i], &q[i]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, c[0]);
	MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_MAX, c[1]);
	for (int i = 0; i < 2; i++) MPI_Comm_free(&c[i]);
	tell(me, " %d %d", x, y);
}

THREAD(intercommunicators) {
	if (size < 2) return;
	MPI_Comm half, inter, merged;
	int low = rank < size / 2, n, r, x;
	MPI_Comm_split(comms[me], low, rank, &half);
	MPI_Intercomm_create(half, 0, comms[me], low ? size / 2 : 0, 5, &inter);
	MPI_Comm_remote_size(inter, &n);
	MPI_Intercomm_merge(inter, low, &merged);
	MPI_Comm_rank(merged, &r);
	MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, merged);
	tell(me, " %d %d %d", n, r, x);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

/* Threads make communicators of one and the same communicator, and say by a tag which. */
THREAD(groups_with_tags) {
	MPI_Group all, g;
	MPI_Comm c;
	int ranks[16], n = 0, x = 0, own = rank + 10 * me;
	for (int i = 0; i < size; i++)
		if (i % 2 == me % 2 || size == 1) ranks[n++] = i;
	MPI_Comm_group(W, &all);
	MPI_Group_incl(all, n, ranks, &g);
	if (rank % 2 == me % 2 || size == 1) {
		if ((rank / 2 + me / 2) % 2) sched_yield(); /* ranks begin with different threads */
		for (int i = 0; i < 3; i++) {
			MPI_Comm_create_group(W, g, me, &c);
			if (c == MPI_COMM_NULL) return;
			MPI_Allreduce(&own, &x, 1, MPI_INT, MPI_SUM, c);
			MPI_Comm_free(&c);
		}
		tell(me, " %d %d", n, x);
	}
	MPI_Group_free(&g);
	MPI_Group_free(&all);
}

static int deleted[threads];
static int delete_it(MPI_Comm c, int key, void *value, void *extra) {
	deleted[(intptr_t)value]++;
	return MPI_SUCCESS;
}
THREAD(attributes) {
	MPI_Comm c, d;
	int key, flag, other;
	void *value = NULL;
	deleted[me] = 0;
	MPI_Comm_dup(comms[me], &c);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_it, &key, NULL);
	MPI_Comm_set_attr(c, key, (void *)(intptr_t)me);
	MPI_Comm_dup(c, &d);
	MPI_Comm_get_attr(d, key, &value, &flag);
	MPI_Comm_get_attr(comms[me], key, &value, &other);
	MPI_Comm_delete_attr(c, key);
	MPI_Comm_free(&d);
	MPI_Comm_free(&c);
	MPI_Comm_free_keyval(&key);
	tell(me, " %d %d %d deleted %d", (int)(intptr_t)value, flag, other, deleted[me]);
}

static int failures[threads];
static void note_failure(MPI_Comm *c, int *code, ...) {
	for (int i = 0; i < threads; i++) failures[i] += *c == comms[i];
}
THREAD(error_handlers) {
	MPI_Errhandler h;
	int x = 0;
	failures[me] = 0;
	MPI_Comm_create_errhandler(note_failure, &h);
	MPI_Comm_set_errhandler(comms[me], h);
	for (int i = 0; i <= me; i++) MPI_Send(&x, 1, MPI_INT, size + 5, 0, comms[me]);
	MPI_Comm_set_errhandler(comms[me], MPI_ERRORS_RETURN);
	int e = MPI_Send(&x, 1, MPI_INT, size + 5, 0, comms[me]);
	MPI_Errhandler_free(&h);
	tell(me, " %d %s", failures[me], class_of(e));
}

THREAD(own_windows) {
	long *x, y = -1, z = 100 * rank + me;
	MPI_Win w;
	MPI_Win_allocate(2 * sizeof *x, sizeof *x, MPI_INFO_NULL, comms[me], &x, &w);
	x[0] = x[1] = 0;
	MPI_Win_fence(0, w);
	MPI_Accumulate(&z, 1, MPI_LONG, next(), 1, 1, MPI_LONG, MPI_REPLACE, w);
	MPI_Win_fence(0, w);
	MPI_Get(&y, 1, MPI_LONG, next(), 1, 1, MPI_LONG, w);
	MPI_Win_fence(0, w);
	tell(me, " %ld %ld", x[1], y);
	MPI_Win_free(&w);
}
