/* Programs that start others in wrong ways, or whose children do something wrong. The argument says which. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *class_of(int code) {
	int c;
	MPI_Error_class(code, &c);
	return c == MPI_SUCCESS        ? "success"
	       : c == MPI_ERR_SPAWN    ? "spawn"
	       : c == MPI_ERR_ARG      ? "arg"
	       : c == MPI_ERR_PORT     ? "port"
	       : c == MPI_ERR_NAME     ? "name"
	       : c == MPI_ERR_SERVICE  ? "service"
	       : c == MPI_ERR_COMM     ? "comm"
	       : c == MPI_ERR_INFO_VALUE ? "value"
	                                 : "another";
}

static MPI_Comm own;
static char port[MPI_MAX_PORT_NAME];

static void *connect_thread(void *unused) {
	MPI_Comm inter;
	printf("%s\n", class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &inter)));
	return NULL;
}

#define HOW(name) (strcmp(how, name) == 0)

static void child(MPI_Comm parent, char *how) {
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (HOW("exit")) exit(4);
	if (HOW("abort")) MPI_Abort(MPI_COMM_WORLD, 5);
	if (HOW("lonely")) {
		MPI_Recv(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (HOW("busy")) { /* it ends, but only when it hears of its parent, which waits for it */
		MPI_Comm merged;
		MPI_Intercomm_merge(parent, 1, &merged);
		MPI_Comm_disconnect(&parent);
		MPI_Recv(&rank, 1, MPI_INT, 0, 0, merged, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	if (HOW("status")) exit(3);
}

int main(int argc, char **argv) {
	char *how = argc > 1 ? argv[1] : "", *arguments[] = {how, NULL};
	int rank, codes[5] = {0}, n = 1;
	MPI_Comm parent, inter = MPI_COMM_WORLD;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &n);
	n = 1;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		child(parent, how);
		return 0;
	}
	if (!HOW("fatal")) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	}
	if (HOW("too-many")) {
		int e = MPI_Comm_spawn(argv[0], arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		if (rank == 0) printf("%s %d %d %d %s\n", class_of(e), codes[0] == e, codes[1] == e, codes[2] == e, inter == MPI_COMM_NULL ? "null" : "not");
	} else if (HOW("missing")) {
		int e = MPI_Comm_spawn(argv[2], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		if (rank == 0) printf("%s %d %s\n", class_of(e), codes[0] == e, inter == MPI_COMM_NULL ? "null" : "not");
	} else if (HOW("nowhere")) {
		MPI_Info hints;
		MPI_Info_create(&hints);
		MPI_Info_set(hints, "wdir", "/no/such/directory");
		int e = MPI_Comm_spawn(argv[0], arguments, 1, hints, 0, MPI_COMM_WORLD, &inter, codes);
		if (rank == 0) printf("%s %d %s\n", class_of(e), codes[0] == e, inter == MPI_COMM_NULL ? "null" : "not");
		MPI_Info_free(&hints);
	} else if (HOW("none")) {
		int e = MPI_Comm_spawn(argv[0], arguments, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		if (rank == 0) printf("%s\n", class_of(e));
	} else if (HOW("ports")) {
		char other[MPI_MAX_PORT_NAME];
		if (rank == 0) {
			MPI_Open_port(MPI_INFO_NULL, port);
			MPI_Close_port(port);
			printf("%s ", class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			printf("%s ", class_of(MPI_Comm_accept("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			printf("%s ", class_of(MPI_Close_port(port)));
			MPI_Publish_name("service", MPI_INFO_NULL, port);
			printf("%s ", class_of(MPI_Publish_name("service", MPI_INFO_NULL, port)));
			printf("%s ", class_of(MPI_Unpublish_name("another", MPI_INFO_NULL, port)));
			printf("%s\n", class_of(MPI_Lookup_name("another", MPI_INFO_NULL, other)));
		}
	} else if (HOW("unaccepted")) { /* rank 0 accepts the second connection, and closes the port while the fourth waits */
		MPI_Info hints;
		char *timeout = argc > 2 ? argv[2] : "5";
		if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
		if (rank == 0) {
			MPI_Barrier(MPI_COMM_WORLD); /* until the first connection has failed */
			MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
			MPI_Comm_disconnect(&inter);
			MPI_Recv(&n, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			sleep(1);
			MPI_Close_port(port);
		} else {
			double begin = MPI_Wtime();
			MPI_Info_create(&hints);
			MPI_Info_set(hints, "timeout", timeout);
			printf("%s", class_of(MPI_Comm_connect(port, hints, 0, MPI_COMM_SELF, &inter)));
			printf(" after %.0f s", MPI_Wtime() - begin);
			MPI_Info_set(hints, "timeout", "soon");
			printf(" %s", class_of(MPI_Comm_connect(port, hints, 0, MPI_COMM_SELF, &inter)));
			MPI_Barrier(MPI_COMM_WORLD);
			printf(" %s", class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			MPI_Comm_disconnect(&inter);
			MPI_Info_set(hints, "timeout", timeout);
			begin = MPI_Wtime();
			printf(" %s", class_of(MPI_Comm_connect(port, argc > 2 ? hints : MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			printf(" after %.0f s", MPI_Wtime() - begin);
			MPI_Send(&n, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
			printf(" %s\n", class_of(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			MPI_Info_free(&hints);
		}
	} else if (HOW("both")) { /* the two groups are this rank, whose threads call */
		if (rank == 0) {
			pthread_t thread;
			MPI_Comm_dup(MPI_COMM_SELF, &own);
			MPI_Open_port(MPI_INFO_NULL, port);
			pthread_create(&thread, NULL, connect_thread, NULL);
			printf("%s ", class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)));
			pthread_join(thread, NULL);
		}
	} else if (HOW("fatal")) {
		MPI_Comm_spawn(argv[0], arguments, 5, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes); /* fatal */
	} else {
		MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		if (HOW("unreceived") && rank == 0) MPI_Send(&n, 1, MPI_INT, 0, 9, inter);
		if (HOW("lonely") && rank == 0) MPI_Recv(&n, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
		if (HOW("busy")) {
			MPI_Comm merged;
			MPI_Intercomm_merge(inter, 0, &merged);
			MPI_Comm_disconnect(&inter);
			MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
		}
	}
	MPI_Finalize();
	return 0;
}
