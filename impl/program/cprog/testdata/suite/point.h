/* Sends, receives and probes. */

static void send_ring(void) {
	int x = rank, y = -1;
	MPI_Status s;
	if (size == 1) { say(" alone"); return; }
	if (rank == 0) {
		MPI_Send(&x, 1, MPI_INT, 1, 5, W);
		MPI_Recv(&y, 1, MPI_INT, size - 1, 5, W, &s);
	} else {
		MPI_Recv(&y, 1, MPI_INT, rank - 1, 5, W, &s);
		y += rank;
		MPI_Send(&y, 1, MPI_INT, next(), 5, W);
	}
	say(" %d from %d tag %d", y, s.MPI_SOURCE, s.MPI_TAG);
}

static void to_self(void) {
	int x[3] = {rank, 7, 9}, y[3] = {0};
	MPI_Request q;
	MPI_Status s;
	MPI_Irecv(y, 3, MPI_INT, rank, 1, W, &q);
	MPI_Send(x, 3, MPI_INT, rank, 1, W);
	MPI_Wait(&q, &s);
	say(" %d %d %d from %d", y[0], y[1], y[2], s.MPI_SOURCE);
}

static void any_source(void) {
	int x = 100 + rank, y, sum = 0, seen = 0;
	MPI_Status s;
	if (rank > 0) { MPI_Send(&x, 1, MPI_INT, 0, rank, W); return; }
	for (int i = 1; i < size; i++) {
		MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &s);
		sum += y;
		seen |= 1 << s.MPI_SOURCE;
		if (s.MPI_SOURCE != s.MPI_TAG) say(" wrong");
	}
	say(" sum %d seen %x", sum, seen);
}

static void order(void) {
	int y;
	MPI_Status s;
	if (size == 1) return;
	if (rank == 1) for (int i = 0; i < 8; i++) MPI_Send(&i, 1, MPI_INT, 0, i % 2, W);
	if (rank > 0) return;
	for (int i = 0; i < 4; i++) { MPI_Recv(&y, 1, MPI_INT, 1, 1, W, &s); say(" %d", y); }
	for (int i = 0; i < 4; i++) { MPI_Recv(&y, 1, MPI_INT, 1, MPI_ANY_TAG, W, &s); say(" %d/%d", y, s.MPI_TAG); }
}

static void modes(void) {
	int x[4] = {rank, rank + 1, rank + 2, rank + 3}, y[4];
	MPI_Request q[4];
	char *b = malloc(4 * (MPI_BSEND_OVERHEAD + 16));
	void *back;
	int n;
	for (int i = 0; i < 4; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	MPI_Barrier(W);
	MPI_Buffer_attach(b, 4 * (MPI_BSEND_OVERHEAD + 16));
	MPI_Send(&x[0], 1, MPI_INT, next(), 0, W);
	MPI_Bsend(&x[1], 1, MPI_INT, next(), 1, W);
	MPI_Ssend(&x[2], 1, MPI_INT, next(), 2, W);
	MPI_Rsend(&x[3], 1, MPI_INT, next(), 3, W);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	MPI_Buffer_detach(&back, &n);
	say(" %d %d %d %d back %d %d", y[0], y[1], y[2], y[3], back == b, n == 4 * (MPI_BSEND_OVERHEAD + 16));
	free(b);
}

static void immediate_modes(void) {
	int x[4] = {rank, rank + 1, rank + 2, rank + 3}, y[4];
	MPI_Request q[8];
	char *b = malloc(MPI_BSEND_OVERHEAD + 64);
	void *back;
	int n;
	for (int i = 0; i < 4; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	MPI_Barrier(W);
	MPI_Buffer_attach(b, MPI_BSEND_OVERHEAD + 64);
	MPI_Isend(&x[0], 1, MPI_INT, next(), 0, W, &q[4]);
	MPI_Ibsend(&x[1], 1, MPI_INT, next(), 1, W, &q[5]);
	MPI_Issend(&x[2], 1, MPI_INT, next(), 2, W, &q[6]);
	MPI_Irsend(&x[3], 1, MPI_INT, next(), 3, W, &q[7]);
	MPI_Waitall(8, q, MPI_STATUSES_IGNORE);
	MPI_Buffer_detach(&back, &n);
	for (int i = 0; i < 8; i++) if (q[i] != MPI_REQUEST_NULL) say(" not null");
	say(" %d %d %d %d", y[0], y[1], y[2], y[3]);
	free(b);
}

static void sizes(void) {
	int lengths[] = {0, 1, 7, 100, 4096, 100000};
	for (int i = 0; i < 6; i++) {
		int n = lengths[i];
		char *x = malloc(n + 1), *y = calloc(n + 1, 1);
		MPI_Request q;
		MPI_Status s;
		int got;
		for (int k = 0; k < n; k++) x[k] = (k * 7 + rank) & 127;
		MPI_Irecv(y, n, MPI_CHAR, before(), i, W, &q);
		MPI_Send(x, n, MPI_CHAR, next(), i, W);
		MPI_Wait(&q, &s);
		MPI_Get_count(&s, MPI_CHAR, &got);
		int right = 1;
		for (int k = 0; k < n; k++) right &= y[k] == ((k * 7 + before()) & 127);
		say(" %d/%d", got, right);
		free(x);
		free(y);
	}
}

static void shorter(void) {
	double x[3] = {1, 2, 3}, y[10] = {0};
	int n, e;
	MPI_Status s;
	MPI_Sendrecv(x, 3, MPI_DOUBLE, next(), 3, y, 10, MPI_DOUBLE, before(), 3, W, &s);
	MPI_Get_count(&s, MPI_DOUBLE, &n);
	MPI_Get_elements(&s, MPI_DOUBLE, &e);
	say(" %d %d %g %g", n, e, y[2], y[3]);
}

static void sendrecv(void) {
	int x = rank * 10, y;
	MPI_Status s;
	MPI_Sendrecv(&x, 1, MPI_INT, next(), 1, &y, 1, MPI_INT, before(), 1, W, &s);
	say(" %d from %d", y, s.MPI_SOURCE);
	MPI_Sendrecv_replace(&x, 1, MPI_INT, before(), 2, next(), 2, W, &s);
	say(" %d from %d", x, s.MPI_SOURCE);
}

static void proc_null(void) {
	int x = 42, n;
	MPI_Status s;
	MPI_Request q;
	MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W);
	MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d %d %d %d", x, n, s.MPI_SOURCE == MPI_PROC_NULL, s.MPI_TAG == MPI_ANY_TAG);
	MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W, &q);
	MPI_Wait(&q, &s);
	MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W, &q);
	MPI_Wait(&q, &s);
	say(" %d", q == MPI_REQUEST_NULL);
	MPI_Sendrecv(&rank, 1, MPI_INT, rank == size - 1 ? MPI_PROC_NULL : rank + 1, 0, &x, 1, MPI_INT, rank == 0 ? MPI_PROC_NULL : rank - 1, 0, W, &s);
	say(" %d", x);
}

