//go:build linux && (amd64 || arm64)

#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// signals are those that end a rank.
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGXCPU};

// signal_stack is the size of the stack on which a thread handles signals.
enum { signal_stack = 64 << 10 };

// current is the rank that this thread runs. Only functions that do not change stacks use it.
static __thread struct host_rank *current __attribute__((tls_model("initial-exec")));

// null_of_thread is null in every thread.
static __thread void *null_of_thread __attribute__((tls_model("initial-exec")));

// current_thread is the thread of the program that this is; NULL: the one that runs main, or none.
static __thread struct host_thread *current_thread __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) static void set_current(struct host_rank *h) { current = h; }
__attribute__((noinline)) static struct host_rank *get_current(void) { return current; }

// loggp_swap keeps what a function must keep on the stack, and goes on on another stack.
void loggp_swap(void **from, void *to);
void loggp_boot(void);

#if defined(__amd64__)
#define ADD "addq %1, %0\n\t"
__asm__(".text\n.p2align 4\n.hidden loggp_swap\n.globl loggp_swap\n.type loggp_swap,@function\nloggp_swap:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  subq $8, %rsp\n  stmxcsr (%rsp)\n  fnstcw 4(%rsp)\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  ldmxcsr (%rsp)\n  fldcw 4(%rsp)\n  addq $8, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size loggp_swap,.-loggp_swap\n"
        ".hidden loggp_boot\n.globl loggp_boot\n.type loggp_boot,@function\nloggp_boot:\n"
        "  movq %rbx, %rdi\n  xorl %ebp, %ebp\n  call loggp_run\n  ud2\n.size loggp_boot,.-loggp_boot\n");
#else
#define ADD "add %0, %0, %1\n\t"
__asm__(".text\n.p2align 4\n.hidden loggp_swap\n.globl loggp_swap\n.type loggp_swap,%function\nloggp_swap:\n"
        "  sub sp, sp, #176\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mrs x9, fpcr\n  str x9, [sp, #160]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldr x9, [sp, #160]\n  msr fpcr, x9\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #176\n  ret\n.size loggp_swap,.-loggp_swap\n"
        ".hidden loggp_boot\n.globl loggp_boot\n.type loggp_boot,%function\nloggp_boot:\n"
        "  mov x0, x19\n  mov x29, #0\n  mov x30, #0\n  bl loggp_run\n  brk #1\n.size loggp_boot,.-loggp_boot\n");
#endif

// c_library is the handle of what the process had before the program: the C library above all.
static void *c_library;

// take_thread_event makes what happened in another thread the rank's end.
static void take_thread_event(struct host_rank *h) {
	h->fault_sp = NULL;
	__atomic_store_n(&h->thread_taken, 1, __ATOMIC_RELEASE);
	h->r.event = h->thread_event;
	h->r.signal = h->thread_signal;
	h->r.address = h->thread_address;
	h->r.caller = h->thread_caller;
	h->r.args = &h->thread_status;
	if (h->thread_event == LOGGP_THREAD) h->r.call = h->thread_call;
}

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

// processor_time is the processor time of this thread, in which it computed: while another thread has
// its processor none passes.
static int64_t processor_time(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

double loggp_cycles_a_second(void) {
	enum { times = 20000, unrolled = 16 };
	int64_t least = INT64_MAX;
	for (int i = 0; i < 50; i++) {
		uint64_t x = 0, one = 1;
		int64_t begin = now();
		for (int k = 0; k < times; k++) __asm__ volatile(ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD : "+r"(x) : "r"(one));
		int64_t d = now() - begin;
		if (d < least) least = d;
	}
	return 1e9 * times * unrolled / least;
}

__attribute__((visibility("hidden"), used)) void loggp_run(struct host_rank *h) { h->start(h->argc, h->argv); }

// latest is the rank that was resumed last: it is to blame if the heap is broken.
static struct host_rank *latest;

// begin_turn and end_turn note which thread runs the program, and how long.
static void begin_turn(struct host_rank *h, int64_t thread) {
	if (h->measure) {
		h->measured_from = now();
		h->computed_from = processor_time();
	}
	__atomic_store_n(&h->thread, thread, __ATOMIC_RELAXED);
}

static void end_turn(struct host_rank *h) {
	__atomic_store_n(&h->thread, 0, __ATOMIC_RELAXED);
	if (h->measure) {
		h->spent += processor_time() - h->computed_from;
		h->elapsed += now() - h->measured_from;
	}
}

// go_into runs the program in this thread until it gives up control.
static void go_into(struct host_rank *h) {
	static __thread int64_t thread;
	if (!thread) thread = syscall(SYS_gettid);
	h->frame = __builtin_frame_address(0);
	begin_turn(h, thread);
	set_current(h);
	if (__atomic_load_n(&h->thread_event, __ATOMIC_ACQUIRE))
		take_thread_event(h);
	else
		loggp_swap(&h->host_sp, h->program_sp);
	set_current(NULL);
	end_turn(h);
}

static void wait_for(sem_t *s) {
	while (sem_wait(s) < 0) {}
}

// enter_directory and leave_directory change the current directory of the process to that of a rank, and back.
static void enter_directory(struct host_rank *h) {
	if (!h->r.directory) return;
	h->r.outer_directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fchdir(h->r.directory - 1)) {} // as in a process whose directory is forbidden later
}

