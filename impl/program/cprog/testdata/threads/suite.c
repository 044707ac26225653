/* Threads that call MPI, in small programs. MPICH 4.0.2 prints the same for each of them (their names are arguments), but
 * now and then one does not end if processors are fewer than threads. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "../suite/suite.h"

#include "start.h"

#include "messages.h"
#include "others.h"
#include "posix.h"

int main(int argc, char **argv) {
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	begin_suite(argc, argv);
	for (int i = 0; i < threads; i++) MPI_Comm_dup(W, &comms[i]);

	RUN(levels)

	RUN(ping_pong)
	RUN(ring_of_synchronous_messages)
	RUN(large_messages)
	RUN(to_oneself)
	RUN(to_another_thread)
	RUN(probes_of_own_tags)
	RUN(matched_probes_of_one_tag)
	RUN(requests_of_another_thread)
	RUN(requests_for_another_thread)
	RUN(cancelled_by_another_thread)
	RUN(polling)
	RUN(any_and_some)
	RUN(persistent)

	RUN(collectives)
	RUN(nonblocking_collectives)
	RUN(own_operations)
	RUN(duplicates)
	RUN(split_and_freed)
	RUN(duplicates_without_waiting)
	RUN(intercommunicators)
	RUN(groups_with_tags)
	RUN(attributes)
	RUN(error_handlers)
	RUN(own_windows)

	RUN(serialized)
	RUN(conditions)
	RUN(barriers)
	RUN(barriers_of_mutex_and_condition)
	RUN(variables)
	RUN(keys)
	RUN(locks)
	RUN(semaphores)
	RUN(once)
	RUN(times)
	RUN(results)
	RUN(cancelled_threads)

	for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
