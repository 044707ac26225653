//go:build linux && (amd64 || arm64)

// A rank as the emulator sees it: a private copy of the program, and a stack to run it on.
#include <semaphore.h>
#include <setjmp.h>
#include <stdint.h>

#include "arena.h"
#include "toolchain/c/rank.h"

// A thread that runs calls of the program: one that the program has started, which runs in turn with
// the one that runs main, or one that a library such as OpenMP's has started, for one call.
struct host_thread {
	struct loggp_thread t; // what the program knows; first
	sem_t go;              // it may go on
	int64_t number;        // of those that run in turn
	int64_t id;            // of the system
	int rounds;            // of destructors of its variables
	char *signal_stack;
	int64_t result; // of the call of another thread
	double real;
};

// What the loader has loaded: where, its size there, and its instructions.
struct host_image {
	uintptr_t base, size, code, code_size;
};

// A rank's own copy of a file.
struct host_copy {
	int64_t number;         // of the file
	char path[128];         // by which the loader knows it
	void *handle;           // of the loader
	struct host_image image;
	struct host_copy *next; // the one that was opened before
};

struct host_rank {
	struct loggp_rank r; // what the program knows; first
	void *program_sp;    // the program's stack pointer while it does not run
	void *host_sp;       // that of the thread which has resumed it
	struct host_arena *arena; // whose memory it has
	char *stack;         // memory of the stack, the guard below it included
	uint64_t stack_size;
	struct host_copy *copies; // that the loader has made: of the program, unless it is one of the arena's template, and of shared libraries
	struct host_image image;  // of the program
	void (*start)(int, char **);
	int argc;
	char **argv;
	char *out; // what the program has written: for each piece file descriptor and length as int64_t, then the bytes
	uint64_t out_length, out_room;
	int64_t measure; // how long the program runs
	int64_t spent;   // that, as processor time, in ns
	int64_t elapsed; // and as time of the clock
	int64_t thread;  // in which it runs; 0: it does not
	int64_t resumed; // how often it was
	char lock;       // of out: threads that the program has started write too
	intptr_t scratch[8]; // memory that callbacks get addresses of
	int32_t predefined[8]; // values of the library's attributes, once the program has asked for one

	// What happens in this rank before the program runs, and after it has ended, is stopped here.
	jmp_buf *guarded;

	void *fault_sp; // the program's stack pointer when a signal ended the rank

	// How a thread that the program has started ends the rank: an event, and what belongs to it. 0: it does not.
	int64_t thread_event;
	char thread_lock;  // of the first such thread
	int thread_taken; // the rank has ended by it
	int64_t thread_signal, thread_call;
	void *thread_address, *thread_caller;
	intptr_t thread_status;

	void *frame; // of the function that goes into the program, in the stack of the thread

	// A program that starts threads has a thread for each rank: libraries such as OpenMP's keep what they know of a thread
	// in its variables.
	int own_thread;
	sem_t go, came_back;
	sem_t call_free;             // the fields of a call in r may be written
	struct host_thread *other;   // the thread of a library whose call this is; NULL: a thread that runs in turn has come back
	int other_threads_may_call;
	int64_t measured_from, computed_from; // times of the clock and of the processor
	int64_t looked, used;        // at the last signal that found it out of the program: how often the rank was resumed, and processor time
};

// loggp_prepare installs the handlers of signals. It returns 0, or the number of an error.
int loggp_prepare(void);

// loggp_new makes a rank in an arena; NULL: errno says why not. Its arguments follow each other in a text, each with its
// end.
struct host_rank *loggp_new(struct host_arena *a, uint64_t index, int64_t version, int64_t rank, int argc, const char *arguments, uint64_t length, int stdin_is_open, int measure);

// loggp_cycles_a_second measures the clock rate of this processor by additions, each of which needs the result of the one
// before and takes one cycle. It takes some milliseconds; the fastest of many short runs counts.
double loggp_cycles_a_second(void);

// A file to load. At some places in it are the paths of other files, which are those of the rank's copies of them.
struct loggp_image {
	const char *bytes;
	uint64_t size;
	int64_t number;
	int flags; // of dlopen
	const struct loggp_dependency {
		uint64_t at; // where the path belongs
		int64_t number;
	} *dependencies;
	int64_t dependencies_size;
	uint64_t destructors; // a table of functions, counted from where the file is loaded
	int64_t destructors_size;
};