static void leave_directory(struct host_rank *h) {
	if (!h->r.directory) return;
	if (fchdir(h->r.outer_directory)) {}
	close(h->r.outer_directory);
}

void loggp_await(struct host_rank *h) {
	wait_for(&h->came_back);
	if (!h->other) leave_directory(h);
}

void loggp_resume(struct host_rank *h, struct host_thread *t) {
	__atomic_store_n(&h->resumed, h->resumed + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&latest, h, __ATOMIC_RELAXED);
	enter_directory(h);
	if (!t && !h->own_thread) {
		go_into(h);
		leave_directory(h);
		return;
	}
	sem_post(t ? &t->go : &h->go);
	loggp_await(h);
}

// own_thread is the thread of one rank.
static void *own_thread(void *rank) {
	struct host_rank *h = rank;
	sigaltstack(&(stack_t){.ss_sp = mmap(NULL, signal_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = signal_stack}, NULL);
	for (;;) {
		wait_for(&h->go);
		go_into(h);
		sem_post(&h->came_back);
	}
}

int loggp_start_thread(struct host_rank *h) {
	if (h->own_thread) return 0;
	sem_init(&h->go, 0, 0);
	sigset_t theirs, before;
	sigfillset(&theirs); // other signals are for Go's threads
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigdelset(&theirs, signals[i]);
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&a, 256 << 10);
	pthread_sigmask(SIG_BLOCK, &theirs, &before);
	pthread_t t;
	int e = pthread_create(&t, &a, own_thread, h);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&a);
	h->own_thread = e == 0;
	return e;
}

static void put(const char *text) { syscall(SYS_write, 2, text, strlen(text)); }

const char **loggp_function;

// end_by_thread ends a rank whose program has started this thread. The thread does not go on.
static void end_by_thread(struct host_rank *h, int event, int signal, void *address, void *caller) {
	if (!__atomic_test_and_set(&h->thread_lock, __ATOMIC_ACQUIRE)) {
		h->thread_signal = signal;
		h->thread_call = h->r.call;
		h->thread_address = address;
		h->thread_caller = caller;
		if (event == LOGGP_EXITED) h->thread_status = *h->r.args;
		__atomic_store_n(&h->thread_event, event, __ATOMIC_RELEASE);
		for (int i = 0; i < 100; i++) { // the rank may be in a call, and return
			loggp_interrupt(h);
			nanosleep(&(struct timespec){0, 10000000}, NULL);
			if (__atomic_load_n(&h->thread_taken, __ATOMIC_ACQUIRE))
				for (;;) pause();
		}
		char number[24];
		int64_t n = h->r.rank, i = sizeof number - 1;
		for (number[i] = 0; i == sizeof number - 1 || n > 0; n /= 10) number[--i] = '0' + n % 10;
		put("loggp: rank ");
		put(number + i);
		put(event == LOGGP_SIGNAL ? ": signal: " : event == LOGGP_THREAD ? ": MPI is called" : ": the program ended");
		if (event == LOGGP_SIGNAL) put(sigdescr_np(signal));
		put(" in a thread that the program has started");
		if (h->r.call >= 0) {
			put("; its last call was ");
			put(loggp_function[h->r.call]);
		}
		put("\n");
		syscall(SYS_exit_group, event == LOGGP_SIGNAL ? 128 + signal : event == LOGGP_EXITED && h->thread_status ? h->thread_status : 1);
	}
	for (;;) pause();
}

// Threads that the program has started.

static void free_signal_stack(struct host_thread *t) {
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	munmap(t->signal_stack, signal_stack);
}

// wait_turn waits until this thread is resumed.
static void wait_turn(struct host_rank *h, struct host_thread *t) {
	wait_for(&t->go);
	begin_turn(h, t->id);
	if (__atomic_load_n(&h->thread_event, __ATOMIC_ACQUIRE)) {
		take_thread_event(h);
		end_turn(h);
		sem_post(&h->came_back);
		for (;;) pause();
	}
}

static int64_t thread_number(struct loggp_rank *r) {
	if (get_current() != (struct host_rank *)r) return LOGGP_OTHER_THREAD;
	return current_thread ? current_thread->number : 0;
}

