/* Fences, post-start-complete-wait, locks and flushes. */

static void fences_with_assertions(void) {
	int x = -1;
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
	MPI_Put(&rank, 1, MPI_INT, next(), 0, 1, MPI_INT, w);
	MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, w);
	say(" %d", x);
	MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, w);
	MPI_Put(&size, 1, MPI_INT, next(), 0, 1, MPI_INT, w);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
	say(" %d", x);
	MPI_Win_free(&w);
}

static void gets_see_earlier_puts_of_others(void) {
	enum { n = 5000 };
	static int x[n], y[n], z[n];
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	int wrong = 0;
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < n; i++) y[i] = round * 100 + rank;
		MPI_Win_fence(0, w);
		MPI_Put(y, n, MPI_INT, next(), 0, n, MPI_INT, w);
		MPI_Win_fence(0, w);
		MPI_Get(z, n, MPI_INT, before(), 0, n, MPI_INT, w);
		MPI_Win_fence(0, w);
		for (int i = 0; i < n; i++) wrong += z[i] != round * 100 + (before() + size - 1) % size;
	}
	say(" %d", wrong);
	MPI_Win_free(&w);
}

static void post_start_complete_wait(void) {
	int x[16] = {0}, values[16];
	MPI_Group all;
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Comm_group(W, &all);
	for (int round = 0; round < 3; round++) {
		MPI_Win_post(all, 0, w);
		MPI_Win_start(all, 0, w);
		for (int i = 0; i < size; i++) {
			values[i] = 100 * round + 10 * rank + i;
			MPI_Put(&values[i], 1, MPI_INT, i, rank, 1, MPI_INT, w);
		}
		MPI_Win_complete(w);
		MPI_Win_wait(w);
		for (int i = 0; i < size; i++) say(" %d", x[i]);
	}
	MPI_Group_free(&all);
	MPI_Win_free(&w);
}

static void posted_and_tested(void) {
	int x = 0, flag = 0, zero = 0;
	MPI_Group all, first;
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Comm_group(W, &all);
	MPI_Group_incl(all, 1, &zero, &first);
	if (rank == 0) MPI_Win_post(all, 0, w);
	MPI_Win_start(first, 0, w);
	int v = rank + 1;
	MPI_Accumulate(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
	MPI_Win_complete(w);
	if (rank == 0)
		while (!flag) MPI_Win_test(w, &flag);
	say(" %d", x);
	MPI_Group_free(&all);
	MPI_Group_free(&first);
	MPI_Win_free(&w);
}

/* Each rank exposes its memory to the next one only, and some assert that nobody need wait. */
static void groups_of_two(void) {
	int x[2] = {-1, -1}, to = next(), from = before();
	MPI_Group all, targets, origins;
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Comm_group(W, &all);
	MPI_Group_incl(all, 1, &to, &targets);
	MPI_Group_incl(all, 1, &from, &origins);
	MPI_Win_post(origins, 0, w);
	MPI_Win_start(targets, 0, w);
	MPI_Put(&rank, 1, MPI_INT, to, 0, 1, MPI_INT, w);
	MPI_Win_complete(w);
	MPI_Win_wait(w);
	MPI_Win_post(origins, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE, w);
	MPI_Barrier(W);
	MPI_Win_start(targets, MPI_MODE_NOCHECK, w);
	MPI_Put(&size, 1, MPI_INT, to, 1, 1, MPI_INT, w);
	MPI_Win_complete(w);
	MPI_Win_wait(w);
	say(" %d %d", x[0], x[1]);
	MPI_Group_free(&all);
	MPI_Group_free(&targets);
	MPI_Group_free(&origins);
	MPI_Win_free(&w);
}

static void exclusive_counter(void) {
	int x[2] = {0, 0};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	for (int i = 0; i < 20; i++) {
		int v[2];
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Get(v, 2, MPI_INT, 0, 0, 2, MPI_INT, w);
		MPI_Win_flush(0, w);
		v[0]++;
		v[1] += v[0];
		MPI_Put(v, 2, MPI_INT, 0, 0, 2, MPI_INT, w);
		MPI_Win_unlock(0, w);
	}
	MPI_Barrier(W);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w);
	say(" %d %d", x[0], x[1]);
	MPI_Win_unlock(rank, w);
	MPI_Win_free(&w);
}

static void locks_of_all(void) {
	int x[16] = {0};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_lock_all(0, w);
	for (int i = 0; i < size; i++) MPI_Put(&rank, 1, MPI_INT, i, rank, 1, MPI_INT, w);
	MPI_Win_flush_all(w);
	MPI_Barrier(W);
	MPI_Win_sync(w);
	for (int i = 0; i < size; i++) say(" %d", x[i]);
	MPI_Barrier(W);
	for (int i = 0; i < size; i++) MPI_Accumulate(&size, 1, MPI_INT, i, 15, 1, MPI_INT, MPI_SUM, w);
	MPI_Win_unlock_all(w);
	MPI_Barrier(W);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, w);
	int y;
	MPI_Get(&y, 1, MPI_INT, next(), 15, 1, MPI_INT, w);
	MPI_Win_flush_local_all(w);
	MPI_Win_unlock_all(w);
	say(" %d", y);
	MPI_Win_free(&w);
}