static void probes(void) {
	int x[5] = {1, 2, 3, 4, 5}, n, flag;
	MPI_Status s;
	MPI_Request q;
	MPI_Isend(x, 1 + rank % 5, MPI_INT, next(), 50 + rank, W, &q);
	MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, W, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d from %d tag %d", n, s.MPI_SOURCE, s.MPI_TAG);
	int *y = malloc(n * sizeof *y);
	do MPI_Iprobe(before(), MPI_ANY_TAG, W, &flag, &s);
	while (!flag);
	MPI_Recv(y, n, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, W, MPI_STATUS_IGNORE);
	say(" last %d", y[n - 1]);
	free(y);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Iprobe(MPI_ANY_SOURCE, 4711, W, &flag, &s);
	say(" nothing %d", flag);
}

static void status_fields(void) {
	MPI_Status s;
	int n;
	MPI_Status_set_elements(&s, MPI_INT, 5);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d", n);
	MPI_Get_elements(&s, MPI_INT, &n);
	say(" %d", n);
	MPI_Status_set_cancelled(&s, 1);
	MPI_Test_cancelled(&s, &n);
	say(" %d", n);
}

static void partial_count(void) {
	char x[6] = "abcde";
	int n;
	MPI_Status s;
	MPI_Datatype pair;
	MPI_Type_contiguous(2, MPI_CHAR, &pair);
	MPI_Type_commit(&pair);
	char y[10];
	MPI_Sendrecv(x, 5, MPI_CHAR, rank, 0, y, 5, pair, rank, 0, W, &s);
	MPI_Get_count(&s, pair, &n);
	say(" %d", n == MPI_UNDEFINED);
	MPI_Get_elements(&s, pair, &n);
	say(" %d", n);
	MPI_Type_free(&pair);
}

static void many_at_once(void) {
	enum { n = 50 };
	int x[n], *y = malloc(n * size * sizeof *y), sum = 0;
	MPI_Request *q = malloc(2 * n * size * sizeof *q);
	int k = 0;
	for (int r = 0; r < size; r++)
		for (int i = 0; i < n; i++) MPI_Irecv(&y[r * n + i], 1, MPI_INT, r, i, W, &q[k++]);
	for (int i = 0; i < n; i++) x[i] = rank * 1000 + i;
	for (int r = 0; r < size; r++)
		for (int i = 0; i < n; i++) MPI_Isend(&x[i], 1, MPI_INT, r, i, W, &q[k++]);
	MPI_Waitall(k, q, MPI_STATUSES_IGNORE);
	for (int r = 0; r < size; r++)
		for (int i = 0; i < n; i++) sum += y[r * n + i] == r * 1000 + i;
	say(" %d of %d", sum, n * size);
	free(y);
	free(q);
}

