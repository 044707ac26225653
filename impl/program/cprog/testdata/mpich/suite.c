/* Functions that MPICH 4.0.2 has and Open MPI 4.1 has not, or has wrong. */
#include "../suite/suite.h"

#include "wrong.h"

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

static int of_many;

static void count_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *t) {
	of_many += *n;
	for (MPI_Count i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Numbers that an int cannot have. */
static void large_sizes(void) {
	MPI_Datatype t, u, v;
	MPI_Count n, lb, extent, lengths[] = {3000000000, 1}, at[] = {0, 5000000000};
	int small = 0;
	MPI_Type_contiguous_c(3000000000, MPI_INT, &t);
	MPI_Type_size_c(t, &n);
	MPI_Type_size(t, &small);
	say(" %lld %d", (long long)n, small == MPI_UNDEFINED);
	MPI_Type_get_extent_c(t, &lb, &extent);
	say(" %lld %lld", (long long)lb, (long long)extent);
	MPI_Type_vector_c(2, 1, 3000000000, MPI_DOUBLE, &u);
	MPI_Type_get_extent_c(u, &lb, &extent);
	say(" %lld", (long long)extent);
	MPI_Type_indexed_c(2, lengths, at, MPI_BYTE, &v);
	MPI_Type_size_c(v, &n);
	MPI_Type_get_true_extent_c(v, &lb, &extent);
	say(" %lld %lld %lld", (long long)n, (long long)lb, (long long)extent);
	MPI_Pack_size_c(3000000000, MPI_BYTE, W, &n);
	say(" %lld", (long long)n);
	MPI_Type_free(&t);
	MPI_Type_free(&u);
	MPI_Type_free(&v);
}

static void large_recipes(void) {
	MPI_Datatype t, of[1];
	MPI_Count ni, na, nc, nt, c[8];
	MPI_Aint a[1];
	int combiner, i[4];
	MPI_Count lengths[] = {2, 3}, at[] = {0, 40}, sizes[] = {4, 5}, parts[] = {2, 3}, starts[] = {1, 0};
	for (int k = 0; k < 5; k++) {
		switch (k) {
		case 0: MPI_Type_contiguous_c(3, MPI_INT, &t); break;
		case 1: MPI_Type_create_hvector_c(3, 2, 16, MPI_INT, &t); break;
		case 2: MPI_Type_create_hindexed_c(2, lengths, at, MPI_INT, &t); break;
		case 3: MPI_Type_create_resized_c(MPI_INT, -4, 12, &t); break;
		case 4: MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t); break;
		}
		MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner);
		say(" %lld,%lld,%lld,%lld", (long long)ni, (long long)na, (long long)nc, (long long)nt);
		MPI_Type_get_contents_c(t, ni, na, nc, nt, i, a, c, of);
		if (ni > 0) say(" %d", i[0]);
		for (int l = 0; l < nc; l++) say(" %lld", (long long)c[l]);
		say(" %d", of[0] == MPI_INT);
		MPI_Type_free(&t);
	}
	MPI_Type_contiguous(3, MPI_INT, &t);
	MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner);
	say(" %lld,%lld,%lld,%lld %d", (long long)ni, (long long)na, (long long)nc, (long long)nt, combiner == MPI_COMBINER_CONTIGUOUS);
	MPI_Type_free(&t);
}

static void large_operations(void) {
	MPI_Op op;
	MPI_Status s;
	MPI_Count n, *counts = calloc(size, sizeof *counts);
	MPI_Aint *at = calloc(size, sizeof *at);
	int x[2] = {rank, 1}, sum[2], all[64];
	MPI_Op_create_c(count_large, 1, &op);
	MPI_Allreduce_c(x, sum, 2, MPI_INT, op, W);
	say(" %d %d %d", sum[0], sum[1], size == 1 || of_many > 0);
	MPI_Op_free(&op);
	for (int i = 0; i < size; i++) { counts[i] = 1 + i % 2; at[i] = 2 * i; }
	for (int i = 0; i < 64; i++) all[i] = -1;
	MPI_Allgatherv_c(x, counts[rank], MPI_INT, all, counts, at, MPI_INT, W);
	for (int i = 0; i < 2 * size; i++) say(" %d", all[i]);
	MPI_Sendrecv_c(x, 2, MPI_INT, next(), 0, all, 64, MPI_INT, before(), 0, W, &s);
	MPI_Get_count_c(&s, MPI_INT, &n);
	say(" %lld", (long long)n);
	MPI_Get_elements_c(&s, MPI_INT, &n);
	say(" %lld", (long long)n);
	free(counts);
	free(at);
}

