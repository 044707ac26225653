/* Threads are started and joined as in MPICH's test suite. */

enum { threads = 4 };

static int provided;
static MPI_Comm comms[threads];        /* one for each thread */
static char heard[threads + 1][4096]; /* what threads say, and the main thread */
static pthread_t started[threads];

static void tell(int thread, const char *f, ...) {
	va_list a;
	va_start(a, f);
	size_t n = strlen(heard[thread]);
	vsnprintf(heard[thread] + n, sizeof heard[thread] - n, f, a);
	va_end(a);
}

static void start_threads(void *(*f)(void *)) {
	memset(heard, 0, sizeof heard);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, f, (void *)(intptr_t)i)) say(" not started");
}

static void join_threads(void) {
	for (int i = 0; i < threads; i++)
		if (pthread_join(started[i], NULL)) say(" not joined");
	for (int i = 0; i < threads; i++)
		if (heard[i][0]) say(" [%d%s]", i, heard[i]);
	if (heard[threads][0]) say(" main%s", heard[threads]);
}

static void run_threads(void *(*f)(void *)) {
	start_threads(f);
	join_threads();
}

/* THREAD is a function that each of the threads runs, and the test that starts them. */
#define THREAD(name)                          \
	static void name##_body(int me);          \
	static void *name##_thread(void *arg) {   \
		name##_body((int)(intptr_t)arg);      \
		return NULL;                          \
	}                                         \
	static void name(void) { run_threads(name##_thread); } \
	static void name##_body(int me)

/* What the main thread does while the threads run. */
#define THREAD_AND_MAIN(name)                 \
	static void name##_body(int me);          \
	static void name##_main(void);            \
	static void *name##_thread(void *arg) {   \
		name##_body((int)(intptr_t)arg);      \
		return NULL;                          \
	}                                         \
	static void name(void) {                  \
		start_threads(name##_thread);         \
		name##_main();                        \
		join_threads();                       \
	}
