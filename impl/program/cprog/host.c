//go:build linux && (amd64 || arm64)

#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// guard is the size of the memory below a stack that cannot be accessed.
enum { guard = 64 << 10 };

// current is the rank that this thread runs. Only functions that do not change stacks use it.
static __thread struct host_rank *current __attribute__((tls_model("initial-exec")));

// null_of_thread is null in every thread.
static __thread void *null_of_thread __attribute__((tls_model("initial-exec")));

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

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
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

void loggp_resume(struct host_rank *h) {
	int64_t begin = h->measure ? now() : 0;
	static __thread int64_t thread;
	if (!thread) thread = syscall(SYS_gettid);
	__atomic_store_n(&h->thread, thread, __ATOMIC_RELAXED);
	__atomic_store_n(&h->resumed, h->resumed + 1, __ATOMIC_RELAXED);
	set_current(h);
	loggp_swap(&h->host_sp, h->program_sp);
	set_current(NULL);
	__atomic_store_n(&h->thread, 0, __ATOMIC_RELAXED);
	if (h->measure) h->spent += now() - begin;
}

// cross is called on the program's stack, which may be resumed in another thread than it was left.
static void cross(struct loggp_rank *r) {
	struct host_rank *h = (struct host_rank *)r;
	if (get_current() != h) {
		static const char text[] = "loggp: a thread that a rank has started calls MPI: only the thread that runs main may\n";
		syscall(SYS_write, 2, text, sizeof text - 1);
		syscall(SYS_exit_group, 1);
	}
	for (;;) {
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

static void output(struct loggp_rank *r, int fd, const char *b, uint64_t n) {
	struct host_rank *h = (struct host_rank *)r;
	uint64_t need = h->out_length + 16 + n;
	if (need > h->out_room) {
		uint64_t room = need < 4096 ? 4096 : 2 * need;
		char *more = realloc(h->out, room);
		if (!more) return;
		h->out = more;
		h->out_room = room;
	}
	int64_t head[2] = {fd, n};
	memcpy(h->out + h->out_length, head, 16);
	memcpy(h->out + h->out_length + 16, b, n);
	h->out_length = need;
}

struct host_rank *loggp_new(int64_t version, int64_t rank, uint64_t stack_size, int argc, char **argv, int stdin_is_open, int measure) {
	struct host_rank *h = calloc(1, sizeof *h);
	if (!h) return NULL;
	stack_size = (stack_size + 0xffff & ~(uint64_t)0xffff) + guard;
	h->stack = mmap(NULL, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (h->stack == MAP_FAILED || mprotect(h->stack, guard, PROT_NONE) < 0) {
		int e = errno;
		if (h->stack != MAP_FAILED) munmap(h->stack, stack_size);
		free(h);
		errno = e;
		return NULL;
	}
	h->stack_size = stack_size;
	h->r.version = version;
	h->r.cross = cross;
	h->r.output = output;
	h->r.rank = rank;
	h->r.call = -1;
	h->r.stdin_is_open = stdin_is_open;
#if defined(__amd64__)
	char *thread;
	__asm__("movq %%fs:0, %0" : "=r"(thread));
	h->r.null_of_thread = (char *)&null_of_thread - thread;
#endif
	h->argc = argc;
	h->argv = argv;
	h->measure = measure;
	char *top = h->stack + stack_size - 64;
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

char *loggp_load(struct host_rank *h, const char *image, uint64_t size) {
	int fd = memfd_create("rank", MFD_CLOEXEC);
	if (fd < 0) return strdup(strerror(errno));
	while (size > 0) {
		ssize_t n = write(fd, image, size);
		if (n < 0) {
			char *text = strdup(strerror(errno));
			close(fd);
			return text;
		}
		image += n;
		size -= n;
	}
	char path[128];
	unique_path(path, fd);
	h->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(fd);
	if (!h->library) return strdup(dlerror());
	int64_t (*attach)(struct loggp_rank *) = dlsym(h->library, "loggp_attach");
	h->start = dlsym(h->library, "loggp_start");
	if (!attach || !h->start) return strdup("it was not compiled by loggp cc");
	int64_t status = attach(&h->r);
	if (status > 0) return strdup("it was compiled by another version of loggp cc: compile it again");
	if (status < 0) return strdup("its standard streams cannot be opened");
	struct link_map *map;
	if (dlinfo(h->library, RTLD_DI_LINKMAP, &map) == 0) h->base = map->l_addr;
	return NULL;
}

void loggp_delete(struct host_rank *h) {
	if (h->library) dlclose(h->library);
	munmap(h->stack, h->stack_size);
	free(h->out);
	free(h);
}

// die leaves a program that cannot go on. It runs at the top of the program's stack, whose contents are lost.
static void die(struct host_rank *h) {
	loggp_swap(&h->program_sp, h->host_sp);
	__builtin_trap();
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
static struct sigaction before[NSIG];

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
	char *at = s == SIGSEGV || s == SIGBUS ? info->si_addr : NULL;
	int overflow = h && at >= h->stack && at < h->stack + guard;
	if (h && (overflow || sp >= h->stack && sp <= h->stack + h->stack_size)) {
		h->r.event = LOGGP_SIGNAL;
		h->r.signal = overflow ? 0 : s;
		h->r.address = at;
		h->r.caller = pc;
#if defined(__amd64__)
		u->uc_mcontext.gregs[REG_RSP] = ((uintptr_t)h->stack + h->stack_size - 64 & ~(uintptr_t)15) - 8;
		u->uc_mcontext.gregs[REG_RIP] = (uintptr_t)die;
		u->uc_mcontext.gregs[REG_RDI] = (uintptr_t)h;
		u->uc_mcontext.gregs[REG_EFL] &= ~0x400; // direction flag
#else
		u->uc_mcontext.sp = (uintptr_t)h->stack + h->stack_size - 64 & ~(uintptr_t)15;
		u->uc_mcontext.pc = (uintptr_t)die;
		u->uc_mcontext.regs[0] = (uintptr_t)h;
#endif
		return;
	}
	if (s == SIGXCPU) return; // the program has given up control just now
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
	for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
		struct sigaction a = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
		sigfillset(&a.sa_mask);
		if (sigaction(signals[i], &a, &before[signals[i]]) < 0) return errno;
	}
	return 0;
}

int64_t loggp_running(struct host_rank *h) {
	return __atomic_load_n(&h->thread, __ATOMIC_RELAXED) ? __atomic_load_n(&h->resumed, __ATOMIC_RELAXED) : 0;
}

void loggp_interrupt(struct host_rank *h) {
	int64_t t = __atomic_load_n(&h->thread, __ATOMIC_RELAXED);
	if (t) syscall(SYS_tgkill, getpid(), t, SIGXCPU);
}

struct indexed {
	long double value;
	int index;
};

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
	case elements_complex: {
		const long double _Complex *x = in;
		long double _Complex *y = inout;
		for (int64_t i = 0; i < n; i++) y[i] = op == op_sum ? x[i] + y[i] : x[i] * y[i];
		return;
	}
	}
	const long double *x = in;
	long double *y = inout;
	for (int64_t i = 0; i < n; i++) switch (op) {
		case op_sum: y[i] = x[i] + y[i]; break;
		case op_min: y[i] = x[i] < y[i] ? x[i] : y[i]; break;
		case op_max: y[i] = x[i] > y[i] ? x[i] : y[i]; break;
		case op_prod: y[i] = x[i] * y[i]; break;
		}
}
