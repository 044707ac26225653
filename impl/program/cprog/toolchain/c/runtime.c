/* Linked into every program by loggp cc. It starts the program as one rank of many in a process, and stands in for what
 * the C library keeps once a process: standard output, time, the end of the program, random numbers, options.
 *
 * All symbols but loggp_attach and loggp_start are hidden, so that the program's references are bound to them and those
 * of the C library are not. They are weak: a function of the program's own comes first.
 *
 * With LOGGP_EXECUTABLE it is part of the library libmpi_abi.so.0, for an executable that another compiler has linked and
 * for a rank's own copies of shared libraries, which find all symbols here first. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

#ifndef LOGGP_EXECUTABLE
extern int main(int, char **, char **);
#endif
#define EXPORTED __attribute__((visibility("default")))

__attribute__((VISIBILITY)) struct loggp_rank *loggp_self;

int64_t loggp_now(void);
int64_t loggp_sleep(int64_t, void *);

/* REAL is a function of the C library that has the name of one of ours. ALONE calls it in a program that was not started
 * by loggp run. */
#define REAL(f) ((__typeof__(&f))dlsym(C_LIBRARY, #f))
#define ALONE(f, ...) \
	if (!self) return REAL(f)(__VA_ARGS__)

/* Of fortran.c, which is in Fortran programs alone. */
__attribute__((weak)) void loggp_fortran_begin(struct loggp_rank *);

/* What the C library keeps once a process. All runtimes of a rank use that of one of them. */
struct state {
	FILE *in, *out, *err; /* streams */
	struct ending { /* a function to call at the end: atexit, on_exit, and destructors of static objects in C++ */
		void (*f)();
		void *arg;
		int of_status; /* its first argument is the exit status */
	} *endings;
	int endings_set, endings_room;
	struct random_data random_data;
	char random_state[128];
	struct drand48_data drand48_data;
	void (*destruct)(int call); /* the program's destructors */
};
static struct state own_state, *state = &own_state;

#ifdef LOGGP_EXECUTABLE
EXPORTED struct state *loggp_library_state(void) { return state; }
#endif

__attribute__((noreturn)) static void stop(const char *text) {
	syscall(SYS_write, 2, text, strlen(text));
	for (;;) syscall(SYS_exit_group, 1);
}

/* enter calls function number call of the emulator. */
static int64_t enter(int64_t call, intptr_t *args, void *caller, double *real) {
	if (loggp_self && loggp_self->forked) stop("loggp: a child process that a rank has forked calls MPI: only the rank may\n");
	if (!self) stop("loggp: a program calls MPI before main, or was not started by 'loggp run --platform NAME -n RANKS ./program'\n");
	struct loggp_call c = {call, args, caller};
	self->call_function(self, &c);
	if (real) *real = c.real;
	return c.result;
}

int64_t loggp_enter(int64_t call, intptr_t *args, void *caller) { return enter(call, args, caller, NULL); }

double loggp_enter_real(int64_t call, intptr_t *args, void *caller) {
	double real;
	enter(call, args, caller, &real);
	return real;
}

/* Standard streams. */

#undef stdin
#undef stdout
#undef stderr
__attribute__((VISIBILITY)) FILE *stdin;
__attribute__((VISIBILITY)) FILE *stdout;
__attribute__((VISIBILITY)) FILE *stderr;

static ssize_t write_out(void *cookie, const char *b, size_t n) {
	int fd = (intptr_t)cookie;
	if (!self) return syscall(SYS_write, fd, b, n);
	self->output(self, fd, b, n);
	return n;
}

static FILE *stream(int fd) {
	FILE *f = fopencookie((void *)(intptr_t)fd, "w", (cookie_io_functions_t){.write = write_out});
	if (f) setvbuf(f, NULL, fd == 1 ? _IOLBF : _IONBF, 0);
	return f;
}

/* Before all other constructors: std::cout keeps the stream that there is when it is constructed. A program with shared
 * libraries has the streams of theirs, which are loaded first. */
__attribute__((constructor(60))) static void open_streams(void) {
#ifndef LOGGP_EXECUTABLE
	struct state *(*of_libraries)(void) = dlsym(RTLD_DEFAULT, "loggp_library_state");
	if (of_libraries) state = of_libraries();
#endif
	if (!state->out) {
		state->in = *(FILE **)dlsym(C_LIBRARY, "stdin");
		state->out = stream(1);
		state->err = stream(2);
	}
	stdin = state->in;
	stdout = state->out;
	stderr = state->err;
}