struct host_thread *loggp_make_thread(struct host_rank *h, int64_t number) {
	struct host_thread *t = calloc(1, sizeof *t);
	if (t) {
		t->number = number;
		sem_init(&t->go, 0, 0);
	}
	return t;
}

void loggp_drop_thread(struct host_thread *t) {
	sem_destroy(&t->go);
	free(t);
}

// take_call waits until the fields of a call may be written. Where threads of libraries do not call, others do one at a time.
static void take_call(struct host_rank *h) {
	if (h->own_thread) wait_for(&h->call_free);
}

// end_key is a variable of threads whose destructor is called when others of the program are.
static pthread_key_t end_key;

static void begin_thread(struct loggp_rank *r, struct loggp_thread *thread) {
	struct host_rank *h = (struct host_rank *)r;
	struct host_thread *t = (struct host_thread *)thread;
	t->id = syscall(SYS_gettid);
	t->signal_stack = mmap(NULL, signal_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (t->signal_stack != MAP_FAILED) sigaltstack(&(stack_t){.ss_sp = t->signal_stack, .ss_size = signal_stack}, NULL);
	set_current(h);
	current_thread = t;
	pthread_setspecific(end_key, h);
	wait_turn(h, t);
}

// end_thread ends this thread's turn in the last round of destructors.
static void end_thread(void *rank) {
	struct host_rank *h = rank;
	struct host_thread *t = current_thread;
	if (++t->rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end_key, h);
		return;
	}
	if (t->signal_stack != MAP_FAILED) free_signal_stack(t);
	take_call(h);
	h->r.event = LOGGP_THREAD_ENDED;
	h->r.threads--;
	t->t.ended = 1;
	set_current(NULL);
	current_thread = NULL;
	end_turn(h);
	sem_post(&h->came_back);
}

// cross is called on the program's stack, which may be resumed in another thread than it was left.
static void cross(struct loggp_rank *r) {
	struct host_rank *h = (struct host_rank *)r;
	struct host_thread *t = current_thread;
	if (get_current() != h) end_by_thread(h, r->event, r->signal, r->address, r->caller);
	for (;;) {
		if (t) {
			end_turn(h);
			sem_post(&h->came_back);
			wait_turn(h, t);
		} else
			loggp_swap(&h->program_sp, h->host_sp);
		if (!r->callback) return;
		intptr_t (*f)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t) = r->callback;
		intptr_t *a = r->callback_args;
		r->callback = NULL;
		intptr_t result = f(a[0], a[1], a[2], a[3], a[4], a[5]);
		r->result = result;
		r->event = LOGGP_RETURNED;
	}
}

static void set_call(struct loggp_rank *r, struct loggp_call *c) {
	r->event = LOGGP_CALL;
	r->call = (uint32_t)c->number;
	r->descriptors = c->number >> 32;
	r->args = c->args;
	r->caller = c->caller;
}

static void call_function(struct loggp_rank *r, struct loggp_call *c) {
	struct host_rank *h = (struct host_rank *)r;
	if (get_current() == h) {
		take_call(h);
		set_call(r, c);
		cross(r);
		c->result = r->result;
		c->real = r->real;
		return;
	}
	if (!h->other_threads_may_call) {
		set_call(r, c);
		end_by_thread(h, LOGGP_THREAD, 0, NULL, c->caller);
	}
	struct host_thread t = {.number = LOGGP_OTHER_THREAD};
	sem_init(&t.go, 0, 0);
	take_call(h);
	set_call(r, c);
	h->other = &t;
	sem_post(&h->came_back);
	wait_for(&t.go);
	sem_destroy(&t.go);
	c->result = t.result;
	c->real = t.real;
}

void loggp_free_call(struct host_rank *h) { sem_post(&h->call_free); }

void loggp_end_other_call(struct host_thread *t) { sem_post(&t->go); }

int loggp_lock(struct host_rank *h) {
	for (int i = 0; i < 10000; i++) {
		if (!__atomic_test_and_set(&h->lock, __ATOMIC_ACQUIRE)) return 1;
		if (i > 100) nanosleep(&(struct timespec){0, 100000}, NULL);
	}
	return 0;
}

void loggp_unlock(struct host_rank *h) { __atomic_clear(&h->lock, __ATOMIC_RELEASE); }

static void output(struct loggp_rank *r, int fd, const char *b, uint64_t n) {
	struct host_rank *h = (struct host_rank *)r;
	if (!loggp_lock(h)) return;
	uint64_t need = h->out_length + 16 + n;
	if (need > h->out_room) {
		uint64_t room = need < 4096 ? 4096 : 2 * need;
		char *more = realloc(h->out, room);
		if (!more) {
			loggp_unlock(h);
			return;
		}
		h->out = more;
		h->out_room = room;
	}
	int64_t head[2] = {fd, n};
	memcpy(h->out + h->out_length, head, 16);
	memcpy(h->out + h->out_length + 16, b, n);
	h->out_length = need;
	loggp_unlock(h);
}