// Numbers of files: others are shared libraries.
enum { loggp_runtime_number, loggp_program_number };

// loggp_open_copy opens a private copy of a file. It returns its handle and its path. NULL: *error says why not.
void *loggp_open_copy(const struct loggp_image *image, const struct host_copy *others, char path[128], const char **error);

// loggp_open_copies opens a rank's copies of files in order, unless they are open, and attaches the rank to the library of
// MPI functions. It returns the handle of the last one. NULL: *error says why not.
void *loggp_open_copies(struct host_rank *h, const struct loggp_image *images, int64_t n, const char **error);

// loggp_open_libraries is loggp_open_copies on a program's stack, where it is a callback. loggp_open_shared opens a file
// that all ranks share. A failure is the rank's error of loading.
intptr_t loggp_open_libraries(intptr_t rank, intptr_t images, intptr_t n, intptr_t mode, intptr_t, intptr_t);
intptr_t loggp_open_shared(intptr_t rank, intptr_t file, intptr_t mode, intptr_t, intptr_t, intptr_t);

// loggp_attach_rank gives a copy of a program its rank. It returns what is wrong, or NULL.
const char *loggp_attach_rank(struct host_rank *h, int64_t (*attach)(struct loggp_rank *));

// loggp_load makes a private copy of a program, of the arena's template or of the last of files, and returns NULL, or what
// is wrong. If a signal has stopped it that is the rank's event.
const char *loggp_load(struct host_rank *h, const struct loggp_image *images, int64_t n, const struct loggp_executable *executable);

// loggp_start_thread starts a thread in which a rank runs. It returns 0, or the number of an error.
int loggp_start_thread(struct host_rank *h);

// loggp_resume runs a thread of the program until the program gives up control; NULL: the one that runs main. If it
// returns because of the call of a thread of a library, the program goes on running. When that call is carried out,
// loggp_end_other_call lets its thread go on, and loggp_await waits as loggp_resume does.
void loggp_resume(struct host_rank *h, struct host_thread *t);
void loggp_end_other_call(struct host_thread *t);
void loggp_await(struct host_rank *h);

// loggp_free_call lets threads write the fields of a call: those of the last one have been read.
void loggp_free_call(struct host_rank *h);

// loggp_make_thread makes a thread that the program starts, and loggp_drop_thread forgets it.
struct host_thread *loggp_make_thread(struct host_rank *h, int64_t number);
void loggp_drop_thread(struct host_thread *t);

// loggp_running returns a rank whose program runs, and how often it was resumed, or NULL.
struct host_rank *loggp_running(struct host_arena *a, int64_t *times);

// loggp_interrupt ends a program that runs.
void loggp_interrupt(struct host_rank *h);

// loggp_interrupt_thread makes the thread of a program that runs give up control, so that another may run, unless it is
// where it must not: call it again.
void loggp_interrupt_thread(struct host_rank *h);

// loggp_delete unloads a program. Its memory is the arena's. It returns 0 if a signal stops it.
int loggp_delete(struct host_rank *h);

// loggp_allocate and loggp_release are malloc and free, to be called on a program's stack: they fail if it has overwritten
// the heap.
intptr_t loggp_allocate(intptr_t n, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
intptr_t loggp_release(intptr_t p, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

// loggp_lock keeps other threads from writing output; 0: the one that has the lock does not give it back.
int loggp_lock(struct host_rank *h);
void loggp_unlock(struct host_rank *h);

// loggp_mapped reports whether a process has memory at all of an address range.
int loggp_mapped(uintptr_t at, uint64_t size);

// loggp_function is the name of a function of the table, for messages.
extern const char **loggp_function;

enum { op_sum, op_min, op_max, op_prod, op_band, op_bor, op_bxor, op_land, op_lor, op_lxor };
enum { elements_long_double, elements_indexed, elements_long_complex, elements_half, elements_half_complex, elements_quad, elements_quad_complex, elements_int128 };

// loggp_has_elements reports whether the compiler has the type of elements.
int loggp_has_elements(int elements);

// loggp_reduce leaves in ∘ inout in inout, of n elements: elements_indexed are a long double with an int each.
void loggp_reduce(int op, int elements, const void *in, void *inout, int64_t n);
