/* One-sided communication, in small programs. Open MPI 4.1 runs them without its components rdma, which makes no windows
 * of one rank, and ucx, whose fences do not always wait for data with gaps. MPICH 4.0.2 as Debian builds it writes short
 * puts to wrong places. */
#include "../suite/suite.h"

#include "memory.h"
#include "accesses.h"
#include "epochs.h"
#include "atomic.h"
#include "shared.h"

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	begin_suite(argc, argv);

	RUN(create_and_free)
	RUN(flavors)
	RUN(attributes_of_memory)
	RUN(own_attributes)
	RUN(attributes_deleted_in_any_order)
	RUN(attributes_deleted_with_the_window)
	RUN(group_of_a_window)
	RUN(names_of_windows)
	RUN(hints_of_windows)
	RUN(error_handlers)
	RUN(called_handler)
	RUN(windows_without_memory)
	RUN(window_of_self)
	RUN(windows_of_parts)
	RUN(many_windows)

	RUN(put_ring)
	RUN(get_ring)
	RUN(put_of_all_to_all)
	RUN(large_puts_and_gets)
	RUN(units)
	RUN(transposed)
	RUN(transposed_by_struct)
	RUN(strided)
	RUN(indexed_and_resized)
	RUN(to_oneself)
	RUN(to_null)
	RUN(empty_accesses)
	RUN(two_windows_of_one_memory)
	RUN(dynamic_memory)
	RUN(adjacent_regions)

	RUN(fences_with_assertions)
	RUN(gets_see_earlier_puts_of_others)
	RUN(post_start_complete_wait)
	RUN(posted_and_tested)
	RUN(groups_of_two)
	RUN(exclusive_counter)
	RUN(locks_of_all)
	RUN(flushed)
	RUN(requests)
	RUN(mixed_synchronization)
	RUN(linked_list)
	RUN(errors_of_epochs)
	RUN(errors_of_arguments)
	RUN(fence_after_lock)
	RUN(no_data)

	RUN(all_operations)
	RUN(all_types)
	RUN(pairs)
	RUN(replaced)
	RUN(accumulated_with_gaps)
	RUN(fetched)
	RUN(compared)
	RUN(get_accumulated)
	RUN(ordered_accumulates)

	RUN(shared_by_neighbours)
	RUN(shared_and_accessed)
	RUN(shared_without_memory)

	RUN(own_memory_polled)

	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