struct host_rank *loggp_new(struct host_arena *a, uint64_t index, int64_t version, int64_t rank, int argc, const char *arguments, uint64_t length, int stdin_is_open, int measure) {
	struct host_rank *h = loggp_place_rank(a, index);
	if (!h) return NULL;
	char *text = memcpy(h->stack + h->stack_size - length, arguments, length); // as in a process
	char **argv = (char **)((uintptr_t)text - (argc + 1) * sizeof(char *) & ~(uintptr_t)15);
	for (int i = 0; i < argc; i++) {
		argv[i] = text;
		text += strlen(text) + 1;
	}
	h->r.version = version;
	h->r.call_function = call_function;
	h->r.cross = cross;
	h->r.thread = thread_number;
	h->r.begin_thread = begin_thread;
	sem_init(&h->came_back, 0, 0);
	sem_init(&h->call_free, 0, 1);
	h->r.output = output;
	h->r.rank = rank;
	h->r.call = -1;
	h->r.c_library = c_library;
	h->r.loader_error = dlerror;
	h->r.stdin_is_open = stdin_is_open;
#if defined(__amd64__)
	char *thread;
	__asm__("movq %%fs:0, %0" : "=r"(thread));
	h->r.null_of_thread = (char *)&null_of_thread - thread;
#endif
	h->argc = argc;
	h->argv = argv;
	h->measure = measure;
	char *top = (char *)argv - 64;
#if defined(__amd64__)
	void **sp = (void **)top - 8; // control words, r15 to rbp, and where to go on
	*--sp = (void *)loggp_boot;
	*--sp = 0;                    // rbp
	*--sp = h;                    // rbx
	for (int i = 0; i < 4; i++) *--sp = 0;
	--sp;
	__asm__("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(sp) : "memory");
#else
	void **sp = (void **)(top - 176);
	sp[0] = h;                   // x19
	sp[11] = (void *)loggp_boot; // x30
#endif
	h->program_sp = sp;
	return h;
}

// unique_path makes a path of an open file that no other has had, as the loader takes a known path for a known file. There
// are many ways to write one.
static void unique_path(char *path, int fd) {
	static uint32_t loaded;
	path += sprintf(path, "/proc/self/fd/");
	for (uint32_t n = __atomic_add_fetch(&loaded, 1, __ATOMIC_RELAXED); n > 0; n >>= 1) path += sprintf(path, n & 1 ? "./" : "/");
	sprintf(path, "%d", fd);
}

// find_image finds the size and the instructions of what is loaded at an address.
static int find_image(struct dl_phdr_info *info, size_t size, void *data) {
	struct host_image *image = data;
	if (info->dlpi_addr != image->base) return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > image->size) image->size = p->p_vaddr + p->p_memsz;
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			image->code = image->base + p->p_vaddr;
			image->code_size = p->p_memsz;
		}
	}
	return 1;
}

// leave_guarded goes on where h is guarded. It is what a signal goes on with.
static void leave_guarded(struct host_rank *h) { longjmp(*h->guarded, 1); }

// copy_of returns the copy of a file that a list has; NULL: it has none.
static struct host_copy *copy_of(const struct host_copy *all, int64_t number) {
	while (all && all->number != number) all = all->next;
	return (struct host_copy *)all;
}

void *loggp_open_copy(const struct loggp_image *image, const struct host_copy *others, char path[128], const char **error) {
	int fd = memfd_create("rank", MFD_CLOEXEC), failed = fd < 0;
	for (uint64_t done = 0; !failed && done < image->size;) {
		ssize_t n = write(fd, image->bytes + done, image->size - done);
		failed = n < 0;
		done += n;
	}
	for (int64_t i = 0; !failed && i < image->dependencies_size; i++) {
		struct host_copy *c = copy_of(others, image->dependencies[i].number);
		failed = pwrite(fd, c->path, sizeof c->path, image->dependencies[i].at) < 0;
	}
	if (failed) {
		*error = strerror(errno);
		if (fd >= 0) close(fd);
		return NULL;
	}
	unique_path(path, fd);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | image->flags);
	close(fd);
	if (!library) *error = dlerror();
	return library;
}

// open_copy opens a rank's copy of a file, and adds it to the rank's list.
static void *open_copy(struct host_rank *h, const struct loggp_image *image, const char **error) {
	struct host_copy *c = calloc(1, sizeof *c);
	struct link_map *map;
	if (!c) {
		*error = strerror(errno);
		return NULL;
	}
	c->number = image->number;
	c->handle = loggp_open_copy(image, h->copies, c->path, error);
	if (!c->handle) {
		free(c);
		return NULL;
	}
	if (dlinfo(c->handle, RTLD_DI_LINKMAP, &map) == 0) c->image.base = map->l_addr;
	dl_iterate_phdr(find_image, &c->image);
	c->next = h->copies;
	__atomic_store_n(&h->copies, c, __ATOMIC_RELEASE);
	return c->handle;
}

