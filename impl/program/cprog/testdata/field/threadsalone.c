/* What Open MPI or MPICH do not run with threads: generalized requests that another thread completes hang, and short
 * accumulates of MPICH 4.0.2 go to wrong places. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "../suite/suite.h"

#include "../threads/start.h"

static MPI_Request of_threads[threads];
/* A thread completes a generalized request for which the main thread waits. */
static int query(void *extra, MPI_Status *s) {
	MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = MPI_UNDEFINED;
	s->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}
static int forget_it(void *extra) { return MPI_SUCCESS; }
static int no_cancel(void *extra, int complete) { return MPI_SUCCESS; }
THREAD_AND_MAIN(generalized)
static int counts[threads];
static sem_t begun;
static void generalized_body(int me) {
	sem_wait(&begun);
	counts[me] = 3 + me;
	MPI_Grequest_complete(of_threads[me]);
}
static void generalized_main(void) {
	sem_init(&begun, 0, 0);
	for (int i = 0; i < threads; i++) MPI_Grequest_start(query, forget_it, no_cancel, &counts[i], &of_threads[i]);
	for (int i = 0; i < threads; i++) sem_post(&begun);
	for (int i = 0; i < threads; i++) {
		MPI_Status s;
		int n;
		MPI_Wait(&of_threads[i], &s);
		MPI_Get_count(&s, MPI_INT, &n);
		tell(threads, " %d", n);
	}
}

/* A window that the main thread has locked, and threads access. */
static MPI_Win counters;
static void *counting_thread(void *arg) {
	int me = (int)(intptr_t)arg, one = 1, old;
	for (int i = 0; i < 5; i++) {
		MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, counters);
		MPI_Win_flush(0, counters);
		MPI_Accumulate(&one, 1, MPI_INT, next(), 1 + me, 1, MPI_INT, MPI_SUM, counters);
	}
	return NULL;
}
static void counter(void) {
	int *x;
	MPI_Win_allocate((threads + 1) * sizeof *x, sizeof *x, MPI_INFO_NULL, W, &x, &counters);
	memset(x, 0, (threads + 1) * sizeof *x);
	MPI_Barrier(W);
	MPI_Win_lock_all(0, counters);
	run_threads(counting_thread);
	MPI_Win_unlock_all(counters);
	MPI_Barrier(W);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, counters);
	for (int i = 0; i <= threads; i++) say(" %d", x[i]);
	MPI_Win_unlock(rank, counters);
	MPI_Win_free(&counters);
}

int main(int argc, char **argv) {
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(W, &rank);
	MPI_Comm_size(W, &size);
	MPI_Comm_dup(W, &apart);
	RUN(generalized)
	RUN(counter)
	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