OURS ssize_t write(int fd, const void *b, size_t n) {
	if (self && (fd == 1 || fd == 2)) {
		self->output(self, fd, b, n);
		return n;
	}
	return syscall(SYS_write, fd, b, n);
}

OURS ssize_t read(int fd, void *b, size_t n) {
	if (self && fd == 0 && !self->stdin_is_open) return 0;
	return syscall(SYS_read, fd, b, n);
}

OURS int vprintf(const char *f, va_list a) { return vfprintf(stdout, f, a); }
OURS int printf(const char *f, ...) {
	va_list a;
	va_start(a, f);
	int n = vfprintf(stdout, f, a);
	va_end(a);
	return n;
}
OURS int __vprintf_chk(int flag, const char *f, va_list a) { return vfprintf(stdout, f, a); }
OURS int __printf_chk(int flag, const char *f, ...) {
	va_list a;
	va_start(a, f);
	int n = vfprintf(stdout, f, a);
	va_end(a);
	return n;
}
OURS int puts(const char *s) { return fputs(s, stdout) < 0 || fputc('\n', stdout) < 0 ? EOF : 1; }
OURS int putchar(int c) { return fputc(c, stdout); }
OURS int putchar_unlocked(int c) { return fputc(c, stdout); }
OURS void perror(const char *s) {
	int e = errno;
	if (s && *s)
		fprintf(stderr, "%s: %s\n", s, strerror(e));
	else
		fprintf(stderr, "%s\n", strerror(e));
}
OURS int vscanf(const char *f, va_list a) { return vfscanf(stdin, f, a); }
OURS int scanf(const char *f, ...) {
	va_list a;
	va_start(a, f);
	int n = vfscanf(stdin, f, a);
	va_end(a);
	return n;
}
OURS int getchar(void) { return fgetc(stdin); }
OURS int fflush(FILE *f) {
	return fflush_unlocked(f ? f : stdout); /* all streams would be those of other ranks, too */
}

/* fclose keeps the streams that the end of the program writes to. */
OURS int fclose(FILE *f) { return f == state->out || f == state->err ? fflush_unlocked(f) : REAL(fclose)(f); }

OURS int fileno(FILE *f) { return f == state->in ? 0 : f == state->out ? 1 : f == state->err ? 2 : REAL(fileno)(f); }
OURS int fileno_unlocked(FILE *f) { return fileno(f); }

/* The end. */

static int at_end(void (*f)(), void *arg, int of_status) {
	if (state->endings_set == state->endings_room) {
		int room = 2 * state->endings_room + 32;
		struct ending *more = realloc(state->endings, room * sizeof *more);
		if (!more) return -1;
		state->endings = more;
		state->endings_room = room;
	}
	state->endings[state->endings_set++] = (struct ending){f, arg, of_status};
	return 0;
}
OURS int atexit(void (*f)(void)) { return at_end(f, NULL, 0); }
OURS int on_exit(void (*f)(int, void *), void *arg) { return at_end(f, arg, 1); }
OURS int __cxa_atexit(void (*f)(void *), void *arg, void *object) { return at_end(f, arg, 0); }

#ifdef LOGGP_EXECUTABLE
static void destruct(int call) {
	const struct loggp_executable *e = self->executable;
	void (**f)() = (void (**)())(self->executable_base + e->destructors);
	for (int64_t n = call ? e->destructors_size : 0; n-- > 0;) f[n]();
}
#else
/* Where this file is loaded, which the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/* functions finds a table of functions in this file, of constructors or destructors. */
static void (**functions(ElfW(Sxword) table, ElfW(Sxword) size, int *n))() {
	ElfW(Addr) first = 0, bytes = 0;
	for (ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == table) first = d->d_un.d_ptr;
		if (d->d_tag == size) bytes = d->d_un.d_val;
	}
	*n = bytes / sizeof(void (*)());
	return (void (**)())((ElfW(Addr))__ehdr_start + first);
}

static void nothing(void) {}

/* destruct calls the destructors if told so. They are not called when the loader unloads the program then: that is not on
 * the rank's stack. */