static int64_t (*attach_function(void *library))(struct loggp_rank *) { return dlsym(library, "loggp_attach"); }

void *loggp_open_copies(struct host_rank *h, const struct loggp_image *images, int64_t n, const char **error) {
	void *handle = NULL;
	for (int64_t i = 0; i < n; i++) {
		struct host_copy *c = copy_of(h->copies, images[i].number);
		if (c && (handle = dlopen(c->path, RTLD_NOW | RTLD_NOLOAD))) { // it has been opened once more
			if (i < n - 1) dlclose(handle);
			continue;
		}
		if (c) c->number = -1; // the program has closed it
		handle = open_copy(h, &images[i], error);
		if (!handle) return NULL;
		if (images[i].number == loggp_runtime_number && (*error = loggp_attach_rank(h, attach_function(handle)))) return NULL;
	}
	return handle;
}

// set_load_error copies the text of an error for dlerror, once for each rank.
static intptr_t set_load_error(struct host_rank *h, const char *text) {
	static __thread char kept[1024];
	snprintf(kept, sizeof kept, "%s", text);
	h->r.load_error = kept;
	return 0;
}

intptr_t loggp_open_libraries(intptr_t rank, intptr_t images, intptr_t n, intptr_t mode, intptr_t b, intptr_t c) {
	struct host_rank *h = (struct host_rank *)rank;
	const struct loggp_image *all = (const struct loggp_image *)images;
	const char *error = NULL;
	if (mode & RTLD_NOLOAD && !copy_of(h->copies, all[n - 1].number)) return 0;
	void *handle = loggp_open_copies(h, all, n, &error);
	return handle ? (intptr_t)handle : set_load_error(h, error);
}

intptr_t loggp_open_shared(intptr_t rank, intptr_t file, intptr_t mode, intptr_t a, intptr_t b, intptr_t c) {
	void *handle = dlopen((const char *)file, mode);
	return handle ? (intptr_t)handle : set_load_error((struct host_rank *)rank, dlerror());
}

// copy_variables copies variables of the library, and of those that it needs, into an executable.
static const char *copy_variables(struct host_rank *h, void *library) {
	for (int64_t i = 0; i < h->r.executable->copies_size; i++) {
		struct loggp_copy *c = &h->r.executable->copies[i];
		void *from = dlsym(library, c->name);
		if (!from) return "it has a copy of a variable of a library other than those of C: compile it with loggp cc";
		memcpy((void *)(h->image.base + c->at), from, c->size);
	}
	return NULL;
}

const char *loggp_attach_rank(struct host_rank *h, int64_t (*attach)(struct loggp_rank *)) {
	int64_t status = attach(&h->r);
	if (status > 0) return "it was compiled by another version of loggp cc: compile it again";
	return status < 0 ? "its standard streams cannot be opened" : NULL;
}

// add_destructors lets the rank call the destructors of its copies of files.
static const char *add_destructors(struct host_rank *h, const struct loggp_image *images, int64_t n) {
	struct loggp_destructors *all = calloc(n, sizeof *all);
	if (!all) return strerror(errno);
	for (int64_t i = 0; i < n; i++)
		all[i] = (struct loggp_destructors){(void (**)(void))(copy_of(h->copies, images[i].number)->image.base + images[i].destructors), images[i].destructors_size};
	h->r.destructors = all;
	h->r.destructors_size = n;
	return NULL;
}

static const char *load(struct host_rank *h, const struct loggp_image *images, int64_t n, const struct loggp_executable *executable) {
	const char *error = NULL;
	void *program = NULL;
	for (int64_t i = 0; i < n; i++) {
		program = open_copy(h, &images[i], &error);
		if (!program) return error;
	}
	h->image = h->copies->image;
	struct host_copy *runtime = copy_of(h->copies, loggp_runtime_number);
	if (executable) {
		h->r.executable = executable;
		h->r.executable_base = h->image.base;
	}
	if (runtime) {
		error = loggp_attach_rank(h, attach_function(runtime->handle));
		if (error) return error;
	}
	void *first = executable ? runtime->handle : program; // what has the start of the program
	int64_t (*attach)(struct loggp_rank *) = attach_function(first);
	h->start = dlsym(first, "loggp_start");
	if (!attach || !h->start) return "it was not compiled by loggp cc";
	error = executable ? copy_variables(h, first) : loggp_attach_rank(h, attach);
	return error || n == 1 ? error : add_destructors(h, images, n);
}

