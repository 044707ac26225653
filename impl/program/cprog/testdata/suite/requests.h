/* Completion, persistent requests and cancelling. */

static void null_requests(void) {
	MPI_Request q = MPI_REQUEST_NULL, list[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	MPI_Status s, all[2];
	int flag, index, n, indices[2];
	MPI_Wait(&q, &s);
	say(" %d %d", s.MPI_SOURCE == MPI_ANY_SOURCE, s.MPI_TAG == MPI_ANY_TAG);
	MPI_Get_count(&s, MPI_INT, &n);
	say(" %d", n);
	MPI_Test(&q, &flag, &s);
	say(" %d", flag);
	MPI_Waitall(2, list, all);
	MPI_Waitany(2, list, &index, &s);
	say(" %d", index == MPI_UNDEFINED);
	MPI_Testany(2, list, &index, &flag, &s);
	say(" %d %d", flag, index == MPI_UNDEFINED);
	MPI_Testall(2, list, &flag, all);
	say(" %d", flag);
	MPI_Waitsome(2, list, &n, indices, all);
	say(" %d", n == MPI_UNDEFINED);
	MPI_Testsome(2, list, &n, indices, all);
	say(" %d", n == MPI_UNDEFINED);
	MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
}

static void wait_statuses(void) {
	int x[3] = {rank, rank, rank}, y[6], n;
	MPI_Request q[6];
	MPI_Status s[6];
	for (int i = 0; i < 3; i++) MPI_Irecv(&y[2 * i], 2, MPI_INT, before(), 10 + i, W, &q[i]);
	for (int i = 0; i < 3; i++) MPI_Isend(x, i % 2 + 1, MPI_INT, next(), 10 + i, W, &q[3 + i]);
	MPI_Waitall(6, q, s);
	for (int i = 0; i < 3; i++) {
		MPI_Get_count(&s[i], MPI_INT, &n);
		say(" %d/%d/%d", s[i].MPI_SOURCE, s[i].MPI_TAG, n);
	}
}

static void wait_any(void) {
	int y[4], index, sum = 0;
	MPI_Request q[4];
	MPI_Status s;
	for (int i = 0; i < 4; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	for (int i = 0; i < 4; i++) { int x = i * i; MPI_Send(&x, 1, MPI_INT, next(), i, W); }
	for (int i = 0; i < 4; i++) {
		MPI_Waitany(4, q, &index, &s);
		if (s.MPI_TAG != index || q[index] != MPI_REQUEST_NULL) say(" wrong");
		sum += y[index];
	}
	MPI_Waitany(4, q, &index, &s);
	say(" %d %d", sum, index == MPI_UNDEFINED);
}

static void wait_some(void) {
	int y[5], indices[5], n, total = 0, mask = 0;
	MPI_Request q[5];
	MPI_Status s[5];
	for (int i = 0; i < 5; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	for (int i = 4; i >= 0; i--) MPI_Send(&i, 1, MPI_INT, next(), i, W);
	while (total < 5) {
		MPI_Waitsome(5, q, &n, indices, s);
		for (int i = 0; i < n; i++) {
			mask |= 1 << indices[i];
			if (s[i].MPI_TAG != indices[i] || y[indices[i]] != indices[i]) say(" wrong");
		}
		total += n;
	}
	say(" %d %x", total, mask);
}

static void test_until(void) {
	int x = rank, y = -1, flag = 0;
	MPI_Request q;
	MPI_Status s;
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, W, &q);
	MPI_Send(&x, 1, MPI_INT, next(), 0, W);
	while (!flag) MPI_Test(&q, &flag, &s);
	say(" %d from %d %d", y, s.MPI_SOURCE, q == MPI_REQUEST_NULL);
}

static void test_lists(void) {
	int y[3], flag = 0, index, n, indices[3], total = 0;
	MPI_Request q[3];
	MPI_Status s[3];
	for (int i = 0; i < 3; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	MPI_Testall(3, q, &flag, s);
	say(" %d", flag);
	MPI_Barrier(W);
	for (int i = 0; i < 3; i++) MPI_Send(&i, 1, MPI_INT, next(), i, W);
	do MPI_Testany(3, q, &index, &flag, s);
	while (!flag);
	if (y[index] != index) say(" wrong");
	while (total < 2) {
		MPI_Testsome(3, q, &n, indices, s);
		total += n;
	}
	do MPI_Testall(3, q, &flag, s);
	while (!flag);
	say(" %d %d %d %d", total, y[0], y[1], y[2]);
}

static void persistent(void) {
	int x, y;
	MPI_Request q[2];
	MPI_Status s[2];
	MPI_Send_init(&x, 1, MPI_INT, next(), 3, W, &q[0]);
	MPI_Recv_init(&y, 1, MPI_INT, before(), 3, W, &q[1]);
	for (int i = 0; i < 3; i++) {
		x = 10 * rank + i;
		MPI_Startall(2, q);
		MPI_Waitall(2, q, s);
		say(" %d/%d", y, s[1].MPI_SOURCE);
		if (q[0] == MPI_REQUEST_NULL) say(" null");
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	say(" %d", q[0] == MPI_REQUEST_NULL && q[1] == MPI_REQUEST_NULL);
}

static void persistent_modes(void) {
	int x[3] = {rank, rank + 1, rank + 2}, y[3], n;
	char *b = malloc(MPI_BSEND_OVERHEAD + 64);
	void *back;
	MPI_Request q[6];
	MPI_Buffer_attach(b, MPI_BSEND_OVERHEAD + 64);
	MPI_Bsend_init(&x[0], 1, MPI_INT, next(), 0, W, &q[0]);
	MPI_Ssend_init(&x[1], 1, MPI_INT, next(), 1, W, &q[1]);
	MPI_Rsend_init(&x[2], 1, MPI_INT, next(), 2, W, &q[2]);
	for (int i = 0; i < 3; i++) MPI_Recv_init(&y[i], 1, MPI_INT, before(), i, W, &q[3 + i]);
	for (int k = 0; k < 2; k++) {
		MPI_Startall(3, q + 3);
		MPI_Barrier(W);
		for (int i = 0; i < 3; i++) MPI_Start(&q[i]);
		MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
		say(" %d %d %d", y[0], y[1], y[2]);
	}
	for (int i = 0; i < 6; i++) MPI_Request_free(&q[i]);
	MPI_Buffer_detach(&back, &n);
	free(b);
}

static void inactive(void) {
	int x = 1, flag, index;
	MPI_Request q;
	MPI_Status s;
	MPI_Send_init(&x, 1, MPI_INT, next(), 3, W, &q);
	MPI_Wait(&q, &s);
	MPI_Test(&q, &flag, &s);
	say(" %d %d", flag, q != MPI_REQUEST_NULL);
	MPI_Waitany(1, &q, &index, &s);
	say(" %d", index == MPI_UNDEFINED);
	MPI_Request_free(&q);
}

static void cancel_receive(void) {
	int x, flag;
	MPI_Request q;
	MPI_Status s;
	MPI_Irecv(&x, 1, MPI_INT, next(), 77, W, &q);
	MPI_Cancel(&q);
	MPI_Wait(&q, &s);
	MPI_Test_cancelled(&s, &flag);
	say(" %d", flag);
}

static void free_active(void) {
	int x = rank, y;
	MPI_Request q;
	MPI_Isend(&x, 1, MPI_INT, next(), 8, W, &q);
	MPI_Request_free(&q);
	MPI_Recv(&y, 1, MPI_INT, before(), 8, W, MPI_STATUS_IGNORE);
	MPI_Barrier(W);
	say(" %d %d", y, q == MPI_REQUEST_NULL);
}

static void one_of_two_halves(void) {
	int x[2] = {rank, rank + 1}, y[2], flag = 0, done = 0;
	MPI_Request q[4];
	MPI_Status s;
	for (int i = 0; i < 2; i++) MPI_Irecv(&y[i], 1, MPI_INT, before(), i, W, &q[i]);
	for (int i = 0; i < 2; i++) MPI_Issend(&x[i], 1, MPI_INT, next(), i, W, &q[2 + i]);
	while (done < 4) {
		int index;
		MPI_Testany(4, q, &index, &flag, &s);
		if (flag && index != MPI_UNDEFINED) done++;
	}
	say(" %d %d", y[0], y[1]);
}

static void statuses_of_some(void) {
	int x = rank, y[3], n, list[3], seen = 0;
	MPI_Request q[3];
	MPI_Status s[3];
	for (int i = 0; i < 3; i++) MPI_Irecv(&y[i], 1, MPI_INT, MPI_ANY_SOURCE, 20 + i, W, &q[i]);
	for (int i = 0; i < 3; i++) MPI_Send(&x, 1, MPI_INT, next(), 20 + i, W);
	while (seen < 3) {
		MPI_Testsome(3, q, &n, list, s);
		for (int i = 0; i < n; i++)
			if (s[i].MPI_SOURCE != before() || s[i].MPI_TAG != 20 + list[i]) say(" wrong");
		seen += n;
	}
	say(" %d", seen);
}

static void persistent_to_null(void) {
	int x = 3;
	MPI_Request q[2];
	MPI_Status s[2];
	MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W, &q[0]);
	MPI_Recv_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, W, &q[1]);
	MPI_Startall(2, q);
	MPI_Waitall(2, q, s);
	say(" %d", x);
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

static void persistent_tested(void) {
	int x = rank, y, flag;
	MPI_Request q[2];
	MPI_Send_init(&x, 1, MPI_INT, next(), 0, W, &q[0]);
	MPI_Recv_init(&y, 1, MPI_INT, before(), 0, W, &q[1]);
	for (int i = 0; i < 2; i++, x += 10) {
		MPI_Start(&q[1]);
		MPI_Start(&q[0]);
		do MPI_Testall(2, q, &flag, MPI_STATUSES_IGNORE);
		while (!flag);
		say(" %d", y);
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}
