/* What threads wait for besides MPI. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One call at a time, as with MPI_THREAD_SERIALIZED. */
static int turns;
static void *serialized_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		int x = rank, y;
		MPI_Sendrecv(&x, 1, MPI_INT, next(), 0, &y, 1, MPI_INT, before(), 0, W, MPI_STATUS_IGNORE);
		turns += y == before();
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
static void serialized(void) {
	turns = 0;
	run_threads(serialized_thread);
	say(" %d", turns);
}

/* The main thread receives, and others handle what it has. */
static int queue[64], queued, taken, closed;
static long handled;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
THREAD_AND_MAIN(conditions)
static void conditions_body(int me) {
	for (;;) {
		pthread_mutex_lock(&lock);
		while (taken == queued && !closed) pthread_cond_wait(&filled, &lock);
		if (taken == queued) {
			pthread_mutex_unlock(&lock);
			return;
		}
		int x = queue[taken++];
		pthread_mutex_unlock(&lock);
		int y;
		MPI_Sendrecv(&x, 1, MPI_INT, 0, 5, &y, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		pthread_mutex_lock(&lock);
		handled += y;
		pthread_mutex_unlock(&lock);
	}
}
static void conditions_main(void) {
	pthread_mutex_lock(&lock);
	queued = taken = closed = handled = 0;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 40; i++) {
		int x = 1000 * rank + i, y;
		MPI_Sendrecv(&x, 1, MPI_INT, next(), 0, &y, 1, MPI_INT, before(), 0, apart, MPI_STATUS_IGNORE);
		pthread_mutex_lock(&lock);
		queue[queued++] = y;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&filled);
	}
	pthread_mutex_lock(&lock);
	closed = 1;
	pthread_mutex_unlock(&lock);
	pthread_cond_broadcast(&filled);
	for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
	say(" %ld", handled);
	start_threads(level_in_thread); /* for join_threads */
}

static pthread_barrier_t phase;
static int phases[threads];
static void *phases_thread(void *arg) {
	int me = (int)(intptr_t)arg, last = 0, wrong = 0;
	for (int i = 1; i <= 6; i++) {
		MPI_Barrier(comms[me]);
		phases[me] = i;
		last += pthread_barrier_wait(&phase) == PTHREAD_BARRIER_SERIAL_THREAD;
		for (int k = 0; k < threads; k++) wrong += phases[k] != i;
		pthread_barrier_wait(&phase);
	}
	pthread_mutex_lock(&lock);
	turns += last;
	pthread_mutex_unlock(&lock);
	tell(me, " %d", wrong);
	return NULL;
}
static void barriers(void) {
	turns = 0;
	pthread_barrier_init(&phase, NULL, threads);
	run_threads(phases_thread);
	pthread_barrier_destroy(&phase);
	say(" %d", turns);
}

/* As MPICH's tests have them where POSIX has none. */
static pthread_mutex_t barrier_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t barrier_open = PTHREAD_COND_INITIALIZER;
static int barrier_arrived, barrier_round;
static void own_barrier(int n) {
	pthread_mutex_lock(&barrier_lock);
	int round = barrier_round;
	if (++barrier_arrived == n) {
		barrier_arrived = 0;
		barrier_round++;
		pthread_cond_broadcast(&barrier_open);
	} else
		while (round == barrier_round) pthread_cond_wait(&barrier_open, &barrier_lock);
	pthread_mutex_unlock(&barrier_lock);
}
THREAD(barriers_of_mutex_and_condition) {
	int wrong = 0;
	for (int i = 1; i <= 6; i++) {
		int x = i + rank, y;
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_MIN, comms[me]);
		phases[me] = y;
		own_barrier(threads);
		for (int k = 0; k < threads; k++) wrong += phases[k] != i;
		own_barrier(threads);
	}
	tell(me, " %d", wrong);
}

static __thread int own = 5;
THREAD(variables) {
	own += me;
	errno = 40 + me;
	MPI_Barrier(comms[me]);
	sched_yield();
	int e = errno;
	own += 10 * me;
	MPI_Barrier(comms[me]);
	tell(me, " %d %d", own, e);
}

