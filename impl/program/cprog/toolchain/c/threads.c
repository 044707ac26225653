/* Linked into every program by loggp cc. Threads that a program starts by POSIX calls are threads of this process, one of
 * which runs at a time in each rank: one that has to wait gives up control, so that the emulator lets another one run.
 * They run in the order in which they became able to, whatever the processors of this machine do.
 *
 * Where waiting has a form that only tries, the C library keeps the state of the object, and a thread that has tried in
 * vain waits until somebody may have changed it. Threads that libraries such as OpenMP's have started run at the same time,
 * and what they call is the C library. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

extern struct loggp_rank *loggp_self __attribute__((VISIBILITY));

int64_t loggp_now(void);
int64_t loggp_new_thread(void);
int64_t loggp_drop_thread(void *);
int64_t loggp_block(const void *, int64_t, const char *, void *);
int64_t loggp_unblock(const void *, int64_t);
int64_t loggp_yield(void);

#define REAL(f) ({ \
	static __typeof__(&f) known; \
	__typeof__(&f) real = known ? known : (__typeof__(&f))dlsym(C_LIBRARY, #f); \
	if (loggp_self) known = real; \
	real; \
})

static int in_turn(void) { return self && self->thread(self) != LOGGP_OTHER_THREAD; }

/* KEEP_TURN keeps the emulator from interrupting a thread that runs in turn, until the block ends. GIVE_TURN allows it
 * while f runs. */
#define KEEP_TURN(runs_in_turn) \
	__attribute__((cleanup(end_of_keeping))) int keeping = runs_in_turn; \
	self->keeps_turn += keeping
static void end_of_keeping(int *keeping) { self->keeps_turn -= *keeping; }
#define GIVE_TURN(f) ({ \
	int64_t kept = self->keeps_turn; \
	self->keeps_turn = 0; \
	__typeof__(f) result = f; \
	self->keeps_turn = kept; \
	result; \
})

/* OTHERWISE calls the function of the C library in threads that do not run in turn. Others keep their turn. */
#define OTHERWISE(f, ...) \
	if (!in_turn()) return REAL(f)(__VA_ARGS__); \
	KEEP_TURN(1)

/* Threads that the program may join. */
struct record {
	pthread_t id;
	struct loggp_thread *thread;
	int cancelled, cancel_disabled;
	const void *cancel_point; /* the address that it waits for */
	struct record *next;
};
#define records (*(struct record **)&self->records)

static struct record **find(pthread_t id) {
	struct record **r = &records;
	while (*r && !pthread_equal((*r)->id, id)) r = &(*r)->next;
	return r;
}

static void forget(struct record **r) {
	struct record *old = *r;
	if (!old) return;
	*r = old->next;
	free(old);
}

/* Waiting. */

#define FOREVER INT64_MAX
#define CALLER __builtin_return_address(0)

/* The waits for addresses. Only one thread at a time changes the list. */
struct wait {
	const void *address;
	struct wait *next;
};
#define waits (*(struct wait **)&self->waits)

/* block waits until somebody wakes threads that wait for an address. It returns ETIMEDOUT if that has taken too long. */
static int block(const void *address, int64_t deadline, const char *function, void *caller) {
	struct wait mine = {address, waits}, **w = &waits;
	waits = &mine;
	int late = GIVE_TURN(loggp_block(address, deadline, function, caller));
	while (*w != &mine) w = &(*w)->next;
	*w = mine.next;
	return late ? ETIMEDOUT : 0;
}

/* wake asks the emulator, which takes as long as a switch of threads, only if somebody waits. */
static void wake(const void *address, int64_t count) {
	for (struct wait *w = waits; w; w = w->next)
		if (w->address == address) {
			loggp_unblock(address, count);
			return;
		}
}

#define BILLION 1000000000
#define BEGINNING 946684800 /* of clocks that show the date, as in runtime.c */

/* until returns a time as the emulator counts it; -1: it is not valid. */
static int64_t until(clockid_t c, const struct timespec *t) {
	int64_t ns, from = c == CLOCK_REALTIME ? BEGINNING : 0;
	if (t->tv_nsec < 0 || t->tv_nsec >= BILLION) return -1;
	if (t->tv_sec < from) return 0;
	return __builtin_mul_overflow((int64_t)t->tv_sec - from, BILLION, &ns) || __builtin_add_overflow(ns, t->tv_nsec, &ns) ? FOREVER : ns;
}

/* TRY waits until an expression, an error number, is not busy. */
#define TRY(expression, busy, address, deadline, function) \
	for (int64_t limit = deadline;;) { \
		int e = expression; \
		if (e != busy) return e; \
		if (limit < 0) return EINVAL; \
		if (limit == 0 || block(address, limit, function, CALLER)) return ETIMEDOUT; \
	}

