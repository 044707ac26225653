/* What a program and the emulator that runs it know of each other. Both sides are compiled with this file: loggp cc links
 * runtime.c into every program, and the emulator loads one private copy of the program for each rank. */
#ifndef LOGGP_RANK_H
#define LOGGP_RANK_H

#include <stdint.h>

/* Why a program has given up control. */
enum {
	LOGGP_CALL = 1,     /* it called a function: call, args, caller */
	LOGGP_RETURNED = 2, /* a callback has returned: result */
	LOGGP_EXITED = 3,   /* it has ended: args[0] is its exit status */
	LOGGP_SIGNAL = 4,   /* it was hit by a signal: signal, address, caller */
	LOGGP_ABORTED = 5,  /* it called abort, or an assertion failed */
	LOGGP_THREAD = 6,   /* another of its threads called a function: call, caller */
	LOGGP_THREAD_ENDED = 7, /* the thread that ran has ended */
	LOGGP_INTERRUPTED = 8,  /* the emulator has interrupted the thread that ran */
};

/* In place of the address of a signal. */
#define LOGGP_NO_ADDRESS ((intptr_t)-2) /* the signal was sent */
#define LOGGP_NO_MEMORY ((intptr_t)-1)  /* it is not known: there can be no memory there */

/* An executable that no compiler of ours has linked, as it lies in the file; addresses are from where it is loaded. */
struct loggp_executable {
	uint64_t entry;
	uint64_t constructors, destructors; /* tables of functions */
	int64_t constructors_size, destructors_size; /* how many they have */
	struct loggp_copy { /* a variable of the library that the executable has a copy of */
		uint64_t at, size;
		const char *name;
	} *copies;
	int64_t copies_size;
};

/* A call of a function. */
struct loggp_call {
	int64_t number; /* index in the table of functions, and from bit 32 on the arguments that are array descriptors */
	intptr_t *args;
	void *caller;
	int64_t result;
	double real;
};

/* A thread that the program has started. */
struct loggp_thread {
	int64_t ended;
};

/* Who calls: a number of one of the threads that run in turn, from 0, which runs main. */
#define LOGGP_OTHER_THREAD -1 /* a thread that a library such as OpenMP's has started */

/* One rank. Programs reach it by the variable loggp_self of their own copy. */
struct loggp_rank {
	int64_t version; /* of this file and of the table of functions: LOGGP_VERSION in the program */
	void (*call_function)(struct loggp_rank *, struct loggp_call *);  /* calls a function of the emulator */
	void (*cross)(struct loggp_rank *);                             /* gives up control until the emulator gives it back */
	int64_t (*thread)(struct loggp_rank *);                          /* tells who calls */
	void (*begin_thread)(struct loggp_rank *, struct loggp_thread *); /* is called in a new thread, and returns when that may run */
	void (*output)(struct loggp_rank *, int fd, const char *, uint64_t); /* takes what the program writes */
	int64_t event;
	int64_t call;   /* index in the table of functions */
	int64_t descriptors; /* a bit for each argument that is an array descriptor of Fortran */
	intptr_t *args; /* its arguments, one word each */
	void *caller;   /* where the program called it */
	int64_t result;
	double real; /* result of a function that returns a double */

	intptr_t (*callback)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t); /* run this before going on; 0: go on */
	intptr_t callback_args[6];

	int64_t signal;
	void *address; /* that it could not access, or one of those below */

	void *handlers[32];   /* of signals, by number, that the program has set for what ends it; NULL: SIG_DFL */
	int64_t with_info[32]; /* they are called with three arguments */

	int64_t threads; /* that the program has started and that have not ended */
	int64_t keeps_turn; /* the thread that runs must not be interrupted; 0: it may be */

	int64_t directory;       /* 1 + a descriptor of the rank's own current directory; 0: that of the process */
	int64_t outer_directory; /* a descriptor of the process's, while a program with its own runs */

	int64_t rank;
	int64_t stdin_is_open; /* this rank reads standard input */
	int64_t is_copy;       /* of a program in memory, of which the loader knows nothing */
	const struct loggp_executable *executable; /* that it runs; NULL: a program that runtime.c is linked into */
	intptr_t executable_base;                  /* where it is loaded */
	intptr_t null_of_thread; /* where each thread has a null pointer, counted from the thread pointer */

	/* A rank with shared libraries of its own has two runtimes: that of the program, and one for the libraries. They share: */
	void *state;           /* what runtime.c keeps */
	void *waits, *records; /* of threads.c */
	void *critical;        /* the lock of critical sections without a name */
	int64_t forked;        /* this process is a child that the rank has forked, and has no rank */

	void *c_library;  /* handle of what stands below the program */
	char *load_error; /* why dlopen has failed, until dlerror is called */
	char *(*loader_error)(void); /* dlerror of the C library: looking for it would clear the error */
	const struct loggp_destructors { /* of shared libraries that the program is linked to */
		void (**functions)(void);
		int64_t size;
	} *destructors;
	int64_t destructors_size;
};

/* The rank of a runtime, the variable loggp_self; NULL: there is none. */
#define self (loggp_self && !loggp_self->forked ? loggp_self : NULL)

/* Where dlsym finds functions of the C library that have the names of ours. */
#ifdef LOGGP_EXECUTABLE
#define C_LIBRARY (loggp_self ? loggp_self->c_library : RTLD_NEXT)
#else
#define C_LIBRARY (loggp_self ? loggp_self->c_library : RTLD_DEFAULT)
#endif

/* How what is linked into a program, or into the library for executables, takes the place of the C library's functions. */
#ifdef LOGGP_EXECUTABLE
#define VISIBILITY visibility("protected")
#else
#define VISIBILITY visibility("hidden")
#endif
#define OURS __attribute__((weak, VISIBILITY))

#endif
