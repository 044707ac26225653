/* Wrong calls under MPI_ERRORS_RETURN, and what goes on after them, in small programs. Where the class of an error differs
 * between implementations, a program says only that the call failed. */
#include "../suite/suite.h"

/* Both of these make a wrong call; the first says the class of its error. */
#define WRONG(call) say(" %s", class_of(call))
#define FAILS(call) say(" %d", (call) != MPI_SUCCESS)

static void return_errors(MPI_Comm c) { MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN); }

#include "receives.h"
#include "collectives.h"
#include "objects.h"
#include "handlers.h"

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	begin_suite(argc, argv);
	return_errors(W);
	return_errors(MPI_COMM_SELF);

	RUN(truncated_receives)
	RUN(truncated_and_received_again)
	RUN(truncated_in_all_statuses)
	RUN(truncated_in_some_statuses)
	RUN(truncated_in_any_status)
	RUN(truncated_exchange)
	RUN(truncated_persistent)
	RUN(wrong_ranks)
	RUN(wrong_tags)
	RUN(wrong_counts)
	RUN(wrong_handles)
	RUN(wrong_request_lists)

	RUN(wrong_roots)
	RUN(wrong_operations)

	RUN(null_communicators)
	RUN(wrong_splits)
	RUN(wrong_groups)
	RUN(wrong_ranges)
	RUN(wrong_grids)
	RUN(wrong_graphs)
	RUN(wrong_datatypes)
	RUN(types_not_committed)
	RUN(freed_predefined_objects)
	RUN(wrong_keys)
	RUN(failing_callbacks)
	RUN(codes_of_callbacks)
	RUN(wrong_infos)
	RUN(wrong_packing)
	RUN(wrong_names)

	RUN(own_classes)
	RUN(called_by_program)
	RUN(handlers_of_parts)
	RUN(handler_replaced_in_itself)
	RUN(handlers_freed_early)
	RUN(handler_of_requests)

	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
