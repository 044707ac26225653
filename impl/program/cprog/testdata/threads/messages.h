/* Messages between threads. */

static void *level_in_thread(void *arg) {
	int level, main_thread, flag;
	MPI_Query_thread(&level);
	MPI_Is_thread_main(&main_thread);
	MPI_Initialized(&flag);
	tell((int)(intptr_t)arg, " %d %d %d", level == MPI_THREAD_MULTIPLE, main_thread, flag);
	return NULL;
}
static void levels(void) {
	int level, main_thread;
	MPI_Query_thread(&level);
	MPI_Is_thread_main(&main_thread);
	say(" %d %d %d", provided == MPI_THREAD_MULTIPLE, level == provided, main_thread);
	run_threads(level_in_thread);
}

THREAD(ping_pong) {
	int other = rank ^ 1, x, sum = 0;
	if (other >= size) return;
	for (int i = 0; i < 20; i++) {
		x = 1000 * rank + 100 * me + i;
		if (rank < other) {
			MPI_Send(&x, 1, MPI_INT, other, me, W);
			MPI_Recv(&x, 1, MPI_INT, other, me, W, MPI_STATUS_IGNORE);
		} else {
			int y = x;
			MPI_Recv(&x, 1, MPI_INT, other, me, W, MPI_STATUS_IGNORE);
			MPI_Send(&y, 1, MPI_INT, other, me, W);
		}
		sum += x;
	}
	tell(me, " %d", sum);
}

THREAD(ring_of_synchronous_messages) {
	int x = rank, y = -1;
	MPI_Request q;
	for (int i = 0; i < size; i++) {
		MPI_Irecv(&y, 1, MPI_INT, before(), 0, comms[me], &q);
		MPI_Ssend(&x, 1, MPI_INT, next(), 0, comms[me]);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		x = y + me;
	}
	tell(me, " %d", x);
}

/* Each thread waits for the receive of another one of the next rank. */
THREAD(large_messages) {
	enum { n = 40000 };
	int *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), wrong = 0;
	for (int i = 0; i < n; i++) x[i] = i + rank * 7 + me;
	MPI_Request q;
	MPI_Irecv(y, n, MPI_INT, before(), (me + 1) % threads, W, &q);
	MPI_Send(x, n, MPI_INT, next(), me, W);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++) wrong += y[i] != i + before() * 7 + (me + 1) % threads;
	tell(me, " %d", wrong);
	free(x);
	free(y);
}

THREAD_AND_MAIN(to_oneself)
static void to_oneself_body(int me) {
	MPI_Status s;
	int x = -1;
	MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 10 + me, MPI_COMM_SELF, &s);
	tell(me, " %d from %d", x, s.MPI_SOURCE);
}
static void to_oneself_main(void) {
	for (int i = threads - 1; i >= 0; i--) {
		int x = 100 * rank + i;
		MPI_Send(&x, 1, MPI_INT, 0, 10 + i, MPI_COMM_SELF);
	}
}

/* Thread 0 waits for thread 1 of the same rank, and so on in a ring through all ranks. */
THREAD(to_another_thread) {
	int x = 0;
	if (rank == 0 && me == 0) {
		MPI_Send(&x, 1, MPI_INT, 0, 1, W);
		MPI_Recv(&x, 1, MPI_INT, size - 1, 0, W, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(&x, 1, MPI_INT, me == 0 ? rank - 1 : rank, me, W, MPI_STATUS_IGNORE);
		x += 10 * rank + me;
		MPI_Send(&x, 1, MPI_INT, me == threads - 1 ? (rank + 1) % size : rank, (me + 1) % threads, W);
	}
	tell(me, " %d", x);
}

THREAD(probes_of_own_tags) {
	int x[8] = {0}, n;
	MPI_Status s;
	MPI_Request q;
	for (int i = 0; i < 8; i++) x[i] = rank + i;
	MPI_Isend(x, me + 2, MPI_INT, next(), me, W, &q);
	int y[8] = {0};
	MPI_Probe(MPI_ANY_SOURCE, me, W, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	MPI_Recv(y, n, MPI_INT, s.MPI_SOURCE, me, W, MPI_STATUS_IGNORE);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	tell(me, " %d %d %d", n, s.MPI_SOURCE, y[n - 1]);
}

static int matched_sum;
static pthread_mutex_t matched_lock = PTHREAD_MUTEX_INITIALIZER;
static void *matched_probes_thread(void *arg) {
	MPI_Message m;
	MPI_Status s;
	int x, n;
	for (int i = 0; i < 3; i++) {
		MPI_Mprobe(MPI_ANY_SOURCE, 77, W, &m, &s);
		MPI_Get_count(&s, MPI_INT, &n);
		MPI_Mrecv(&x, 1, MPI_INT, &m, &s);
		pthread_mutex_lock(&matched_lock);
		matched_sum += x * n;
		pthread_mutex_unlock(&matched_lock);
	}
	return NULL;
}
static void matched_probes_of_one_tag(void) {
	matched_sum = 0;
	start_threads(matched_probes_thread);
	for (int i = 0; i < 3 * threads; i++) {
		int x = 1 << i;
		MPI_Send(&x, 1, MPI_INT, next(), 77, W);
	}
	join_threads();
	say(" %d", matched_sum);
}

static MPI_Request of_threads[2 * threads];
static int sent[threads], received[threads];
static void *requests_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	sent[me] = 10 * rank + me;
	received[me] = -1;
	MPI_Irecv(&received[me], 1, MPI_INT, before(), me, W, &of_threads[me]);
	MPI_Isend(&sent[me], 1, MPI_INT, next(), me, W, &of_threads[threads + me]);
	return NULL;
}
static void requests_of_another_thread(void) {
	run_threads(requests_thread);
	MPI_Waitall(2 * threads, of_threads, MPI_STATUSES_IGNORE);
	for (int i = 0; i < threads; i++) say(" %d", received[i]);
}

static void *completing_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	MPI_Status s;
	MPI_Wait(&of_threads[me], &s);
	tell(me, " %d from %d", received[me], s.MPI_SOURCE);
	MPI_Wait(&of_threads[threads + me], MPI_STATUS_IGNORE);
	return NULL;
}
static void requests_for_another_thread(void) {
	for (int i = 0; i < threads; i++) {
		sent[i] = 10 * rank + i;
		MPI_Irecv(&received[i], 1, MPI_INT, before(), i, W, &of_threads[i]);
	}
	for (int i = 0; i < threads; i++) MPI_Issend(&sent[i], 1, MPI_INT, next(), i, W, &of_threads[threads + i]);
	run_threads(completing_thread);
}

