/* Error handlers: what they leave in the error code is what the call returns, and those that are arguments of a call get its
 * errors. */
#include <mpi.h>
#include <stdio.h>

static int calls;
static void forgive(MPI_Comm *c, int *code, ...) { calls++, *code = MPI_SUCCESS; }
static void replace(MPI_Comm *c, int *code, ...) { *code = MPI_ERR_NAME; }
static void count(MPI_Comm *c, int *code, ...) { calls++; }

int main(int argc, char **argv) {
	int x = 0, length = 0;
	char name[100];
	MPI_Errhandler a, b, d;
	MPI_Session s, other;
	MPI_Group g;
	MPI_Comm c;
	MPI_Info info;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(forgive, &a);
	MPI_Comm_create_errhandler(replace, &b);
	MPI_Comm_create_errhandler(count, &d);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, a);
	int first = MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, b);
	int second = MPI_Send(&x, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
	printf("%d %d, %d call\n", first == MPI_SUCCESS, second == MPI_ERR_NAME, calls);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Group_from_session_pset(s, "mpi://SELF", &g);
	calls = 0;
	int e = MPI_Comm_create_from_group(g, "x", MPI_INFO_NULL, d, NULL);
	int f = MPI_Comm_create_from_group(g, "x", MPI_INFO_NULL, d, &c);
	printf("%d %d, %d call\n", e != MPI_SUCCESS, f == MPI_SUCCESS, calls);
	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "all of them");
	e = MPI_Session_init(info, MPI_ERRORS_RETURN, &other);
	f = MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, NULL);
	printf("%d %d %d", e != MPI_SUCCESS, f == MPI_SUCCESS, length);
	e = MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, NULL);
	f = MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 0, &length, name);
	printf(" %d %d %s\n", e != MPI_SUCCESS, f == MPI_SUCCESS, name);

	/* The handlers of sessions are their own. */
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &other);
	MPI_Errhandler of_self, of_session;
	MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
	MPI_Session_get_errhandler(s, &of_session);
	printf("%d %d\n", of_self == MPI_ERRORS_ARE_FATAL, of_session == MPI_ERRORS_RETURN);
	MPI_Info_free(&info);
	MPI_Group_free(&g);
	MPI_Comm_free(&c);
	MPI_Session_finalize(&s);
	MPI_Session_finalize(&other);
	MPI_Finalize();
	return 0;
}
