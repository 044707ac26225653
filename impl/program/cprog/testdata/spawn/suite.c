/* Programs that start others, and groups that connect to each other. Started programs are this one: its first argument says
 * what they do. They tell their parents what they see, which print it. */
#include "../suite/suite.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static char *program;

/* Sends what was said to rank 0 of the other group. */
static void tell(MPI_Comm inter) {
	MPI_Send(said, length, MPI_CHAR, 0, 7, inter);
	length = 0;
}

/* Says what the ranks of the other group have told. */
static void hear(MPI_Comm inter) {
	int n;
	MPI_Comm_remote_size(inter, &n);
	for (int i = 0; i < n; i++) {
		char theirs[4096];
		int count;
		MPI_Status s;
		MPI_Recv(theirs, sizeof theirs, MPI_CHAR, i, 7, inter, &s);
		MPI_Get_count(&s, MPI_CHAR, &count);
		say(" {%.*s }", count, theirs);
	}
}

/* Starts n ranks of the program by all of a communicator. */
static MPI_Comm start(char *role, int n, int root, MPI_Comm comm) {
	char *arguments[] = {role, NULL};
	MPI_Comm inter;
	int codes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	MPI_Comm_spawn(program, arguments, n, MPI_INFO_NULL, root, comm, &inter, codes);
	for (int i = 0; i < n; i++)
		if (codes[i] != MPI_SUCCESS) say(" code %d", i);
	return inter;
}

#include "children.h"
#include "groups.h"
#include "names.h"

int main(int argc, char **argv) {
	MPI_Comm parent;
	program = argv[0];
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		MPI_Comm_rank(W, &rank);
		MPI_Comm_size(W, &size);
		run_child(parent, argc, argv);
		MPI_Finalize();
		return 0;
	}
	begin_suite(argc, argv);

	RUN(one_child)
	RUN(two_children)
	RUN(each_root)
	RUN(child_arguments)
	RUN(no_arguments)
	RUN(root_arguments)
	RUN(with_hints)
	RUN(two_commands)
	RUN(by_each_rank)
	RUN(tasks)
	RUN(grandchild)

	RUN(merged)
	RUN(collectives)
	RUN(windows)
	RUN(files)
	RUN(third_group)
	RUN(duplicates)
	RUN(freed_parent)
	RUN(reconnected)

	RUN(accepted)
	RUN(accepted_groups)
	RUN(several_ports)
	RUN(services)
	RUN(joined)
	RUN(no_parent)
	RUN(own_directory)
	RUN(in_directory)
	RUN(searched)

	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