const char *loggp_load(struct host_rank *h, const struct loggp_image *images, int64_t n, const struct loggp_executable *executable) {
	jmp_buf here;
	const char *text = NULL;
	h->guarded = &here;
	set_current(h);
	enter_directory(h);
	if (!setjmp(here)) text = h->arena->image ? loggp_copy_template(h) : load(h, images, n, executable);
	leave_directory(h);
	set_current(NULL);
	h->guarded = NULL;
	return text;
}

int loggp_delete(struct host_rank *h) {
	jmp_buf here;
	h->guarded = &here;
	set_current(h);
	int stopped = setjmp(here);
	if (!stopped) {
		for (struct host_copy *c; (c = h->copies); free(c)) {
			h->copies = c->next;
			dlclose(c->handle);
		}
		free((void *)h->r.destructors);
		if (latest == h) latest = NULL;
		free(h->out);
		if (h->r.directory) close(h->r.directory - 1);
	}
	set_current(NULL);
	h->guarded = NULL;
	return !stopped;
}

intptr_t loggp_allocate(intptr_t n, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e) { return (intptr_t)malloc(n); }
intptr_t loggp_release(intptr_t p, intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e) {
	free((void *)p);
	return 0;
}

int loggp_mapped(uintptr_t at, uint64_t size) {
	uintptr_t page = sysconf(_SC_PAGESIZE), from = at & -page;
	return at + size >= at && (size == 0 || msync((void *)from, at + size - from, MS_ASYNC) == 0 || errno != ENOMEM);
}

// die leaves a program that cannot go on. It runs at the top of the program's stack, whose contents are lost.
static void die(struct host_rank *h) {
	loggp_swap(&h->program_sp, h->host_sp);
	__builtin_trap();
}

// handle calls the program's handler of a signal that it cannot go on after, on its own stack.
static void handle(struct host_rank *h) {
	static __thread siginfo_t info;
	int s = h->r.signal;
	void *f = h->r.handlers[s];
	h->r.handlers[s] = NULL; // if it makes the same signal again, the rank ends
	info = (siginfo_t){.si_signo = s, .si_code = SEGV_MAPERR, .si_addr = h->r.address};
	void *address = h->r.address, *caller = h->r.caller;
	if (h->r.with_info[s])
		((void (*)(int, siginfo_t *, void *))f)(s, &info, NULL);
	else
		((void (*)(int))f)(s);
	h->r.event = LOGGP_SIGNAL;
	h->r.signal = s;
	h->r.address = address;
	h->r.caller = caller;
	die(h);
}

// go_on goes on with a function, which is called with a rank, on a stack.
static void go_on(ucontext_t *u, void (*f)(struct host_rank *), struct host_rank *h, uintptr_t sp) {
#if defined(__amd64__)
	u->uc_mcontext.gregs[REG_RSP] = (sp & ~(uintptr_t)15) - 8;
	u->uc_mcontext.gregs[REG_RIP] = (uintptr_t)f;
	u->uc_mcontext.gregs[REG_RDI] = (uintptr_t)h;
	u->uc_mcontext.gregs[REG_EFL] &= ~0x400; // direction flag
#else
	u->uc_mcontext.sp = sp & ~(uintptr_t)15;
	u->uc_mcontext.pc = (uintptr_t)f;
	u->uc_mcontext.regs[0] = (uintptr_t)h;
#endif
}

// end_turn_by_signal ends the rank by a signal in a thread that the program has started. The thread does not go on.
static void end_turn_by_signal(struct host_rank *h, int s, void *address, void *caller) {
	static __thread siginfo_t info;
	void *f = h->r.handlers[s];
	loggp_unlock(h); // it may have been hit where it writes output
	if (f && f != (void *)SIG_IGN && s != SIGXCPU) {
		h->r.handlers[s] = NULL; // if it makes the same signal again, the rank ends
		info = (siginfo_t){.si_signo = s, .si_code = SEGV_MAPERR, .si_addr = address};
		sigset_t own;
		sigemptyset(&own);
		for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&own, signals[i]);
		pthread_sigmask(SIG_UNBLOCK, &own, NULL);
		if (h->r.with_info[s])
			((void (*)(int, siginfo_t *, void *))f)(s, &info, NULL);
		else
			((void (*)(int))f)(s);
	}
	if (h->thread_event)
		take_thread_event(h);
	else {
		h->fault_sp = NULL;
		h->r.event = LOGGP_SIGNAL;
		h->r.signal = s;
		h->r.address = address;
		h->r.caller = caller;
	}
	end_turn(h);
	sem_post(&h->came_back);
	for (;;) pause();
}