/* Cancellation happens where a thread waits. */
static void stop_if_cancelled(void) {
	struct record *r = *find(pthread_self());
	if (r && r->cancelled && !r->cancel_disabled) pthread_exit(PTHREAD_CANCELED);
}

/* block_at_point is block where a thread may be cancelled. */
static int block_at_point(const void *address, int64_t deadline, const char *function, void *caller) {
	struct record *r = *find(pthread_self());
	if (r && r->cancelled && !r->cancel_disabled) return 0;
	if (r) r->cancel_point = address;
	int e = block(address, deadline, function, caller);
	if (r) r->cancel_point = NULL;
	return e;
}

OURS int pthread_cancel(pthread_t id) {
	OTHERWISE(pthread_cancel, id);
	struct record *r = *find(id);
	if (!r) return ESRCH;
	r->cancelled = 1;
	if (r->cancel_point) wake(r->cancel_point, INT64_MAX);
	return 0;
}
OURS int pthread_setcancelstate(int state, int *old) {
	OTHERWISE(pthread_setcancelstate, state, old);
	static int of_main;
	struct record *r = *find(pthread_self());
	int *disabled = r ? &r->cancel_disabled : &of_main;
	if (old) *old = *disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	*disabled = state == PTHREAD_CANCEL_DISABLE;
	return 0;
}
OURS void pthread_testcancel(void) {
	if (in_turn()) stop_if_cancelled();
}

/* Begin and end. */

struct beginning {
	void *(*f)(void *);
	void *arg;
	struct loggp_thread *thread;
};

static void *begin(void *arg) {
	struct beginning b = *(struct beginning *)arg;
	self->begin_thread(self, b.thread);
	free(arg);
	return b.f(b.arg);
}

/* A program with this reference is one that starts threads, as its own references to pthread_create are bound to ours. */
static __typeof__(&pthread_getattr_default_np) volatile mark_of_threads;

OURS int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*f)(void *), void *arg) {
	OTHERWISE(pthread_create, id, attributes, f, arg);
	mark_of_threads = pthread_getattr_default_np;
	struct beginning *b = malloc(sizeof *b);
	struct record *r = malloc(sizeof *r);
	if (!b || !r) {
		free(b);
		free(r);
		return EAGAIN;
	}
	*b = (struct beginning){f, arg, (struct loggp_thread *)loggp_new_thread()};
	struct loggp_thread *thread = b->thread;
	sigset_t open, before; /* signals but those of the emulator's are for Go's threads */
	sigfillset(&open);
	for (const int *s = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGXCPU, 0}; *s; s++) sigdelset(&open, *s);
	REAL(pthread_sigmask)(SIG_BLOCK, &open, &before);
	int e = REAL(pthread_create)(id, attributes, begin, b);
	REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	if (e) {
		loggp_drop_thread(thread);
		free(b);
		free(r);
		return e;
	}
	self->threads++;
	forget(find(*id));
	*r = (struct record){*id, thread, .next = records};
	records = r;
	return 0;
}

OURS int pthread_join(pthread_t id, void **result) {
	OTHERWISE(pthread_join, id, result);
	struct record *r = *find(id);
	if (r && pthread_equal(id, pthread_self())) return EDEADLK;
	while (r && !r->thread->ended) {
		block_at_point(r->thread, FOREVER, "pthread_join", CALLER);
		stop_if_cancelled();
	}
	int e = REAL(pthread_join)(id, result);
	if (r) forget(find(id));
	return e;
}

OURS int pthread_tryjoin_np(pthread_t id, void **result) {
	OTHERWISE(pthread_tryjoin_np, id, result);
	struct record *r = *find(id);
	if (r && !r->thread->ended) {
		GIVE_TURN(loggp_yield());
		return EBUSY;
	}
	return pthread_join(id, result);
}

OURS int pthread_detach(pthread_t id) {
	OTHERWISE(pthread_detach, id);
	forget(find(id));
	return REAL(pthread_detach)(id);
}

