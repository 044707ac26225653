/* Messages that are longer than their receives, and wrong arguments of point-to-point calls. Open MPI cuts off messages of a
 * rank to itself without an error. */

static int long_message[300];

static void truncated_receives(void) {
	int lengths[] = {4, 300}, y[2] = {-1, -1};
	MPI_Request q;
	MPI_Status s;
	if (size == 1) return;
	for (int i = 0; i < 2; i++) {
		MPI_Isend(long_message, lengths[i], MPI_INT, next(), i, W, &q);
		WRONG(MPI_Recv(y, 1, MPI_INT, before(), i, W, &s));
		say(" %d %d", s.MPI_SOURCE == before(), s.MPI_TAG);
		FAILS(MPI_Wait(&q, MPI_STATUS_IGNORE));
	}
	say(" %d", y[1]);
}

/* The communicator works on after the error. */
static void truncated_and_received_again(void) {
	int x[3] = {rank, 5, 7}, y[3] = {0, 0, 0}, sum;
	MPI_Request q[2];
	if (size == 1) return;
	MPI_Isend(x, 3, MPI_INT, next(), 1, W, &q[0]);
	MPI_Isend(x, 3, MPI_INT, next(), 1, W, &q[1]);
	WRONG(MPI_Recv(y, 2, MPI_INT, before(), 1, W, MPI_STATUS_IGNORE));
	WRONG(MPI_Recv(y, 3, MPI_INT, before(), 1, W, MPI_STATUS_IGNORE));
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Allreduce(&y[0], &sum, 1, MPI_INT, MPI_SUM, W);
	say(" %d %d %d %d", y[0], y[1], y[2], sum);
}

static void truncated_in_all_statuses(void) {
	int y[2][4], e;
	MPI_Request q[4];
	MPI_Status s[4];
	if (size == 1) return;
	memset(y, 0, sizeof y);
	MPI_Irecv(y[0], 1, MPI_INT, before(), 0, W, &q[0]);
	MPI_Irecv(y[1], 4, MPI_INT, before(), 1, W, &q[1]);
	MPI_Barrier(apart);
	MPI_Isend(long_message, 4, MPI_INT, next(), 0, W, &q[2]);
	MPI_Isend(long_message, 4, MPI_INT, next(), 1, W, &q[3]);
	for (int i = 0; i < 4; i++) s[i].MPI_ERROR = -1;
	MPI_Barrier(apart);
	e = MPI_Waitall(4, q, s);
	say(" %s", class_of(e));
	if (e == MPI_SUCCESS) return;
	say(" %s", class_of(s[0].MPI_ERROR));
	/* The others are done or pending, and can be waited for. */
	for (int i = 1; i < 4; i++) say(" %d", s[i].MPI_ERROR == MPI_SUCCESS || s[i].MPI_ERROR == MPI_ERR_PENDING);
	WRONG(MPI_Waitall(3, q + 1, MPI_STATUSES_IGNORE));
	say(" %d", q[0] == MPI_REQUEST_NULL);
}

static void truncated_in_some_statuses(void) {
	int y[4], n, index[2], wrong = 0, done = 0;
	MPI_Request q[2], p[2];
	MPI_Status s[2];
	if (size == 1) return;
	MPI_Irecv(y, 1, MPI_INT, before(), 0, W, &q[0]);
	MPI_Irecv(y + 1, 2, MPI_INT, before(), 1, W, &q[1]);
	MPI_Barrier(apart);
	MPI_Isend(long_message, 3, MPI_INT, next(), 0, W, &p[0]);
	MPI_Isend(long_message, 2, MPI_INT, next(), 1, W, &p[1]);
	while (done < 2) {
		int e = MPI_Waitsome(2, q, &n, index, s);
		if (n == MPI_UNDEFINED) break;
		done += n;
		if (e == MPI_SUCCESS) continue;
		for (int i = 0; i < n; i++)
			if (s[i].MPI_ERROR != MPI_SUCCESS) {
				wrong++;
				say(" %s %s %d", class_of(e), class_of(s[i].MPI_ERROR), index[i]);
			}
	}
	say(" %d %d", wrong, done);
	MPI_Waitall(2, p, MPI_STATUSES_IGNORE);
}

static void truncated_in_any_status(void) {
	int y[2], index, flag = 0, e = 0;
	MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, p;
	if (size == 1) return;
	MPI_Irecv(y, 1, MPI_INT, before(), 0, W, &q[1]);
	MPI_Isend(long_message, 3, MPI_INT, next(), 0, W, &p);
	WRONG(MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE));
	say(" %d %d", index, q[1] == MPI_REQUEST_NULL);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	MPI_Irecv(y, 1, MPI_INT, before(), 0, W, &q[0]);
	MPI_Isend(long_message, 3, MPI_INT, next(), 0, W, &p);
	while (!flag && e == MPI_SUCCESS) e = MPI_Test(&q[0], &flag, MPI_STATUS_IGNORE);
	say(" %s %d", class_of(e), q[0] == MPI_REQUEST_NULL);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
}