static void flushed(void) {
	int x[4] = {0}, v = 1, back = -1;
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, w);
	for (int i = 0; i < 4; i++) {
		v = 10 * rank + i;
		MPI_Put(&v, 1, MPI_INT, next(), i, 1, MPI_INT, w);
		MPI_Win_flush_local(next(), w); /* v changes now */
	}
	MPI_Win_flush(next(), w);
	MPI_Get(&back, 1, MPI_INT, next(), 3, 1, MPI_INT, w);
	MPI_Win_unlock(next(), w);
	MPI_Barrier(W);
	for (int i = 0; i < 4; i++) say(" %d", x[i]);
	say(" %d", back);
	MPI_Win_free(&w);
}

static void requests(void) {
	enum { n = 3000 };
	static int x[n], y[n], z[n], old[n];
	MPI_Request q[4];
	MPI_Win w;
	for (int i = 0; i < n; i++) x[i] = 0, y[i] = rank + 1;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_lock_all(0, w);
	MPI_Rput(y, n, MPI_INT, next(), 0, n, MPI_INT, w, &q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++) y[i] = 10;
	MPI_Win_flush(next(), w);
	MPI_Raccumulate(y, n, MPI_INT, next(), 0, n, MPI_INT, MPI_SUM, w, &q[0]);
	MPI_Rget_accumulate(y, n, MPI_INT, old, n, MPI_INT, next(), 0, n, MPI_INT, MPI_SUM, w, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	MPI_Win_flush(next(), w);
	MPI_Rget(z, n, MPI_INT, next(), 0, n, MPI_INT, w, &q[2]);
	int flag = 0;
	while (!flag) MPI_Test(&q[2], &flag, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(w);
	MPI_Barrier(W);
	say(" %d %d, %d %d, %d %d", x[0], x[n - 1], old[0], old[n - 1], z[0], z[n - 1]);
	MPI_Win_free(&w);
}

/* All kinds of epochs on one window, one after another. */
static void mixed_synchronization(void) {
	int x[3] = {0}, v = rank + 1;
	MPI_Group all;
	MPI_Win w;
	MPI_Comm_group(W, &all);
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	for (int round = 0; round < 2; round++) {
		MPI_Win_fence(0, w);
		MPI_Accumulate(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, MPI_SUM, w);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
		MPI_Barrier(W);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, w);
		MPI_Accumulate(&v, 1, MPI_INT, next(), 1, 1, MPI_INT, MPI_SUM, w);
		MPI_Win_unlock(next(), w);
		MPI_Barrier(W);
		MPI_Win_post(all, 0, w);
		MPI_Win_start(all, 0, w);
		MPI_Accumulate(&v, 1, MPI_INT, next(), 2, 1, MPI_INT, MPI_SUM, w);
		MPI_Win_complete(w);
		MPI_Win_wait(w);
	}
	say(" %d %d %d", x[0], x[1], x[2]);
	MPI_Group_free(&all);
	MPI_Win_free(&w);
}

/* Ranks append to a list whose elements are anywhere. Its pointers are swapped by compare-and-swap. */
static void linked_list(void) {
	struct pointer {
		int rank, at;
	} *tail;
	enum { elements = 5 };
	struct element {
		int next_of; /* rank and index of the next one, or -1 */
		int value;
	} *x;
	int none = -1, head = 0;
	MPI_Win w;
	MPI_Win_allocate((elements + 1) * sizeof *x, sizeof(int), MPI_INFO_NULL, W, &x, &w);
	for (int i = 0; i <= elements; i++) x[i].next_of = -1, x[i].value = rank * 10 + i;
	MPI_Barrier(W);
	MPI_Win_lock_all(0, w);
	for (int i = 1; i <= elements; i++) { /* element 0 of rank 0 is the head */
		int mine = rank * 100 + i, at = 0, result;
		for (;;) {
			MPI_Compare_and_swap(&mine, &none, &result, MPI_INT, at / 100, 2 * (at % 100), w);
			MPI_Win_flush(at / 100, w);
			if (result == -1) break;
			at = result;
		}
	}
	MPI_Win_unlock_all(w);
	MPI_Barrier(W);
	int found = 0, sum = 0;
	MPI_Win_lock_all(0, w);
	for (int at = 0; at != -1; found++) {
		int e[2];
		MPI_Get(e, 2, MPI_INT, at / 100, 2 * (at % 100), 2, MPI_INT, w);
		MPI_Win_flush(at / 100, w);
		at = e[0];
		sum += e[1];
	}
	MPI_Win_unlock_all(w);
	say(" %d %d", found, sum);
	MPI_Win_free(&w);
}

static void errors_of_epochs(void) {
	int x = 0, v = 1;
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	say(" %s", window_class(MPI_Put(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, w)));
	say(" %s", window_class(MPI_Get(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, w)));
	say(" %s", window_class(MPI_Accumulate(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, MPI_SUM, w)));
	say(" %s", window_class(MPI_Win_unlock(0, w)));
	say(" %s", window_class(MPI_Win_unlock_all(w)));
	say(" %s", window_class(MPI_Win_complete(w)));
	say(" %s", window_class(MPI_Win_flush(0, w)));
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
	say(" %d", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w) != MPI_SUCCESS); /* of class sync, or conflict */
	if (size > 1) say(" %s", window_class(MPI_Put(&v, 1, MPI_INT, 1, 0, 1, MPI_INT, w)));
	MPI_Win_unlock(0, w);
	MPI_Win_free(&w);
}

