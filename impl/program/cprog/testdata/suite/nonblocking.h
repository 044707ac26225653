/* Non-blocking collective operations. */

static void ibarriers(void) {
	MPI_Request q[2];
	int flag = 0;
	MPI_Ibarrier(W, &q[0]);
	MPI_Ibarrier(W, &q[1]);
	while (!flag) MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	say(" %d %d", q[0] == MPI_REQUEST_NULL, q[1] == MPI_REQUEST_NULL);
}

static void ibcasts(void) {
	MPI_Request q[16];
	int x[16][2];
	for (int root = 0; root < size; root++) {
		x[root][0] = x[root][1] = rank == root ? 10 + root : -1;
		MPI_Ibcast(x[root], 2, MPI_INT, root, W, &q[root]);
	}
	MPI_Waitall(size, q, MPI_STATUSES_IGNORE);
	for (int root = 0; root < size; root++) say(" %d,%d", x[root][0], x[root][1]);
}

static void igathers(void) {
	MPI_Request q[2];
	int x = rank * rank, y = -1, *all = calloc(size, sizeof *all);
	MPI_Igather(&x, 1, MPI_INT, all, 1, MPI_INT, size - 1, W, &q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	MPI_Iscatter(all, 1, MPI_INT, &y, 1, MPI_INT, size - 1, W, &q[1]);
	MPI_Wait(&q[1], MPI_STATUS_IGNORE);
	say(" %d", y);
	free(all);
}

static void igather_in_place(void) {
	MPI_Request q;
	int x = rank + 5, *all = calloc(size, sizeof *all);
	all[0] = 77;
	if (rank == 0) MPI_Igather(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, 0, W, &q);
	else MPI_Igather(&x, 1, MPI_INT, NULL, 0, MPI_INT, 0, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (rank == 0) for (int i = 0; i < size; i++) say(" %d", all[i]);
	if (rank == 0) MPI_Iscatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, W, &q);
	else MPI_Iscatter(NULL, 0, MPI_INT, &x, 1, MPI_INT, 0, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d", x);
	free(all);
}

static void igathervs(void) {
	MPI_Request q;
	int counts[16], at[16], x[4] = {rank, rank + 1, rank + 2, rank + 3}, y[4] = {-1, -1, -1, -1}, all[64];
	for (int i = 0; i < size; i++) { counts[i] = i % 3; at[i] = 4 * i; }
	for (int i = 0; i < 64; i++) all[i] = -1;
	MPI_Igatherv(x, rank % 3, MPI_INT, all, counts, at, MPI_INT, 0, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (rank == 0) for (int i = 0; i < 4 * size; i++) say(" %d", all[i]);
	MPI_Iscatterv(all, counts, at, MPI_INT, y, rank % 3, MPI_INT, 0, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d %d", y[0], y[1]);
}

static void iallgathers(void) {
	MPI_Request q[3];
	int counts[16], at[16], x[2] = {rank, -rank}, y[32], z[32], v[32];
	for (int i = 0; i < size; i++) { counts[i] = 1 + i % 2; at[i] = 2 * i; }
	for (int i = 0; i < 32; i++) v[i] = -9;
	z[rank] = rank + 3;
	MPI_Iallgather(x, 2, MPI_INT, y, 2, MPI_INT, W, &q[0]);
	MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, z, 1, MPI_INT, W, &q[1]);
	MPI_Iallgatherv(x, counts[rank], MPI_INT, v, counts, at, MPI_INT, W, &q[2]);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	for (int i = 0; i < size; i++) say(" %d,%d,%d,%d,%d", y[2 * i], y[2 * i + 1], z[i], v[2 * i], v[2 * i + 1]);
}

static void ialltoalls(void) {
	MPI_Request q[3];
	int counts[16], at[16], x[32], y[32], v[32];
	MPI_Datatype types[16];
	int bytes[16], w[32];
	for (int i = 0; i < size; i++) { counts[i] = (rank + i) % 3 > 0; at[i] = 2 * i; bytes[i] = 8 * i; types[i] = MPI_INT; }
	for (int i = 0; i < 32; i++) { x[i] = 100 * rank + i; y[i] = v[i] = w[i] = -1; }
	MPI_Ialltoall(x, 1, MPI_INT, y, 1, MPI_INT, W, &q[0]);
	MPI_Ialltoallv(x, counts, at, MPI_INT, v, counts, at, MPI_INT, W, &q[1]);
	MPI_Ialltoallw(x, counts, bytes, types, w, counts, bytes, types, W, &q[2]);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	for (int i = 0; i < size; i++) say(" %d,%d,%d", y[i], v[2 * i], w[2 * i]);
}

static void ireduces(void) {
	MPI_Request q[2];
	int x[2] = {rank + 1, -rank}, y[2] = {0}, z[2];
	MPI_Ireduce(x, y, 2, MPI_INT, MPI_SUM, size / 2, W, &q[0]);
	MPI_Iallreduce(x, z, 2, MPI_INT, MPI_MAX, W, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	if (rank == size / 2) say(" %d,%d", y[0], y[1]);
	say(" %d,%d", z[0], z[1]);
	MPI_Iallreduce(MPI_IN_PLACE, x, 2, MPI_INT, MPI_PROD, W, &q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	say(" %d,%d", x[0], x[1]);
}

static void ireduces_in_order(void) {
	MPI_Request q;
	MPI_Op op;
	MPI_Datatype t;
	char x[16] = {'a' + rank}, y[16] = "";
	MPI_Type_contiguous(16, MPI_CHAR, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(concatenate, 0, &op);
	MPI_Iallreduce(x, y, 1, t, op, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %s", y);
	MPI_Iscan(x, y, 1, t, op, W, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %s", y);
	MPI_Op_free(&op);
	MPI_Type_free(&t);
}

static void iscans(void) {
	MPI_Request q[2];
	int x = rank + 1, y = -1, z = -1;
	MPI_Iscan(&x, &y, 1, MPI_INT, MPI_SUM, W, &q[0]);
	MPI_Iexscan(&x, &z, 1, MPI_INT, MPI_SUM, W, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	say(" %d", y);
	if (rank > 0) say(" %d", z);
}

static void ireduce_scatters(void) {
	MPI_Request q[2];
	int counts[16], x[32], y[4] = {-1, -1, -1, -1}, z[2];
	for (int i = 0; i < size; i++) counts[i] = i % 3;
	for (int i = 0; i < 32; i++) x[i] = i + rank;
	MPI_Ireduce_scatter(x, y, counts, MPI_INT, MPI_SUM, W, &q[0]);
	MPI_Ireduce_scatter_block(x, z, 2, MPI_INT, MPI_MAX, W, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	say(" %d %d %d %d", y[0], y[1], z[0], z[1]);
}

/* Messages and collective operations in one list, completed one by one. */
static void mixed_any(void) {
	MPI_Request q[3];
	MPI_Status s;
	int x = rank, y = -1, z = 1, index, seen = 0;
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, W, &q[0]);
	MPI_Ibcast(&z, 1, MPI_INT, 0, W, &q[1]);
	MPI_Isend(&x, 1, MPI_INT, next(), 0, W, &q[2]);
	for (int i = 0; i < 3; i++) {
		MPI_Waitany(3, q, &index, &s);
		seen |= 1 << index;
	}
	MPI_Waitany(3, q, &index, &s);
	say(" %d %x %d", y, seen, index == MPI_UNDEFINED);
}

static void mixed_some(void) {
	MPI_Request q[3];
	MPI_Status s[3];
	int x = rank, y = -1, n, list[3], total = 0, flag = 0;
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, W, &q[0]);
	MPI_Ibarrier(W, &q[1]);
	MPI_Isend(&x, 1, MPI_INT, next(), 0, W, &q[2]);
	while (total < 3) {
		MPI_Waitsome(3, q, &n, list, s);
		total += n;
	}
	MPI_Testsome(3, q, &n, list, s);
	say(" %d %d", y, n == MPI_UNDEFINED);
	MPI_Irecv(&y, 1, MPI_INT, next(), 0, W, &q[0]);
	MPI_Ibarrier(W, &q[1]);
	MPI_Isend(&x, 1, MPI_INT, before(), 0, W, &q[2]);
	while (!flag) MPI_Testall(3, q, &flag, s);
	say(" %d %d", y, q[1] == MPI_REQUEST_NULL);
}

/* A collective operation makes progress while its rank waits for something else. */
static void progress_elsewhere(void) {
	MPI_Request q;
	int x = rank == 0 ? 42 : -1, y = 0;
	MPI_Ibcast(&x, 1, MPI_INT, 0, W, &q);
	if (size > 1 && rank == 0) MPI_Recv(&y, 1, MPI_INT, 1, 0, W, MPI_STATUS_IGNORE);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, W);
	say(" %d %d", x, y);
}

static void blocking_between(void) {
	MPI_Request q;
	int x = rank, y = -1, z = -1;
	MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, W, &q);
	MPI_Allreduce(&x, &z, 1, MPI_INT, MPI_MAX, W);
	MPI_Barrier(W);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d %d", y, z);
}

static void get_status(void) {
	MPI_Request q, p;
	MPI_Status s;
	int x = rank, y = -1, flag = 0;
	MPI_Irecv(&y, 1, MPI_INT, before(), 4, W, &q);
	MPI_Isend(&x, 1, MPI_INT, next(), 4, W, &p);
	while (!flag) MPI_Request_get_status(q, &flag, &s);
	say(" %d from %d %d", y, s.MPI_SOURCE, q != MPI_REQUEST_NULL);
	MPI_Wait(&q, &s);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	say(" %d", s.MPI_TAG);
	MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &s);
	say(" %d", flag);
}