/* The thread that runs main ends the program when the others have ended. */
OURS void pthread_exit(void *result) {
	if (self && self->thread(self) == 0) {
		while (self->threads > 0) block(&self->threads, FOREVER, "pthread_exit", CALLER);
		exit(0);
	}
	if (in_turn()) self->keeps_turn = 0;
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

static int yield(void) {
	if (in_turn())
		loggp_yield();
	else
		REAL(sched_yield)();
	return 0;
}
OURS int sched_yield(void) { return yield(); }

/* An initialization may wait. */
OURS int pthread_once(pthread_once_t *once, void (*f)(void)) {
	OTHERWISE(pthread_once, once, f);
	enum { begun = 1, done = 2 }; /* done as in the C library */
	while (*once == begun) block(once, FOREVER, "pthread_once", CALLER);
	if (*once == done) return 0;
	*once = begun;
	GIVE_TURN((f(), 0));
	*once = done;
	wake(once, INT64_MAX);
	return 0;
}

/* Mutexes. */

/* A thread that locks so often without waiting is taken to look for what another one writes: others run. */
#define LOCKS_A_TURN 1000

static int lock(pthread_mutex_t *m, int64_t deadline, const char *function, void *caller) {
	static int locks;
	if (++locks == LOCKS_A_TURN) {
		locks = 0;
		GIVE_TURN(loggp_yield());
	}
	for (;;) {
		int e = REAL(pthread_mutex_trylock)(m);
		if (e != EBUSY) return e;
		locks = 0;
		if ((m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK_NP && m->__data.__owner == syscall(SYS_gettid)) return EDEADLK;
		if (deadline < 0) return EINVAL;
		if (deadline == 0 || block(m, deadline, function, caller)) return ETIMEDOUT;
	}
}

OURS int pthread_mutex_lock(pthread_mutex_t *m) {
	OTHERWISE(pthread_mutex_lock, m);
	return lock(m, FOREVER, "pthread_mutex_lock", CALLER);
}
OURS int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *t) {
	OTHERWISE(pthread_mutex_timedlock, m, t);
	return lock(m, until(CLOCK_REALTIME, t), "pthread_mutex_timedlock", CALLER);
}
OURS int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t c, const struct timespec *t) {
	if (!in_turn()) return ((int (*)(pthread_mutex_t *, clockid_t, const struct timespec *))dlsym(C_LIBRARY, "pthread_mutex_clocklock"))(m, c, t);
	return lock(m, until(c, t), "pthread_mutex_clocklock", CALLER);
}
OURS int pthread_mutex_trylock(pthread_mutex_t *m) {
	int e = REAL(pthread_mutex_trylock)(m);
	if (e == EBUSY && in_turn()) loggp_yield();
	return e;
}
OURS int pthread_mutex_unlock(pthread_mutex_t *m) {
	OTHERWISE(pthread_mutex_unlock, m);
	int e = REAL(pthread_mutex_unlock)(m);
	if (e == 0) wake(m, 1);
	return e;
}

/* Condition variables: a thread that waits is one that waits for the address. */

/* The clock of a condition variable is a bit of its data, as the C library keeps it. */
static clockid_t clock_of(const pthread_cond_t *c) { return c->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME; }

static int await(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline, const char *function, void *caller) {
	if (deadline < 0) return EINVAL;
	int e = pthread_mutex_unlock(m);
	if (e) return e;
	int late = deadline == 0 ? ETIMEDOUT : block_at_point(c, deadline, function, caller);
	e = lock(m, FOREVER, function, caller);
	if (e) return e;
	stop_if_cancelled();
	return late;
}

OURS int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
	OTHERWISE(pthread_cond_wait, c, m);
	return await(c, m, FOREVER, "pthread_cond_wait", CALLER);
}
OURS int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t) {
	OTHERWISE(pthread_cond_timedwait, c, m, t);
	return await(c, m, until(clock_of(c), t), "pthread_cond_timedwait", CALLER);
}
OURS int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *t) {
	if (!in_turn()) return ((int (*)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))dlsym(C_LIBRARY, "pthread_cond_clockwait"))(c, m, clock, t);
	return await(c, m, until(clock, t), "pthread_cond_clockwait", CALLER);
}
OURS int pthread_cond_signal(pthread_cond_t *c) {
	OTHERWISE(pthread_cond_signal, c);
	wake(c, 1);
	return 0;
}
OURS int pthread_cond_broadcast(pthread_cond_t *c) {
	OTHERWISE(pthread_cond_broadcast, c);
	wake(c, INT64_MAX);
	return 0;
}
OURS int pthread_cond_destroy(pthread_cond_t *c) { return 0; } /* nobody waits by the C library */

/* Barriers. */

struct barrier {
	uint32_t size, arrived, round;
};