/* Partitions become ready in another order than they have, and are divided in another way by the receiver. */
static void partitions(void) {
	MPI_Request q[2];
	MPI_Status s;
	int x[12], y[12], n, flag;
	MPI_Psend_init(x, 4, 3, MPI_INT, next(), 5, W, MPI_INFO_NULL, &q[0]);
	MPI_Precv_init(y, 4, 3, MPI_INT, before(), 5, W, MPI_INFO_NULL, &q[1]);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 12; k++) { x[k] = 100 * rank + 10 * i + k; y[k] = -1; }
		MPI_Startall(2, q);
		MPI_Pready(2, q[0]);
		MPI_Pready_range(0, 1, q[0]);
		MPI_Pready_list(1, (int[]){3}, q[0]);
		do MPI_Parrived(q[1], 2, &flag); while (!flag);
		say(" %d", y[6]);
		MPI_Wait(&q[0], MPI_STATUS_IGNORE);
		MPI_Wait(&q[1], &s);
		say(" %d %d %d", y[0], y[11], q[1] == MPI_REQUEST_NULL);
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

/* MPICH has no partitioned communication of sides that divide the data in different ways, or of types. */
static void partitions_of_sides(void) {
	int right = 0;
#ifdef MPICH
	right = 12;
#else
	MPI_Request q[2];
	MPI_Status s;
	MPI_Datatype triple;
	int x[12], y[12], n, flag;
	MPI_Type_contiguous(3, MPI_INT, &triple);
	MPI_Type_commit(&triple);
	for (int way = 0; way < 4; way++) {
		switch (way) { /* sender's 4 partitions of 3 */
		case 0: MPI_Precv_init(y, 2, 6, MPI_INT, before(), 5, W, MPI_INFO_NULL, &q[1]); break;
		case 1: MPI_Precv_init(y, 12, 1, MPI_INT, before(), 5, W, MPI_INFO_NULL, &q[1]); break;
		case 2: MPI_Precv_init(y, 4, 1, triple, before(), 5, W, MPI_INFO_NULL, &q[1]); break;
		case 3: MPI_Precv_init(y, 2, 2, triple, before(), 5, W, MPI_INFO_NULL, &q[1]); break;
		}
		if (way < 2) MPI_Psend_init(x, 4, 3, MPI_INT, next(), 5, W, MPI_INFO_NULL, &q[0]);
		else MPI_Psend_init(x, 6, 2, MPI_INT, next(), 5, W, MPI_INFO_NULL, &q[0]);
		if (way == 3) MPI_Type_free(&triple);
		for (int i = 0; i < 3; i++) {
			int parts = way < 2 ? 4 : 6;
			for (int k = 0; k < 12; k++) { x[k] = 100 * rank + 10 * i + k; y[k] = -1; }
			MPI_Startall(2, q);
			for (int k = parts - 1; k >= 0; k--) MPI_Pready(k, q[0]);
			do MPI_Parrived(q[1], 1, &flag); while (!flag);
			int first = way == 0 || way == 3 ? 6 : way == 1 ? 1 : 3, same = y[first] == 100 * before() + 10 * i + first;
			do MPI_Test(&q[1], &flag, &s); while (!flag);
			MPI_Wait(&q[0], MPI_STATUS_IGNORE);
			for (int k = 0; k < 12; k++) same &= y[k] == 100 * before() + 10 * i + k;
			MPI_Get_count(&s, MPI_INT, &n);
			right += same && n == 12 && s.MPI_SOURCE == before() && s.MPI_TAG == 5;
		}
		MPI_Request_free(&q[0]);
		MPI_Request_free(&q[1]);
	}
#endif
	say(" %d", right);
}

/* Requests of one tag match in the order in which they are made. */
static void partitions_in_order(void) {
	int right = 0;
#ifdef MPICH
	right = 3;
#else
	MPI_Request q[6];
	int x[3][2], y[3][2];
	for (int k = 0; k < 3; k++) {
		MPI_Psend_init(x[k], 2, 1, MPI_INT, next(), 9, W, MPI_INFO_NULL, &q[k]);
		MPI_Precv_init(y[k], 2, 1, MPI_INT, before(), 9, W, MPI_INFO_NULL, &q[3 + k]);
		x[k][0] = rank + 10 * k;
		x[k][1] = -k;
	}
	for (int k = 5; k >= 0; k--) MPI_Start(&q[k]);
	for (int k = 2; k >= 0; k--) MPI_Pready_range(0, 1, q[k]);
	MPI_Waitall(6, q, MPI_STATUSES_IGNORE);
	for (int k = 0; k < 3; k++) right += y[k][0] == before() + 10 * k && y[k][1] == -k;
	for (int k = 0; k < 6; k++) MPI_Request_free(&q[k]);
#endif
	say(" %d", right);
}