static void errors_of_arguments(void) {
	int x = 0, v = 1;
	MPI_Win w, none = MPI_WIN_NULL;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	say(" %s", window_class(MPI_Win_create(&x, -1, 1, MPI_INFO_NULL, W, &w)));
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	MPI_Win_lock_all(0, w);
	say(" %s", window_class(MPI_Put(&v, 1, MPI_INT, size, 0, 1, MPI_INT, w)));
	say(" %s", window_class(MPI_Put(&v, -1, MPI_INT, next(), 0, 1, MPI_INT, w)));
	say(" %s", window_class(MPI_Put(&v, 1, MPI_DATATYPE_NULL, next(), 0, 1, MPI_INT, w)));
	say(" %s", window_class(MPI_Accumulate(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, MPI_OP_NULL, w)));
	MPI_Win_unlock_all(w);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
	MPI_Win_free(&w);
}

/* A fence without accesses before it may follow accesses under a lock. */
static void fence_after_lock(void) {
	int x = -1, v = 10 * rank + 1, got = 0;
	MPI_Win w;
	MPI_Win_create(&x, sizeof x, sizeof x, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Win_fence(0, w);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, w);
	MPI_Put(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, w);
	MPI_Win_unlock(next(), w);
	MPI_Barrier(W);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, w);
	MPI_Get(&got, 1, MPI_INT, next(), 0, 1, MPI_INT, w);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
	say(" %d", got);
	MPI_Win_free(&w);
}

/* Accesses of no data, of whatever types. */
static void no_data(void) {
	int x[2] = {5, 6}, v[2] = {1, 2}, r[2] = {0, 0};
	MPI_Win w;
	MPI_Datatype empty;
	MPI_Type_contiguous(0, MPI_INT, &empty);
	MPI_Type_commit(&empty);
	MPI_Win_create(x, sizeof x, sizeof *x, MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	MPI_Put(NULL, 0, MPI_INT, next(), 0, 0, MPI_INT, w);
	MPI_Accumulate(NULL, 0, MPI_DOUBLE, next(), 0, 0, MPI_DOUBLE, MPI_SUM, w);
	MPI_Accumulate(v, 1, empty, next(), 0, 2, empty, MPI_SUM, w);
	MPI_Get_accumulate(v, 2, empty, r, 1, empty, next(), 0, 1, empty, MPI_MAX, w);
	MPI_Get_accumulate(NULL, 0, MPI_INT, NULL, 0, MPI_INT, next(), 0, 0, MPI_INT, MPI_SUM, w);
	MPI_Win_fence(0, w);
	say(" %d %d %d %d", x[0], x[1], r[0], r[1]);
	MPI_Win_free(&w);
	MPI_Type_free(&empty);
}

/* A rank that locks its own memory in a loop lets others change it. */
static void own_memory_polled(void) {
	for (int dynamic = 0; dynamic < 2; dynamic++) {
		int *x, seen = 0, one = 1;
		MPI_Aint at = 0, of_next;
		MPI_Win w;
		if (dynamic) {
			MPI_Win_create_dynamic(MPI_INFO_NULL, W, &w);
			MPI_Alloc_mem(sizeof *x, MPI_INFO_NULL, &x);
			MPI_Win_attach(w, x, sizeof *x);
			MPI_Get_address(x, &at);
		} else {
			MPI_Win_allocate(sizeof *x, 1, MPI_INFO_NULL, W, &x, &w);
		}
		*x = 0;
		MPI_Sendrecv(&at, 1, MPI_AINT, before(), 0, &of_next, 1, MPI_AINT, next(), 0, W, MPI_STATUS_IGNORE);
		int passed = rank == 0;
		do {
			if (passed == 1) { /* the number of a rank arrives after that of the rank before */
				MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next(), 0, w);
				MPI_Put(&one, 1, MPI_INT, next(), of_next, 1, MPI_INT, w);
				MPI_Win_unlock(next(), w);
				passed++;
			}
			MPI_Win_lock(dynamic ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, rank, 0, w);
			MPI_Get(&seen, 1, MPI_INT, rank, at, 1, MPI_INT, w);
			MPI_Win_unlock(rank, w);
			if (seen) passed++;
		} while (!seen || passed < 2);
		say(" %d", seen);
		MPI_Barrier(W);
		if (dynamic) MPI_Win_detach(w, x);
		MPI_Win_free(&w);
		if (dynamic) MPI_Free_mem(x);
	}
}