static void destruct(int call) {
	static int done;
	int n;
	void (**f)() = functions(DT_FINI_ARRAY, DT_FINI_ARRAYSZ, &n);
	if (self->is_copy) {
		while (call && done < n) f[n - ++done]();
		return;
	}
	uintptr_t page = sysconf(_SC_PAGESIZE), from = (uintptr_t)f & -page;
	if (n == 0 || mprotect((void *)from, (uintptr_t)(f + n) - from, PROT_READ | PROT_WRITE) < 0) return;
	while (n-- > 0) {
		void (*g)() = f[n];
		f[n] = nothing;
		if (call) g();
	}
}
#endif

__attribute__((noreturn)) static void end(int event, intptr_t status) {
	self->event = event;
	self->args = &status;
	for (;;) self->cross(self);
}

OURS void _exit(int status) {
	if (!self)
		for (;;) syscall(SYS_exit_group, status);
	if (state->destruct) state->destruct(0);
	end(LOGGP_EXITED, status & 255);
}
OURS void _Exit(int status) { _exit(status); }
OURS void quick_exit(int status) { _exit(status); }
OURS void exit(int status) {
	while (state->endings_set > 0) {
		struct ending e = state->endings[--state->endings_set];
		if (e.of_status)
			e.f(status, e.arg);
		else
			e.f(e.arg);
	}
	if (self && state->destruct) state->destruct(1);
	for (int64_t i = self ? self->destructors_size : 0; i-- > 0;)
		for (int64_t n = self->destructors[i].size; n-- > 0;) self->destructors[i].functions[n]();
	fflush_unlocked(stdout);
	fflush_unlocked(state->out);
	if (!loggp_self) REAL(exit)(status); /* it calls the destructors */
	_exit(status);
}
__attribute__((noreturn)) static void stop_by(int s, void *caller) {
	fflush_unlocked(stdout);
	if (!self) {
		REAL(signal)(s, SIG_DFL);
		syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), s);
		for (;;) syscall(SYS_exit_group, 128 + s);
	}
	self->caller = caller;
	self->signal = s;
	self->address = (void *)LOGGP_NO_ADDRESS;
	end(s == SIGABRT ? LOGGP_ABORTED : LOGGP_SIGNAL, 0);
}
OURS void abort(void) {
	if (self && self->handlers[SIGABRT]) raise(SIGABRT);
	stop_by(SIGABRT, __builtin_return_address(0));
}
OURS void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
	fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);
	stop_by(SIGABRT, __builtin_return_address(0));
}

static int caught(int s);

/* A child process has the rank's memory, and is none: what it calls is the C library. The emulator's handlers of signals
 * are not for it. */
static pid_t after_fork(pid_t parent, pid_t child) {
	if (child == 0 && self) {
		self->forked = 1;
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it ends with the emulator, */
		if (getppid() != parent) syscall(SYS_exit_group, 128 + SIGKILL); /* which may have ended already */
		for (int s = 1; s < 32; s++)
			if (caught(s)) REAL(signal)(s, SIG_DFL);
	}
	return child;
}
OURS pid_t fork(void) {
	pid_t parent = getpid();
	return after_fork(parent, REAL(fork)());
}
OURS pid_t vfork(void) { return fork(); }
OURS pid_t _Fork(void) { return fork(); }

/* A program that replaces its process would replace the emulator and all ranks: exec fails, but in child processes. */
static int only_in_child(const char *name) {
	fprintf(stderr, "loggp: rank %d calls %s, which would end all ranks that are in this process: call it in a child (fork)\n", (int)self->rank, name);
	errno = ENOTSUP;
	return -1;
}
#define EXEC(name, ...) return self ? only_in_child(#name) : REAL(name)(__VA_ARGS__)
OURS int execve(const char *path, char *const args[], char *const env[]) { EXEC(execve, path, args, env); }
OURS int execv(const char *path, char *const args[]) { EXEC(execv, path, args); }
OURS int execvp(const char *file, char *const args[]) { EXEC(execvp, file, args); }
OURS int execvpe(const char *file, char *const args[], char *const env[]) { EXEC(execvpe, file, args, env); }
OURS int fexecve(int fd, char *const args[], char *const env[]) { EXEC(fexecve, fd, args, env); }