static void truncated_exchange(void) {
	int y = 0;
	MPI_Status s;
	if (size == 1) return;
	WRONG(MPI_Sendrecv(long_message, 3, MPI_INT, next(), 0, &y, 1, MPI_INT, before(), 0, W, &s));
	WRONG(MPI_Sendrecv(long_message, 1, MPI_INT, next(), 0, &y, 1, MPI_INT, before(), 0, W, &s));
}

static void truncated_persistent(void) {
	int y[2];
	MPI_Request q, p;
	if (size == 1) return;
	MPI_Recv_init(y, 2, MPI_INT, before(), 0, W, &q);
	for (int n = 3; n >= 1; n--) {
		MPI_Start(&q);
		MPI_Isend(long_message, n, MPI_INT, next(), 0, W, &p);
		WRONG(MPI_Wait(&q, MPI_STATUS_IGNORE));
		MPI_Wait(&p, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&q);
}

static void wrong_ranks(void) {
	int x = 0, flag;
	MPI_Request q;
	MPI_Status s;
	MPI_Message m;
	WRONG(MPI_Isend(&x, 1, MPI_INT, size, 0, W, &q));
	WRONG(MPI_Ssend(&x, 1, MPI_INT, size + 5, 0, W));
	WRONG(MPI_Bsend(&x, 1, MPI_INT, -20, 0, W));
	WRONG(MPI_Rsend(&x, 1, MPI_INT, size, 0, W));
	WRONG(MPI_Send_init(&x, 1, MPI_INT, size, 0, W, &q));
	WRONG(MPI_Recv_init(&x, 1, MPI_INT, size, 0, W, &q));
	WRONG(MPI_Irecv(&x, 1, MPI_INT, size, 0, W, &q));
	WRONG(MPI_Iprobe(size, 0, W, &flag, &s));
	WRONG(MPI_Probe(-80, 0, W, &s));
	WRONG(MPI_Mprobe(size, 0, W, &m, &s));
	WRONG(MPI_Improbe(size, 0, W, &flag, &m, &s));
	WRONG(MPI_Sendrecv(&x, 1, MPI_INT, size, 0, &x, 1, MPI_INT, 0, 0, W, &s));
	WRONG(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 0, size, 0, W, &s));
}

static void wrong_tags(void) {
	int x = 0, flag, *bound;
	MPI_Request q;
	MPI_Status s;
	WRONG(MPI_Isend(&x, 1, MPI_INT, 0, -3, W, &q));
	WRONG(MPI_Ssend(&x, 1, MPI_INT, 0, -1000, W));
	WRONG(MPI_Irecv(&x, 1, MPI_INT, 0, -1000, W, &q));
	WRONG(MPI_Iprobe(0, -1000, W, &flag, &s));
	WRONG(MPI_Sendrecv(&x, 1, MPI_INT, 0, -7, &x, 1, MPI_INT, 0, 0, W, &s));
	MPI_Comm_get_attr(W, MPI_TAG_UB, &bound, &flag);
	if (*bound < INT32_MAX) WRONG(MPI_Isend(&x, 1, MPI_INT, 0, *bound + 1, W, &q));
	else say(" tag");
}

static void wrong_counts(void) {
	int x = 0;
	MPI_Request q;
	MPI_Status s;
	WRONG(MPI_Isend(&x, -1, MPI_INT, 0, 0, W, &q));
	WRONG(MPI_Irecv(&x, -2, MPI_INT, 0, 0, W, &q));
	WRONG(MPI_Ssend(&x, -3, MPI_INT, 0, 0, W));
	WRONG(MPI_Sendrecv(&x, -1, MPI_INT, 0, 0, &x, 1, MPI_INT, 0, 0, W, &s));
	WRONG(MPI_Bcast(&x, -1, MPI_INT, 0, W));
}

static void wrong_handles(void) {
	int x = 0, flag;
	MPI_Request q = MPI_REQUEST_NULL;
	MPI_Status s;
	WRONG(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &s));
	WRONG(MPI_Isend(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &q));
	WRONG(MPI_Recv(&x, 1, MPI_DATATYPE_NULL, 0, 0, W, &s));
	WRONG(MPI_Sendrecv(&x, 1, MPI_DATATYPE_NULL, 0, 0, &x, 1, MPI_INT, 0, 0, W, &s));
	WRONG(MPI_Start(&q));
	WRONG(MPI_Cancel(&q));
	WRONG(MPI_Request_free(&q));
	WRONG(MPI_Wait(&q, &s));
	WRONG(MPI_Test(&q, &flag, &s));
	say(" %d", flag);
}

static void wrong_request_lists(void) {
	int index, flag, n;
	MPI_Request q[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status s[2];
	FAILS(MPI_Waitall(-1, q, s));
	FAILS(MPI_Waitany(-1, q, &index, s));
	FAILS(MPI_Testall(-1, q, &flag, s));
	FAILS(MPI_Testsome(-1, q, &n, &index, s));
	WRONG(MPI_Startall(2, q));
	WRONG(MPI_Waitall(2, q, s));
	WRONG(MPI_Waitany(2, q, &index, s));
	say(" %d", index == MPI_UNDEFINED);
}
