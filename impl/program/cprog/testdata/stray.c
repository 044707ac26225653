/* Programs that use addresses that are not theirs. The first argument says how; rank 1 does it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int table[16];
static const char text[] = "constant";
static volatile int zero;
static jmp_buf again;

static void leave(int s) { _exit(40 + s); }
static void leave_with(int s, siginfo_t *info, void *context) { _exit(info->si_addr == (void *)0x18 ? 60 : 61); }
static void jump(int s) { longjmp(again, 1); }
static void go_on(int s) {}
static void *thread(void *how) {
	*(volatile int *)0x18 = 1; // thread
	return NULL;
}

static void operation(void *in, void *out, int *n, MPI_Datatype *t) {
	*(volatile int *)0x18 = 1; // operation
}
static void handler(MPI_Comm *c, int *e, ...) { exit(70); }

static void smash(volatile char *at, long n) {
	for (long i = 0; i < n; i++) at[i] = 0x55; // smash
}

static long large(long n) {
	volatile char b[n];
	b[0] = 1; // large
	return b[0];
}

static int wrong(const char *how) {
	int x = 0, *p;
	char *c;
#define IS(name) if (strcmp(how, name) == 0)
	IS("null") *(volatile int *)0 = 1;
	IS("low") *(volatile int *)0x18 = 1;
	IS("constant address") *(volatile long *)0xdeadbeefcafe = 1;
	IS("no address") *(volatile long *)0xdeadbeefdeadbeef = 1;
	IS("constant") *(volatile char *)text = 1;
	IS("code") *(volatile char *)(void *)wrong = 1;
	IS("far") ((volatile int *)table)[1 << 28] = 1;
	IS("unmapped") {
		c = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		*(volatile char *)(c + 4096) = 1; // unmapped store
	}
	IS("jump") ((void (*)(void))(void *)&table)();
	IS("stack") smash((char *)&x, 64 << 20);
	IS("large") return large((1l << 30) + x);
	IS("divide") return 1 / zero;
	IS("trap") __builtin_trap();
	IS("ignored") {
		signal(SIGSEGV, SIG_IGN);
		*(volatile int *)0x18 = 1; // ignored
	}
	IS("ignored by action") {
		struct sigaction a = {.sa_handler = SIG_IGN};
		sigaction(SIGSEGV, &a, NULL);
		*(volatile int *)0x18 = 1; // ignored by action
	}
	IS("default") {
		signal(SIGSEGV, SIG_DFL);
		*(volatile int *)0x18 = 1; // default
	}
	IS("blocked") {
		sigset_t all;
		sigfillset(&all);
		sigprocmask(SIG_SETMASK, &all, NULL);
		*(volatile int *)0x18 = 1; // blocked
	}
	IS("handled") {
		signal(SIGSEGV, leave);
		*(volatile int *)0x18 = 1;
	}
	IS("handled with address") {
		struct sigaction a = {.sa_sigaction = leave_with, .sa_flags = SA_SIGINFO};
		sigaction(SIGSEGV, &a, NULL);
		*(volatile int *)0x18 = 1;
	}
	IS("returned") {
		signal(SIGSEGV, go_on);
		*(volatile int *)0x18 = 1; // returned
	}
	IS("jumped") {
		signal(SIGSEGV, jump);
		if (!setjmp(again)) *(volatile int *)0x18 = 1;
		MPI_Comm_size(MPI_COMM_WORLD, &x);
		exit(50 + x);
	}
	IS("raised") raise(SIGSEGV);
	IS("thread") {
		pthread_t t;
		pthread_create(&t, NULL, thread, NULL);
		pthread_join(t, NULL);
	}
	IS("thread in call") {
		pthread_t t;
		pthread_create(&t, NULL, thread, NULL);
		MPI_Recv(&x, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	IS("twice") {
		p = malloc(100);
		free(p);
		free(p); // twice
	}
	IS("none") free(table);
	IS("heap") {
		c = malloc(100);
		memset(c, 0x55, 1 << 20);
		MPI_Alloc_mem(100, MPI_INFO_NULL, &p);
		for (int i = 0; i < 1000; i++) free(malloc(1000 * i));
	}
	IS("output") {
		c = malloc(100);
		printf("without the end of the line");
		memset(c, 0x55, 1 << 16);
	}
	IS("above") memset(&x, 0x55, 2000); // above
	IS("freed") MPI_Free_mem(table);
	IS("send") MPI_Send(table, 1 << 28, MPI_INT, 0, 0, MPI_COMM_WORLD);
	IS("block") {
		MPI_Datatype blocks;
		MPI_Type_vector(2, 4, 1 << 28, MPI_INT, &blocks);
		MPI_Type_commit(&blocks);
		MPI_Send(table, 1, blocks, 0, 0, MPI_COMM_WORLD); // block
	}
	IS("rendezvous") {
		c = mmap(NULL, 1 << 18, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MPI_Send(c, 1 << 16, MPI_INT, 0, 0, MPI_COMM_WORLD); // rendezvous
	}
	IS("print") printf("%s\n", (char *)0x18); // print
	IS("length") x = strlen((char *)0x18 + zero); // length
	IS("pages") {
		c = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MPI_Allreduce(c, &table, 512, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	}
	IS("reduce") MPI_Allreduce((void *)text, (void *)text, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	IS("operation") {
		MPI_Op o;
		MPI_Op_create(operation, 1, &o);
		MPI_Allreduce(&zero, &x, 1, MPI_INT, o, MPI_COMM_SELF);
		MPI_Reduce_local((void *)&zero, &x, 1, MPI_INT, o);
	}
	IS("handler") {
		MPI_Errhandler h;
		MPI_Comm_create_errhandler(handler, &h);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
		MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
	}
	IS("gather") MPI_Gather(&x, 2147483647, MPI_DOUBLE, &x, 2147483647, MPI_DOUBLE, 1, MPI_COMM_WORLD);
	IS("arrays") {
		MPI_Datatype t;
		MPI_Type_indexed(2147483647, &x, &x, MPI_INT, &t); // arrays
	}
	IS("handle") MPI_Comm_size((MPI_Comm)&x, &x);
	IS("result") MPI_Comm_size(MPI_COMM_WORLD, (int *)text);
	IS("status") {
		MPI_Status *s = (MPI_Status *)text;
		MPI_Sendrecv(&x, 1, MPI_INT, 1, 0, &x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, s);
	}
	return x;
}

__attribute__((constructor)) static void begin(void) {
	if (getenv("STRAY_constructor")) *(volatile int *)0x18 = 1; // constructor
}
static int finalized;
__attribute__((destructor)) static void end(void) {
	if (finalized && getenv("STRAY_destructor")) *(volatile int *)0x18 = 1; // destructor
}

int main(int argc, char **argv) {
	int rank, x = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1) x = wrong(argv[1]);
	else if (strcmp(argv[1], "rendezvous") == 0) MPI_Recv(calloc(1 << 18, 1), 1 << 16, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	finalized = 1;
	return 0;
}