/* Those with their arguments one by one, the last of them NULL. */
#define LIST_ARGUMENTS(first, next) \
	va_list all; \
	int n = 1; \
	va_start(all, first); \
	while (va_arg(all, char *)) n++; \
	va_end(all); \
	char *args[n + 1]; \
	args[0] = (char *)first; \
	va_start(all, first); \
	for (int i = 1; i <= n; i++) args[i] = va_arg(all, char *); \
	next; \
	va_end(all)
OURS int execl(const char *path, const char *first, ...) {
	if (self) return only_in_child("execl");
	LIST_ARGUMENTS(first, );
	return REAL(execv)(path, args);
}
OURS int execlp(const char *file, const char *first, ...) {
	if (self) return only_in_child("execlp");
	LIST_ARGUMENTS(first, );
	return REAL(execvp)(file, args);
}
OURS int execle(const char *path, const char *first, ...) {
	if (self) return only_in_child("execle");
	LIST_ARGUMENTS(first, char *const *env = va_arg(all, char *const *));
	return REAL(execve)(path, args, env);
}

/* The current directory. The emulator sets that of a rank whenever its program runs. */
static int change_directory(int fd) {
	if (fd < 0) return -1;
	int first = !self->directory, outer = first ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : self->outer_directory;
	if (outer < 0 || REAL(fchdir)(fd) < 0) {
		int error = errno;
		close(fd);
		if (first && outer >= 0) close(outer);
		errno = error;
		return -1;
	}
	if (!first) close(self->directory - 1);
	self->outer_directory = outer;
	self->directory = fd + 1;
	return 0;
}
OURS int chdir(const char *path) { return self ? change_directory(open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) : REAL(chdir)(path); }
OURS int fchdir(int fd) { return self ? change_directory(fcntl(fd, F_DUPFD_CLOEXEC, 0)) : REAL(fchdir)(fd); }

/* Signals. Those that end a rank, and the one that Go sends itself, are handled by the emulator, which calls the program's
 * handlers. Others are those of the process. Handlers may be called in threads of Go's, whose stacks are small. */

typedef void (*handler)(int);

static int caught(int s) { return s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGILL || s == SIGTRAP || s == SIGSYS || s == SIGABRT || s == SIGXCPU || s == SIGURG; }

OURS int sigaction(int s, const struct sigaction *restrict a, struct sigaction *restrict old) {
	if (!self || !caught(s)) {
		struct sigaction b;
		if (self && a) {
			b = *a;
			b.sa_flags |= SA_ONSTACK;
			a = &b;
		}
		return REAL(sigaction)(s, a, old);
	}
	struct sigaction was = {.sa_handler = (handler)self->handlers[s], .sa_flags = self->with_info[s] ? SA_SIGINFO : 0};
	if (a) {
		self->handlers[s] = (void *)a->sa_handler;
		self->with_info[s] = !!(a->sa_flags & SA_SIGINFO);
	}
	if (old) *old = was;
	return 0;
}
OURS handler signal(int s, handler f) {
	if (self && loggp_fortran_begin) return SIG_DFL; /* gfortran's library would handle those of the process */
	struct sigaction a = {.sa_handler = f, .sa_flags = SA_RESTART}, old;
	return sigaction(s, &a, &old) < 0 ? SIG_ERR : old.sa_handler;
}
OURS handler bsd_signal(int s, handler f) { return signal(s, f); }
OURS handler sysv_signal(int s, handler f) { return signal(s, f); }
OURS handler __sysv_signal(int s, handler f) { return signal(s, f); }

OURS int raise(int s) {
	if (!self || s < 1 || !caught(s)) return REAL(raise)(s);
	handler f = (handler)self->handlers[s];
	if (f == SIG_IGN || s == SIGURG) return 0;
	if (f == SIG_DFL) stop_by(s, __builtin_return_address(0));
	if (self->with_info[s]) {
		siginfo_t info = {.si_signo = s, .si_code = SI_TKILL};
		((void (*)(int, siginfo_t *, void *))f)(s, &info, NULL);
	} else
		f(s);
	return 0;
}
OURS int kill(pid_t p, int s) { return self && p == getpid() && caught(s) ? raise(s) : REAL(kill)(p, s); }

static int mask(__typeof__(&sigprocmask) f, int how, const sigset_t *set, sigset_t *old) {
	sigset_t open;
	if (self && set && how != SIG_UNBLOCK) {
		open = *set;
		for (int s = 1; s < 32; s++)
			if (caught(s)) sigdelset(&open, s);
		set = &open;
	}
	return f(how, set, old);
}
OURS int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) { return mask(REAL(sigprocmask), how, set, old); }
OURS int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) { return mask(REAL(pthread_sigmask), how, set, old); }
OURS int sigaltstack(const stack_t *restrict s, stack_t *restrict old) { return self ? 0 : REAL(sigaltstack)(s, old); }

