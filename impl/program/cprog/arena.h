// The memory of all ranks of a program.
#ifndef LOGGP_ARENA_H
#define LOGGP_ARENA_H

#include <stdint.h>

// guard is the size of the memory below a stack that cannot be accessed.
enum { guard = 64 << 10 };

// A template is a program that can be copied as it lies in memory. Addresses are from where it is loaded.
struct loggp_template {
	const char *file; // without constructors and destructors, so that the loader calls none
	uint64_t file_size;
	uint64_t image_size, fixed_size; // in memory, and its beginning that is not written; whole pages
	uint64_t dynamic_at, dynamic_size;
	const char *dynamic; // the dynamic section with constructors and destructors
	uint64_t init, constructors, constructors_size; // a function, and a table of functions
	uint64_t relocations_size;
	const uint64_t *relocations; // where addresses are; with LOGGP_RELATIVE: of the program itself
};

#define LOGGP_RELATIVE ((uint64_t)1 << 63)

// An arena has for each rank a guard, the stack, and a copy of the template, in this order and without gaps.
struct host_arena {
	struct host_arena *next; // of all in this process
	char *reserved, *memory; // the memory is aligned
	uint64_t size, slot_size, stack_size; // the stack without its guard
	uint64_t image_size, fixed_size;      // of the template; 0: each rank loads the program by itself
	int guards_are_mappings;              // the kernel has no guards but those that are mappings
	int shares_text;                      // what is not written is one mapping of a file for each rank; else a copy that is not protected
	void *text;                           // where the file is mapped first
	char *ranks;                          // memory of struct host_rank, guards included
	uint64_t ranks_size;

	void *library; // the handle of the template
	char *image;   // its contents, with addresses of the program itself counted from its beginning
	uint64_t *relocations, relocations_size; // where those are
	uint64_t filled_size;     // of the image: what follows is 0
	uint64_t code, code_size; // its instructions
	uint64_t attach, start, init, constructors, constructors_size; // functions
};

struct host_rank;
struct loggp_rank;

// loggp_guards_are_mappings reports whether a guard divides the mapping that it is in.
int loggp_guards_are_mappings(void);

// loggp_reserve reserves address space for a number of ranks. *error says what is wrong if it returns NULL.
struct host_arena *loggp_reserve(uint64_t ranks, uint64_t rank_size, uint64_t stack_size, const struct loggp_template *program, int shares_text, int guards_are_mappings, const char **error);

// loggp_unreserve frees the memory of all ranks.
void loggp_unreserve(struct host_arena *a);

// loggp_crosses_guard reports whether an address range begins in an arena and has memory of a guard.
int loggp_crosses_guard(uintptr_t at, uint64_t size);

// loggp_place_rank returns a rank with a stack; NULL: errno says why not.
struct host_rank *loggp_place_rank(struct host_arena *a, uint64_t index);

// loggp_copy_template makes the copy of a rank and calls its constructors. It returns what is wrong, or NULL.
const char *loggp_copy_template(struct host_rank *h);

#endif