static pthread_key_t key;
static int freed[threads];
static void free_value(void *p) {
	int x;
	MPI_Allreduce(MPI_IN_PLACE, (MPI_Comm_rank(MPI_COMM_SELF, &x), &x), 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	pthread_mutex_lock(&lock);
	freed[*(int *)p]++;
	pthread_mutex_unlock(&lock);
	free(p);
}
static void *keys_thread(void *arg) {
	int me = (int)(intptr_t)arg, *p = malloc(sizeof *p);
	void *first = pthread_getspecific(key);
	*p = me;
	pthread_setspecific(key, p);
	MPI_Barrier(comms[me]);
	tell(me, " %d %d", first == NULL, *(int *)pthread_getspecific(key));
	return NULL;
}
static void keys(void) {
	memset(freed, 0, sizeof freed);
	pthread_key_create(&key, free_value);
	run_threads(keys_thread);
	pthread_key_delete(key);
	for (int i = 0; i < threads; i++) say(" %d", freed[i]);
}

static pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static int written, spun;
static void *locks_thread(void *arg) {
	int me = (int)(intptr_t)arg, seen = 0;
	for (int i = 0; i < 10; i++) {
		pthread_rwlock_wrlock(&shared_lock);
		int x = written;
		MPI_Barrier(MPI_COMM_SELF);
		sched_yield();
		written = x + 1;
		pthread_rwlock_unlock(&shared_lock);
		pthread_rwlock_rdlock(&shared_lock);
		seen += written > 0;
		pthread_rwlock_unlock(&shared_lock);
		pthread_spin_lock(&spin);
		x = spun;
		if (i % 5 == 0) sched_yield();
		spun = x + 1;
		pthread_spin_unlock(&spin);
	}
	pthread_mutexattr_t a;
	pthread_mutex_t m;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m, &a);
	pthread_mutex_lock(&m);
	int again = pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_mutex_unlock(&m);
	pthread_mutex_destroy(&m);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&m, &a);
	pthread_mutex_lock(&m);
	int refused = pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	pthread_mutex_destroy(&m);
	tell(me, " %d %d %d", seen, again, refused == EDEADLK);
	return NULL;
}
static void locks(void) {
	written = spun = 0;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	run_threads(locks_thread);
	say(" %d %d", written, spun);
}

static sem_t turn[threads];
static char order[64];
static void *semaphores_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	for (int i = 0; i < 4; i++) {
		sem_wait(&turn[me]);
		MPI_Barrier(comms[0]);
		sprintf(order + strlen(order), "%d", me);
		sem_post(&turn[(me + 1) % threads]);
	}
	return NULL;
}
static void semaphores(void) {
	order[0] = 0;
	for (int i = 0; i < threads; i++) sem_init(&turn[i], 0, i == 0);
	run_threads(semaphores_thread);
	say(" %s", order);
	for (int i = 0; i < threads; i++) sem_destroy(&turn[i]);
}

static pthread_once_t only = PTHREAD_ONCE_INIT;
static int initialized;
static void initialize(void) {
	int x;
	MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, apart);
	initialized += x + 1;
}
THREAD(once) {
	pthread_once(&only, initialize);
	tell(me, " %d", initialized);
}

static void *times_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	double begin = MPI_Wtime();
	usleep(1000 * (me + 1));
	double lasted = MPI_Wtime() - begin;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 2000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t c = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&m);
	int e = pthread_cond_timedwait(&c, &m, &t);
	pthread_mutex_unlock(&m);
	tell(me, " %d %d", lasted > 0.00099 * (me + 1), e == ETIMEDOUT);
	return NULL;
}
static void times(void) {
	start_threads(times_thread);
	double begin = MPI_Wtime();
	MPI_Barrier(W); /* waits while others sleep */
	for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
	say(" %d", MPI_Wtime() - begin > 0.0059);
	for (int i = 0; i < threads; i++) say(" [%d%s]", i, heard[i]);
}

static void *results_thread(void *arg) {
	intptr_t me = (intptr_t)arg;
	MPI_Barrier(comms[me]);
	if (me % 2) pthread_exit((void *)(me * 10));
	return (void *)(me * 100);
}
static void *detached_thread(void *arg) {
	MPI_Barrier(comms[0]);
	sem_post(arg);
	return NULL;
}
static void results(void) {
	void *result;
	memset(heard, 0, sizeof heard);
	for (int i = 0; i < threads; i++) pthread_create(&started[i], NULL, results_thread, (void *)(intptr_t)i);
	for (int i = threads - 1; i >= 0; i--) {
		pthread_join(started[i], &result);
		say(" %d", (int)(intptr_t)result);
	}
	sem_t done;
	pthread_t t;
	sem_init(&done, 0, 0);
	pthread_create(&t, NULL, detached_thread, &done);
	pthread_detach(t);
	sem_wait(&done);
	say(" %d %d", pthread_equal(t, pthread_self()) != 0, pthread_equal(pthread_self(), pthread_self()) != 0);
}

static int cleaned;
static void clean(void *arg) { cleaned += *(int *)arg; }
static void *endless_thread(void *arg) {
	int me = (int)(intptr_t)arg;
	MPI_Barrier(comms[me]);
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(clean, &(int){me + 1});
	pthread_cleanup_push((void (*)(void *))pthread_mutex_unlock, &lock);
	for (;;) pthread_cond_wait(&filled, &lock);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return NULL;
}
static void cancelled_threads(void) {
	void *result;
	cleaned = 0;
	start_threads(endless_thread);
	usleep(10000);
	for (int i = 0; i < threads; i++) {
		pthread_cancel(started[i]);
		pthread_join(started[i], &result);
		say(" %d", result == PTHREAD_CANCELED);
	}
	say(" %d", cleaned);
}