static void wildcards_by_probe(void) {
	int n = size - 1, x = rank, got = 0;
	if (rank > 0) { MPI_Ssend(&x, 1, MPI_INT, 0, 3, W); return; }
	while (n-- > 0) {
		MPI_Status s;
		int y;
		MPI_Probe(MPI_ANY_SOURCE, 3, W, &s);
		MPI_Recv(&y, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, W, &s);
		got += y == s.MPI_SOURCE;
	}
	say(" %d", got);
}

static void self_in_all_modes(void) {
	int x[2] = {rank, 4}, y[2] = {0};
	MPI_Request q;
	MPI_Issend(&x[0], 1, MPI_INT, rank, 0, W, &q);
	MPI_Recv(&y[0], 1, MPI_INT, rank, 0, W, MPI_STATUS_IGNORE);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Irecv(&y[1], 1, MPI_INT, rank, 1, W, &q);
	MPI_Rsend(&x[1], 1, MPI_INT, rank, 1, W);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	say(" %d %d", y[0], y[1]);
}

static void exchange_all(void) {
	int sum = 0;
	for (int k = 0; k < size; k++) {
		int to = (rank + k) % size, from = (rank + size - k) % size, x = 10 * rank + to, y;
		MPI_Sendrecv(&x, 1, MPI_INT, to, k, &y, 1, MPI_INT, from, k, W, MPI_STATUS_IGNORE);
		sum += y == 10 * from + rank;
	}
	say(" %d", sum);
}

static void large_tags(void) {
	int *ub, flag, x = rank, y;
	MPI_Status s;
	MPI_Comm_get_attr(W, MPI_TAG_UB, &ub, &flag);
	MPI_Sendrecv(&x, 1, MPI_INT, next(), *ub, &y, 1, MPI_INT, before(), MPI_ANY_TAG, W, &s);
	say(" %d %d", y, s.MPI_TAG == *ub);
}

static void kinds_of_elements(void) {
	float f = rank + 0.5f, g;
	long l = 1L << 40, m;
	char c = 'a' + rank, d;
	unsigned short u = 65535 - rank, v;
	MPI_Sendrecv(&f, 1, MPI_FLOAT, next(), 0, &g, 1, MPI_FLOAT, before(), 0, W, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&l, 1, MPI_LONG, next(), 0, &m, 1, MPI_LONG, before(), 0, W, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&c, 1, MPI_CHAR, next(), 0, &d, 1, MPI_CHAR, before(), 0, W, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&u, 1, MPI_UNSIGNED_SHORT, next(), 0, &v, 1, MPI_UNSIGNED_SHORT, before(), 0, W, MPI_STATUS_IGNORE);
	say(" %g %ld %c %d", g, m, d, v);
}

static void buffered_many(void) {
	enum { n = 10 };
	int bytes = n * (MPI_BSEND_OVERHEAD + 8), got;
	char *b = malloc(bytes);
	void *back;
	MPI_Buffer_attach(b, bytes);
	for (int i = 0; i < n; i++) MPI_Bsend(&i, 1, MPI_INT, next(), i, W);
	for (int i = n - 1; i >= 0; i--) {
		int y;
		MPI_Recv(&y, 1, MPI_INT, before(), i, W, MPI_STATUS_IGNORE);
		if (y != i) say(" wrong");
	}
	MPI_Buffer_detach(&back, &got);
	say(" %d", back == b && got == bytes);
	free(b);
}

static void matched(void) {
	MPI_Message m;
	MPI_Request q, p;
	MPI_Status s;
	int x[3] = {rank, 8, 9}, y[3] = {0}, n, flag = 0;
	MPI_Isend(x, 3, MPI_INT, next(), 30 + rank, W, &q);
	MPI_Mprobe(before(), MPI_ANY_TAG, W, &m, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	MPI_Mrecv(y, n, MPI_INT, &m, &s);
	say(" %d %d %d from %d tag %d %d", y[0], y[1], y[2], s.MPI_SOURCE, s.MPI_TAG, m == MPI_MESSAGE_NULL);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Isend(x, 2, MPI_INT, before(), 40, W, &q);
	while (!flag) MPI_Improbe(next(), 40, W, &flag, &m, &s);
	MPI_Imrecv(y, 3, MPI_INT, &m, &p);
	MPI_Wait(&p, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d from %d %d", n, s.MPI_SOURCE, y[0]);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Mprobe(MPI_PROC_NULL, 0, W, &m, &s);
	say(" %d", m == MPI_MESSAGE_NO_PROC);
	MPI_Mrecv(y, 3, MPI_INT, &m, &s);
	say(" %d", s.MPI_SOURCE == MPI_PROC_NULL);
}