/* Time. Clocks that show the date begin on 1 January 2000. */

#define BEGINNING 946684800
#define BILLION 1000000000

static int dated(clockid_t c) { return c == CLOCK_REALTIME || c == CLOCK_REALTIME_COARSE || c == CLOCK_TAI; }

OURS int clock_gettime(clockid_t c, struct timespec *t) {
	ALONE(clock_gettime, c, t);
	int64_t now = loggp_now();
	t->tv_sec = now / BILLION + (dated(c) ? BEGINNING : 0);
	t->tv_nsec = now % BILLION;
	return 0;
}
OURS int clock_getres(clockid_t c, struct timespec *t) {
	ALONE(clock_getres, c, t);
	int64_t tick = loggp_tick();
	if (t) *t = (struct timespec){tick / BILLION, tick % BILLION};
	return 0;
}
OURS int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	ALONE(gettimeofday, t, zone);
	int64_t now = loggp_now();
	t->tv_sec = now / BILLION + BEGINNING;
	t->tv_usec = now % BILLION / 1000;
	return 0;
}
OURS time_t time(time_t *t) {
	ALONE(time, t);
	time_t now = loggp_now() / BILLION + BEGINNING;
	if (t) *t = now;
	return now;
}
OURS clock_t clock(void) {
	ALONE(clock);
	return loggp_now() / (BILLION / CLOCKS_PER_SEC);
}
OURS clock_t times(struct tms *t) {
	ALONE(times, t);
	clock_t now = loggp_now() / (BILLION / sysconf(_SC_CLK_TCK));
	if (t) *t = (struct tms){.tms_utime = now};
	return now;
}
OURS int getrusage(__rusage_who_t who, struct rusage *u) {
	ALONE(getrusage, who, u);
	int64_t now = loggp_now();
	if (syscall(SYS_getrusage, who, u) < 0) return -1;
	u->ru_utime = (struct timeval){now / BILLION, now % BILLION / 1000};
	u->ru_stime = (struct timeval){0, 0};
	return 0;
}
OURS unsigned sleep(unsigned s) {
	ALONE(sleep, s);
	loggp_sleep((int64_t)s * BILLION, __builtin_return_address(0));
	return 0;
}
OURS int usleep(useconds_t us) {
	ALONE(usleep, us);
	loggp_sleep((int64_t)us * 1000, __builtin_return_address(0));
	return 0;
}
static int64_t nanoseconds(const struct timespec *t) {
	int64_t ns;
	if (__builtin_mul_overflow((int64_t)t->tv_sec, BILLION, &ns) || __builtin_add_overflow(ns, t->tv_nsec, &ns))
		return t->tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}
OURS int nanosleep(const struct timespec *t, struct timespec *rest) {
	ALONE(nanosleep, t, rest);
	if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= BILLION) {
		errno = EINVAL;
		return -1;
	}
	loggp_sleep(nanoseconds(t), __builtin_return_address(0));
	if (rest) *rest = (struct timespec){0, 0};
	return 0;
}
OURS int clock_nanosleep(clockid_t c, int flags, const struct timespec *t, struct timespec *rest) {
	ALONE(clock_nanosleep, c, flags, t, rest);
	if (t->tv_nsec < 0 || t->tv_nsec >= BILLION || (t->tv_sec < 0 && !(flags & TIMER_ABSTIME))) return EINVAL;
	int64_t d = nanoseconds(t);
	int64_t now = flags & TIMER_ABSTIME ? loggp_now() + (dated(c) ? (int64_t)BEGINNING * BILLION : 0) : 0;
	if (d > now) loggp_sleep(d - now, __builtin_return_address(0));
	return 0;
}

/* Random numbers: the sequences of the C library, one for each rank. */

static struct random_data *randomness(void) {
	if (!state->random_data.state) initstate_r(1, state->random_state, sizeof state->random_state, &state->random_data);
	return &state->random_data;
}