OURS int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes, unsigned size) {
	if (!self) return REAL(pthread_barrier_init)(b, attributes, size);
	if (size == 0) return EINVAL;
	*(struct barrier *)b = (struct barrier){size};
	return 0;
}
OURS int pthread_barrier_destroy(pthread_barrier_t *b) {
	if (!self) return REAL(pthread_barrier_destroy)(b);
	return ((struct barrier *)b)->arrived ? EBUSY : 0;
}
OURS int pthread_barrier_wait(pthread_barrier_t *barrier) {
	if (!self) return REAL(pthread_barrier_wait)(barrier);
	KEEP_TURN(in_turn());
	struct barrier *b = (struct barrier *)barrier;
	uint32_t round = b->round;
	if (++b->arrived == b->size) {
		b->arrived = 0;
		b->round++;
		wake(b, INT64_MAX);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	while (b->round == round) block(b, FOREVER, "pthread_barrier_wait", CALLER);
	return 0;
}

/* Locks of readers and writers, spin locks, semaphores. */

OURS int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
	OTHERWISE(pthread_rwlock_rdlock, l);
	TRY(REAL(pthread_rwlock_tryrdlock)(l), EBUSY, l, FOREVER, "pthread_rwlock_rdlock");
}
OURS int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
	OTHERWISE(pthread_rwlock_wrlock, l);
	TRY(REAL(pthread_rwlock_trywrlock)(l), EBUSY, l, FOREVER, "pthread_rwlock_wrlock");
}
OURS int pthread_rwlock_timedrdlock(pthread_rwlock_t *l, const struct timespec *t) {
	OTHERWISE(pthread_rwlock_timedrdlock, l, t);
	TRY(REAL(pthread_rwlock_tryrdlock)(l), EBUSY, l, until(CLOCK_REALTIME, t), "pthread_rwlock_timedrdlock");
}
OURS int pthread_rwlock_timedwrlock(pthread_rwlock_t *l, const struct timespec *t) {
	OTHERWISE(pthread_rwlock_timedwrlock, l, t);
	TRY(REAL(pthread_rwlock_trywrlock)(l), EBUSY, l, until(CLOCK_REALTIME, t), "pthread_rwlock_timedwrlock");
}
OURS int pthread_rwlock_unlock(pthread_rwlock_t *l) {
	OTHERWISE(pthread_rwlock_unlock, l);
	int e = REAL(pthread_rwlock_unlock)(l);
	wake(l, INT64_MAX);
	return e;
}
OURS int pthread_spin_lock(pthread_spinlock_t *l) {
	OTHERWISE(pthread_spin_lock, l);
	TRY(REAL(pthread_spin_trylock)(l), EBUSY, (void *)l, FOREVER, "pthread_spin_lock");
}
OURS int pthread_spin_unlock(pthread_spinlock_t *l) {
	OTHERWISE(pthread_spin_unlock, l);
	int e = REAL(pthread_spin_unlock)(l);
	wake((void *)l, 1);
	return e;
}

static int take(sem_t *s, int64_t deadline, const char *function, void *caller) {
	int e = deadline < 0 ? EINVAL : 0;
	while (!e && REAL(sem_trywait)(s) < 0) {
		if (errno != EAGAIN) return -1;
		e = deadline == 0 ? ETIMEDOUT : block_at_point(s, deadline, function, caller);
		stop_if_cancelled();
	}
	if (e) errno = e;
	return e ? -1 : 0;
}
OURS int sem_wait(sem_t *s) {
	OTHERWISE(sem_wait, s);
	return take(s, FOREVER, "sem_wait", CALLER);
}
OURS int sem_timedwait(sem_t *s, const struct timespec *t) {
	OTHERWISE(sem_timedwait, s, t);
	return take(s, until(CLOCK_REALTIME, t), "sem_timedwait", CALLER);
}
OURS int sem_post(sem_t *s) {
	OTHERWISE(sem_post, s);
	int e = REAL(sem_post)(s);
	if (e == 0) wake(s, 1);
	return e;
}

/* Futexes, by which the library of C++ waits for atomic variables. */
OURS long syscall(long number, ...) {
	va_list all;
	va_start(all, number);
	long a[6];
	for (int i = 0; i < 6; i++) a[i] = va_arg(all, long);
	va_end(all);
	int operation = a[1] & FUTEX_CMD_MASK;
	if (number == SYS_futex && in_turn() && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET)) {
		KEEP_TURN(1);
		if (*(int *)a[0] != (int)a[2]) {
			errno = EAGAIN;
			return -1;
		}
		const struct timespec *t = (const struct timespec *)a[3];
		int64_t deadline = FOREVER;
		if (t && operation == FUTEX_WAIT)
			deadline = loggp_now() + t->tv_sec * BILLION + t->tv_nsec;
		else if (t)
			deadline = until(a[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, t);
		if (deadline > 0 && block((void *)a[0], deadline, "futex", CALLER) == 0) return 0;
		errno = ETIMEDOUT;
		return -1;
	}
	if (number == SYS_futex && in_turn() && (operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET)) wake((void *)a[0], (int)a[2]);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