static void session_sets(void) {
	MPI_Session s;
	MPI_Info info;
	MPI_Group all, self;
	char name[64];
	int n, length, world = 0, flag, how, m;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
	for (int i = 0; i < n; i++) {
		length = 0;
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL);
		say(" %d", length);
		length = 64;
		MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, name);
		say(" %s", name);
	}
	MPI_Session_get_pset_info(s, "mpi://WORLD", &info);
	length = 64;
	MPI_Info_get_string(info, "mpi_size", &length, name, &flag);
	say(" %d %s", flag, name);
	MPI_Info_free(&info);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
	MPI_Group_from_session_pset(s, "mpi://SELF", &self);
	MPI_Group_size(all, &n);
	MPI_Group_size(self, &m);
	say(" %d %d", n, m);
	MPI_Group_rank(all, &n);
	say(" %d", n);
	MPI_Group_free(&all);
	MPI_Group_free(&self);
	MPI_Session_finalize(&s);
	say(" %d", s == MPI_SESSION_NULL);
}

static void session_comms(void) {
	MPI_Session s;
	MPI_Group all, half;
	MPI_Comm c, d;
	int x = rank, sum, n, ranges[1][3] = {{rank % 2, size - 1, 2}};
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
	MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
	MPI_Comm_create_from_group(all, "a tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c);
	say(" %d", sum);
	MPI_Group_range_incl(all, 1, ranges, &half);
	MPI_Comm_create_from_group(half, rank % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &d);
	MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, d);
	MPI_Comm_size(d, &n);
	say(" %d %d", sum, n);
	MPI_Comm_free(&d);
	MPI_Comm_free(&c);
	MPI_Group_free(&half);
	MPI_Group_free(&all);
	MPI_Session_finalize(&s);
}

static void session_intercomm(void) {
	int right = 0;
#ifdef MPICH /* it ends with a segmentation fault */
	right = 1;
#else
	MPI_Session s;
	MPI_Group all, own, other;
	MPI_Comm c;
	int x = 1, sum, ranges[2][1][3] = {{{0, size - 1, 2}}, {{1, size - 1, 2}}};
	if (size > 1) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
		MPI_Group_from_session_pset(s, "mpi://WORLD", &all);
		MPI_Group_range_incl(all, 1, ranges[rank % 2], &own);
		MPI_Group_range_incl(all, 1, ranges[1 - rank % 2], &other);
		MPI_Intercomm_create_from_groups(own, 0, other, 0, "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, c);
		right = sum == (rank % 2 ? (size + 1) / 2 : size / 2);
		MPI_Comm_free(&c);
		MPI_Group_free(&own);
		MPI_Group_free(&other);
		MPI_Group_free(&all);
		MPI_Session_finalize(&s);
	} else right = 1;
#endif
	say(" %d", right);
}

static int session_code, session_same;
static MPI_Session session_open;

static void of_session(MPI_Session *s, int *code, ...) {
	session_code = *code;
	session_same = *s == session_open;
}

static void session_errors(void) {
	int right = 0;
#ifdef MPICH /* it ends with an error for the error handler of the session */
	right = 6;
#else
	MPI_Errhandler h, got;
	MPI_Group g;
	MPI_Info info;
	MPI_Session_create_errhandler(of_session, &h);
	MPI_Session_init(MPI_INFO_NULL, h, &session_open);
	MPI_Session_call_errhandler(session_open, MPI_ERR_OTHER);
	right += session_code == MPI_ERR_OTHER && session_same;
	session_code = 0;
	right += MPI_Group_from_session_pset(session_open, "none such", &g) == MPI_ERR_ARG && session_code == MPI_ERR_ARG;
	MPI_Session_get_errhandler(session_open, &got);
	right += got == h;
	MPI_Errhandler_free(&got);
	MPI_Session_set_errhandler(session_open, MPI_ERRORS_RETURN);
	right += MPI_Group_from_session_pset(session_open, "none such", &g) == MPI_ERR_ARG;
	MPI_Session_get_info(session_open, &info);
	MPI_Info_free(&info);
	MPI_Errhandler_free(&h);
	MPI_Session_finalize(&session_open);
	right += session_open == MPI_SESSION_NULL;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	right += MPI_Session_finalize(&session_open) == MPI_ERR_SESSION;
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
#endif
	say(" %d", right);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	begin_suite(argc, argv);

	RUN(inherited_handlers)
	RUN(isendrecvs)
	RUN(isendrecv_statuses)
	RUN(isendrecv_replaced)
	RUN(info_strings)
	RUN(info_environment)
	RUN(idups_with_info)

	RUN(partitions)
	RUN(partitions_of_sides)
	RUN(partitions_in_order)

	RUN(session_sets)
	RUN(session_comms)
	RUN(session_intercomm)
	RUN(session_errors)

	RUN(large_sizes)
	RUN(large_recipes)
	RUN(large_operations)

	RUN(truncated_matched)
	RUN(aliased_buffers)
	RUN(aliased_nonblocking_buffers)
	RUN(keys_of_other_objects)

	MPI_Comm_free(&apart);
	MPI_Finalize();
	return 0;
}