// may_lose_turn reports whether the thread that runs may be interrupted: it is in the program's own instructions, and in no
// call of the emulator; or it waits in the system, as for a lock of the C library that another thread of the rank has.
static int may_lose_turn(struct host_rank *h, uintptr_t pc) {
	int free = 0;
	if (!h->own_thread || h->guarded || h->lock || h->r.keeps_turn || sem_getvalue(&h->call_free, &free) < 0 || !free) return 0;
	if (pc - h->image.code < h->image.code_size) return 1;
	for (struct host_copy *c = __atomic_load_n(&h->copies, __ATOMIC_ACQUIRE); c; c = c->next)
		if (pc - c->image.code < c->image.code_size && c->number != loggp_runtime_number) return 1;
	int64_t used = processor_time();
	int waits = h->looked == h->resumed && used - h->used < 100000;
	h->looked = h->resumed;
	h->used = used;
	return waits;
}

// end_of_turn is the value of signals that end a turn: others end the rank.
static char end_of_turn;

// lose_turn gives up control in a signal at an instruction, and returns when this thread's turn has come again.
static void lose_turn(struct host_rank *h, void *pc) {
	struct host_thread *t = current_thread;
	struct loggp_rank *r = &h->r;
	int64_t id = h->thread, event = r->event, call = r->call, descriptors = r->descriptors, result = r->result;
	intptr_t *args = r->args;
	void *caller = r->caller;
	double real = r->real;
	int error = errno;
	r->event = LOGGP_INTERRUPTED;
	r->caller = pc;
	end_turn(h);
	sem_post(&h->came_back);
	if (t)
		wait_turn(h, t);
	else {
		wait_for(&h->go);
		begin_turn(h, id);
		if (__atomic_load_n(&h->thread_event, __ATOMIC_ACQUIRE)) {
			take_thread_event(h);
			end_turn(h);
			sem_post(&h->came_back);
			for (;;) pause();
		}
	}
	errno = error;
	r->event = event;
	r->call = call;
	r->descriptors = descriptors;
	r->args = args;
	r->caller = caller;
	r->result = result;
	r->real = real;
}

static struct sigaction before[NSIG];

extern const char __executable_start[], etext[];

static void on_signal(int s, siginfo_t *info, void *context) {
	ucontext_t *u = context;
	struct host_rank *h = current;
#if defined(__amd64__)
	char *sp = (char *)u->uc_mcontext.gregs[REG_RSP];
	void *pc = (void *)u->uc_mcontext.gregs[REG_RIP];
#else
	char *sp = (char *)u->uc_mcontext.sp;
	void *pc = (void *)u->uc_mcontext.pc;
#endif
	if (s == SIGXCPU && info->si_code == SI_QUEUE && info->si_value.sival_ptr == &end_of_turn) {
		if (h && h->thread == syscall(SYS_gettid) && may_lose_turn(h, (uintptr_t)pc)) lose_turn(h, pc);
		return;
	}
	char *at = info->si_code <= 0 ? (char *)LOGGP_NO_ADDRESS : info->si_code == SI_KERNEL ? (char *)LOGGP_NO_MEMORY : info->si_addr;
	if (h && current_thread) {
		if (s == SIGXCPU && h->thread != current_thread->id) return;
		end_turn_by_signal(h, s, at, pc);
	}
	if (s == SIGXCPU && (!h || h->guarded || (char *)h->frame - sp < 65536 && sp - (char *)h->frame < 65536)) return; // the program does not run
	if (h && h->guarded) {
		h->r.event = LOGGP_SIGNAL;
		h->r.signal = s;
		h->r.address = at;
		h->r.caller = pc;
		go_on(u, leave_guarded, h, (uintptr_t)sp - 4096);
		return;
	}
	if (h) {
		char *bottom = h->stack + guard, *top = bottom + h->stack_size - guard;
		int overflow = at >= h->stack && at < bottom || at >= (char *)65536 && sp < bottom && at < bottom && at >= sp - 65536;
		int within = sp >= bottom + 8192 && sp <= top;
		void *f = h->r.handlers[s];
		if (s == SIGXCPU && h->thread_event) {
			take_thread_event(h);
			go_on(u, die, h, (uintptr_t)top - 64);
			return;
		}
		h->r.event = LOGGP_SIGNAL;
		h->r.signal = overflow ? 0 : s;
		h->r.address = at;
		h->r.caller = pc;
		h->fault_sp = sp;
		loggp_unlock(h); // it may have been hit where it writes output
		if (f && f != (void *)SIG_IGN && !overflow && within && s != SIGXCPU)
			go_on(u, handle, h, (uintptr_t)sp - 1024);
		else
			go_on(u, die, h, (uintptr_t)top - 64);
		return;
	}
	if (latest && ((char *)pc < __executable_start || (char *)pc >= etext)) end_by_thread(latest, LOGGP_SIGNAL, s, at, pc); // it is not Go's
	struct sigaction *old = &before[s];
	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(s, info, context);
	else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
		old->sa_handler(s);
	else {
		signal(s, SIG_DFL);
		raise(s);
	}
}