OURS long random(void) {
	int32_t x;
	random_r(randomness(), &x);
	return x;
}
OURS int rand(void) { return random(); }
OURS void srandom(unsigned seed) { srandom_r(seed, randomness()); }
OURS void srand(unsigned seed) { srandom(seed); }
OURS double drand48(void) {
	double x;
	drand48_r(&state->drand48_data, &x);
	return x;
}
OURS long lrand48(void) {
	long x;
	lrand48_r(&state->drand48_data, &x);
	return x;
}
OURS long mrand48(void) {
	long x;
	mrand48_r(&state->drand48_data, &x);
	return x;
}
OURS void srand48(long seed) { srand48_r(seed, &state->drand48_data); }
OURS unsigned short *seed48(unsigned short *seed) {
	static unsigned short old[3];
	memcpy(old, state->drand48_data.__x, sizeof old);
	seed48_r(seed, &state->drand48_data);
	return old;
}

/* OpenMP. Ranks in one process would share the lock of critical sections that have no name. */

__attribute__((weak)) void GOMP_critical_name_start(void **);
__attribute__((weak)) void GOMP_critical_name_end(void **);
static void **critical(void) {
	static void *alone;
	return self ? &self->critical : &alone;
}
OURS void GOMP_critical_start(void) { GOMP_critical_name_start(critical()); }
OURS void GOMP_critical_end(void) { GOMP_critical_name_end(critical()); }

/* Shared libraries that the program loads. The emulator makes the rank's own copies. */

int64_t loggp_open(const char *, int64_t);

/* A program with this reference is one that loads libraries, as its own references to dlopen are bound to ours. */
static __typeof__(&dlvsym) volatile mark_of_loading;

OURS void *dlopen(const char *file, int mode) {
	ALONE(dlopen, file, mode);
	mark_of_loading = dlvsym;
	return (void *)loggp_open(file, mode);
}
OURS char *dlerror(void) {
	ALONE(dlerror);
	char *text = self->load_error;
	self->load_error = NULL;
	return text ? text : self->loader_error();
}

/* Strings and options. */

OURS char *strtok(char *restrict s, const char *restrict delimiters) {
	static char *rest;
	return strtok_r(s, delimiters, &rest);
}

#undef optarg
#undef optind
#undef opterr
#undef optopt
OURS char *optarg;
OURS int optind = 1, opterr = 1, optopt = '?';

/* An executable may have copies of them. */
#ifdef LOGGP_EXECUTABLE
static void *place(const char *name, void *own) {
	const struct loggp_executable *e = self ? self->executable : NULL;
	for (int64_t i = 0; e && i < e->copies_size; i++)
		if (strcmp(e->copies[i].name, name) == 0) return (void *)(self->executable_base + e->copies[i].at);
	return own;
}
#define PLACE(variable) (*(__typeof__(variable) *)place(#variable, &variable))
#else
#define PLACE(variable) variable
#endif

/* options lets the C library read options with this rank's place in them. */
static int options(int argc, char *const *argv, const char *shorts, const struct option *longs, int *index, const char *by) {
	static int begun;
	void *libc = C_LIBRARY;
	int *theirs = dlsym(libc, "optind");
	*theirs = !begun && PLACE(optind) == 1 ? 0 : PLACE(optind);
	begun = 1;
	*(int *)dlsym(libc, "opterr") = PLACE(opterr);
	int c = longs ? ((int (*)(int, char *const *, const char *, const struct option *, int *))dlsym(libc, by))(argc, argv, shorts, longs, index)
	              : ((int (*)(int, char *const *, const char *))dlsym(libc, by))(argc, argv, shorts);
	PLACE(optind) = *theirs;
	PLACE(optopt) = *(int *)dlsym(libc, "optopt");
	PLACE(optarg) = *(char **)dlsym(libc, "optarg");
	return c;
}

OURS int getopt(int argc, char *const *argv, const char *shorts) { return options(argc, argv, shorts, NULL, NULL, "getopt"); }
OURS int getopt_long(int argc, char *const *argv, const char *shorts, const struct option *longs, int *index) {
	return options(argc, argv, shorts, longs, index, "getopt_long");
}
OURS int getopt_long_only(int argc, char *const *argv, const char *shorts, const struct option *longs, int *index) {
	return options(argc, argv, shorts, longs, index, "getopt_long_only");
}

/* What the emulator calls: attach first, then start on the rank's own stack. */

