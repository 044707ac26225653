//go:build linux && (amd64 || arm64)

// A rank as the emulator sees it: a private copy of the program, and a stack to run it on.
#include <stdint.h>

#include "toolchain/c/rank.h"

struct host_rank {
	struct loggp_rank r; // what the program knows; first
	void *program_sp;    // the program's stack pointer while it does not run
	void *host_sp;       // that of the thread which has resumed it
	char *stack;         // memory of the stack, the guard below it included
	uint64_t stack_size;
	void *library; // the handle of the copy
	uintptr_t base; // where it was loaded
	void (*start)(int, char **);
	int argc;
	char **argv;
	char *out; // what the program has written: for each piece file descriptor and length as int64_t, then the bytes
	uint64_t out_length, out_room;
	int64_t measure; // how long the program runs
	int64_t spent;   // that, in ns
	int64_t thread;  // in which it runs; 0: it does not
	int64_t resumed; // how often it was
	intptr_t scratch[8]; // memory that callbacks get addresses of
};

// loggp_prepare installs the handlers of signals. It returns 0, or the number of an error.
int loggp_prepare(void);

// loggp_new makes a rank with a stack; NULL: errno says why not.
struct host_rank *loggp_new(int64_t version, int64_t rank, uint64_t stack_size, int argc, char **argv, int stdin_is_open, int measure);

// loggp_cycles_a_second measures the clock rate of this processor by additions, each of which needs the result of the one
// before and takes one cycle. It takes some milliseconds; the fastest of many short runs counts.
double loggp_cycles_a_second(void);

// loggp_load loads a private copy of a program, whose file has an image, and returns NULL, or what is wrong, to be freed.
char *loggp_load(struct host_rank *h, const char *image, uint64_t size);

// loggp_resume runs the program until it gives up control.
void loggp_resume(struct host_rank *h);

// loggp_running returns how often a program was resumed if it runs, and 0 if it does not.
int64_t loggp_running(struct host_rank *h);

// loggp_interrupt ends a program that runs.
void loggp_interrupt(struct host_rank *h);

void loggp_delete(struct host_rank *h);

enum { op_sum, op_min, op_max, op_prod };
enum { elements_real, elements_indexed, elements_complex };

// loggp_reduce leaves in ∘ inout in inout, of n elements of long double, of long double with an int, or of complex.
void loggp_reduce(int op, int elements, const void *in, void *inout, int64_t n);