int loggp_prepare(void) {
	c_library = dlopen(NULL, RTLD_NOW);
	int e = pthread_key_create(&end_key, end_thread);
	if (e) return e;
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
		sigfillset(&a.sa_mask);
		if (sigaction(signals[i], &a, &before[signals[i]]) < 0) return errno;
	}
	return 0;
}

struct host_rank *loggp_running(struct host_arena *a, int64_t *times) {
	struct host_rank *h = __atomic_load_n(&latest, __ATOMIC_RELAXED);
	if (!h || h->arena != a || !__atomic_load_n(&h->thread, __ATOMIC_RELAXED)) {
		struct host_rank *all = (struct host_rank *)(a->ranks + guard), *end = (struct host_rank *)(a->ranks + a->ranks_size - guard);
		for (h = all; h + 1 <= end && !__atomic_load_n(&h->thread, __ATOMIC_RELAXED);) h++;
		if (h + 1 > end) return NULL;
	}
	*times = __atomic_load_n(&h->resumed, __ATOMIC_RELAXED);
	return h;
}

void loggp_interrupt(struct host_rank *h) {
	int64_t t = __atomic_load_n(&h->thread, __ATOMIC_RELAXED);
	if (t) syscall(SYS_tgkill, getpid(), t, SIGXCPU);
}

void loggp_interrupt_thread(struct host_rank *h) {
	int64_t t = __atomic_load_n(&h->thread, __ATOMIC_RELAXED);
	siginfo_t info = {.si_signo = SIGXCPU, .si_code = SI_QUEUE};
	info.si_value.sival_ptr = &end_of_turn;
	if (t) syscall(SYS_rt_tgsigqueueinfo, getpid(), t, SIGXCPU, &info);
}

struct indexed {
	long double value;
	int index;
};

#ifdef __FLT16_MAX__
enum { has_half = 1 };
typedef _Float16 half;
typedef _Float16 _Complex half_complex;
#else
enum { has_half = 0 };
typedef float half;
typedef float _Complex half_complex;
#endif
#if LDBL_MANT_DIG == 113
typedef long double quad;
typedef long double _Complex quad_complex;
#else
typedef __float128 quad;
typedef _Complex float quad_complex __attribute__((mode(TC)));
#endif

int loggp_has_elements(int elements) { return has_half || (elements != elements_half && elements != elements_half_complex); }

#define CASE_COMPLEX(elements, type)                                                                      \
	case elements: {                                                                                  \
		const type *x = in;                                                                       \
		type *y = inout;                                                                          \
		for (int64_t i = 0; i < n; i++) y[i] = op == op_sum ? x[i] + y[i] : x[i] * y[i];          \
		return;                                                                                   \
	}
#define CASE_REAL(elements, type, more)                                                                   \
	case elements: {                                                                                  \
		const type *x = in;                                                                       \
		type *y = inout;                                                                          \
		for (int64_t i = 0; i < n; i++) switch (op) {                                             \
			case op_sum: y[i] = x[i] + y[i]; break;                                           \
			case op_min: y[i] = x[i] < y[i] ? x[i] : y[i]; break;                             \
			case op_max: y[i] = x[i] > y[i] ? x[i] : y[i]; break;                             \
			case op_prod: y[i] = x[i] * y[i]; break;                                          \
			case op_land: y[i] = x[i] && y[i]; break;                                         \
			case op_lor: y[i] = x[i] || y[i]; break;                                          \
			case op_lxor: y[i] = !x[i] != !y[i]; break;                                       \
			more                                                                              \
			}                                                                                 \
		return;                                                                                   \
	}
#define CASES_OF_BITS                                     \
	case op_band: y[i] = x[i] & y[i]; break;          \
	case op_bor: y[i] = x[i] | y[i]; break;           \
	case op_bxor: y[i] = x[i] ^ y[i]; break;

void loggp_reduce(int op, int elements, const void *in, void *inout, int64_t n) {
	switch (elements) {
	case elements_indexed: {
		const struct indexed *x = in;
		struct indexed *y = inout;
		for (int64_t i = 0; i < n; i++) {
			if (x[i].value == y[i].value)
				y[i].index = x[i].index < y[i].index ? x[i].index : y[i].index;
			else if ((op == op_max) == (x[i].value > y[i].value)) {
				y[i].value = x[i].value;
				y[i].index = x[i].index;
			}
		}
		return;
	}
	CASE_REAL(elements_long_double, long double, )
	CASE_REAL(elements_half, half, )
	CASE_REAL(elements_quad, quad, )
	CASE_REAL(elements_int128, __int128, CASES_OF_BITS)
	CASE_COMPLEX(elements_long_complex, long double _Complex)
	CASE_COMPLEX(elements_half_complex, half_complex)
	CASE_COMPLEX(elements_quad_complex, quad_complex)
	}
}