EXPORTED int64_t loggp_attach(struct loggp_rank *r) {
	if (r->version != LOGGP_VERSION) return 1;
	loggp_self = r;
	if (!r->state) {
		r->state = state;
		if (!r->stdin_is_open) state->in = fopencookie(NULL, "r", (cookie_io_functions_t){NULL}); /* it has nothing to read */
	}
	state = r->state;
#ifdef LOGGP_EXECUTABLE
	if (r->executable) state->destruct = destruct;
#else
	state->destruct = destruct;
#endif
	stdin = state->in;
	stdout = state->out;
	stderr = state->err;
	if (loggp_fortran_begin) loggp_fortran_begin(r);
	return stdin && stdout && stderr ? 0 : -1;
}

#ifdef LOGGP_EXECUTABLE

/* An executable starts at its entry, with what a process has on its stack. It calls this then. */
OURS int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(int, char **, char **), void (*fini)(void), void (*loader)(void), void *stack) {
	const struct loggp_executable *e = self->executable;
	void (**f)() = (void (**)())(self->executable_base + e->constructors);
	if (init)
		init(argc, argv, environ); /* as the C library did until version 2.33: it calls the constructors */
	else
		for (int64_t i = 0; i < e->constructors_size; i++) f[i](argc, argv, environ);
	exit(program(argc, argv, environ));
}

EXPORTED void loggp_start(int argc, char **argv) {
	int n = 0;
	while (environ[n]) n++;
	intptr_t top[argc + n + 6] __attribute__((aligned(16)));
	memset(top, 0, sizeof top);
	top[0] = argc;
	memcpy(top + 1, argv, argc * sizeof *argv);
	memcpy(top + argc + 2, environ, n * sizeof *environ);
	intptr_t entry = self->executable_base + self->executable->entry;
#if defined(__x86_64__)
	__asm__ volatile("xor %%edx, %%edx\nmov %0, %%rsp\njmp *%1" ::"r"(top), "r"(entry) : "memory", "rdx");
#elif defined(__aarch64__)
	__asm__ volatile("mov x0, #0\nmov sp, %0\nbr %1" ::"r"(top), "r"(entry) : "memory", "x0");
#endif
	__builtin_unreachable();
}

#else

EXPORTED void loggp_start(int argc, char **argv) {
	exit(main(argc, argv, environ));
}

/* The start of a program that somebody else starts, as configure scripts do to see whether compiled programs run: it goes
 * on as any program does until it calls MPI. A shared object has no entry and no interpreter of itself. */

#if defined(__x86_64__)
#define INTERPRETER "/lib64/ld-linux-x86-64.so.2"
__asm__(".text\n.globl loggp_alone\n.hidden loggp_alone\n.type loggp_alone, @function\nloggp_alone:\n"
        "xor %ebp, %ebp\nmov %rsp, %rdi\nmov %rdx, %rsi\nand $-16, %rsp\ncall loggp_alone_from\nhlt\n");
#elif defined(__aarch64__)
#define INTERPRETER "/lib/ld-linux-aarch64.so.1"
__asm__(".text\n.globl loggp_alone\n.hidden loggp_alone\n.type loggp_alone, %function\nloggp_alone:\n"
        "mov x29, #0\nmov x30, #0\nmov x1, x0\nmov x0, sp\nbl loggp_alone_from\nbrk #1\n");
#endif

__attribute__((section(".interp"), used)) static const char interpreter[] = INTERPRETER;

static void constructors(int argc, char **argv, char **env) {
	int n;
	void (**f)() = functions(DT_INIT_ARRAY, DT_INIT_ARRAYSZ, &n);
	for (int i = 0; i < n; i++) f[i](argc, argv, env);
}

static int alone(int argc, char **argv, char **env) {
	stdout = *(FILE **)dlsym(RTLD_DEFAULT, "stdout");
	stderr = *(FILE **)dlsym(RTLD_DEFAULT, "stderr");
	exit(main(argc, argv, env));
}

extern int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(int, char **, char **), void (*)(void), void (*)(void), void *);

__attribute__((used, noreturn, visibility("hidden"))) void loggp_alone_from(intptr_t *stack, void (*loader)(void)) {
	__asm__ volatile("" ::"r"(interpreter)); /* the linker takes what is not used for waste */
	__libc_start_main(alone, (int)*stack, (char **)(stack + 1), constructors, NULL, loader, stack);
	__builtin_trap();
}

#endif