static pthread_barrier_t meeting;
static void *cancelling_thread(void *arg) {
	int me = (int)(intptr_t)arg, x, flag;
	MPI_Status s;
	MPI_Irecv(&x, 1, MPI_INT, before(), 1000 + me, W, &of_threads[me]);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	MPI_Wait(&of_threads[me], &s);
	MPI_Test_cancelled(&s, &flag);
	tell(me, " %d", flag);
	return NULL;
}
static void cancelled_by_another_thread(void) {
	pthread_barrier_init(&meeting, NULL, threads + 1);
	start_threads(cancelling_thread);
	pthread_barrier_wait(&meeting);
	for (int i = 0; i < threads; i++) MPI_Cancel(&of_threads[i]);
	pthread_barrier_wait(&meeting);
	join_threads();
	pthread_barrier_destroy(&meeting);
}

THREAD_AND_MAIN(polling)
static volatile int polled;
static void polling_body(int me) {
	int x = -1, flag = 0;
	MPI_Status s;
	MPI_Request q;
	if (me % 2) {
		MPI_Irecv(&x, 1, MPI_INT, before(), me, W, &q);
		while (!flag) MPI_Test(&q, &flag, &s);
	} else {
		while (!flag) MPI_Iprobe(before(), me, W, &flag, &s);
		MPI_Recv(&x, 1, MPI_INT, before(), me, W, &s);
	}
	tell(me, " %d %d", x, s.MPI_TAG);
}
static void polling_main(void) {
	for (int i = 0; i < threads; i++) {
		int x = rank + i;
		MPI_Send(&x, 1, MPI_INT, next(), i, W);
	}
}

THREAD(any_and_some) {
	int x[4], y[4], indices[4], n, at, sum = 0, done = 0;
	MPI_Request q[8];
	for (int i = 0; i < 4; i++) {
		x[i] = 100 * me + i;
		MPI_Irecv(&y[i], 1, MPI_INT, before(), 10 * me + i, W, &q[i]);
	}
	for (int i = 3; i >= 0; i--) MPI_Isend(&x[i], 1, MPI_INT, next(), 10 * me + i, W, &q[4 + i]);
	MPI_Waitany(4, q, &at, MPI_STATUS_IGNORE);
	sum += y[at];
	done = 1;
	while (done < 4) {
		MPI_Waitsome(4, q, &n, indices, MPI_STATUSES_IGNORE);
		for (int i = 0; i < n; i++) sum += y[indices[i]];
		done += n;
	}
	MPI_Waitall(4, q + 4, MPI_STATUSES_IGNORE);
	tell(me, " %d", sum);
}

THREAD(persistent) {
	int x, y, sum = 0;
	MPI_Request q[2];
	MPI_Recv_init(&y, 1, MPI_INT, before(), me, comms[me], &q[0]);
	MPI_Send_init(&x, 1, MPI_INT, next(), me, comms[me], &q[1]);
	for (int i = 0; i < 5; i++) {
		x = rank + i * me;
		MPI_Startall(2, q);
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
		sum += y;
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
	tell(me, " %d", sum);
}
