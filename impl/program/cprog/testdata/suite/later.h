/* What later versions of MPI have: how types were made, neighbourhoods, intercommunicators, and more. */

static void say_recipe(MPI_Datatype t) {
	int ni, na, nt, combiner, i[32];
	MPI_Aint a[16];
	MPI_Datatype of[8];
	MPI_Type_get_envelope(t, &ni, &na, &nt, &combiner);
	say(" %s(", combiner == MPI_COMBINER_NAMED ? "named" : combiner == MPI_COMBINER_DUP ? "dup" : combiner == MPI_COMBINER_CONTIGUOUS ? "contiguous"
	             : combiner == MPI_COMBINER_VECTOR ? "vector" : combiner == MPI_COMBINER_HVECTOR ? "hvector" : combiner == MPI_COMBINER_INDEXED ? "indexed"
	             : combiner == MPI_COMBINER_HINDEXED ? "hindexed" : combiner == MPI_COMBINER_INDEXED_BLOCK ? "indexed block"
	             : combiner == MPI_COMBINER_HINDEXED_BLOCK ? "hindexed block" : combiner == MPI_COMBINER_STRUCT ? "struct"
	             : combiner == MPI_COMBINER_SUBARRAY ? "subarray" : combiner == MPI_COMBINER_DARRAY ? "darray" : combiner == MPI_COMBINER_RESIZED ? "resized" : "?");
	if (combiner != MPI_COMBINER_NAMED) {
		MPI_Type_get_contents(t, ni, na, nt, i, a, of);
		for (int k = 0; k < ni; k++) {
			if (combiner == MPI_COMBINER_DARRAY && k >= 5 && k < 7) continue; /* constants */
			if ((combiner == MPI_COMBINER_DARRAY || combiner == MPI_COMBINER_SUBARRAY) && k == ni - 1) continue;
			say("%d,", i[k]);
		}
		for (int k = 0; k < na; k++) say("%ld,", (long)a[k]);
		for (int k = 0; k < nt; k++) {
			int n, m, l, c;
			say_recipe(of[k]);
			MPI_Type_get_envelope(of[k], &n, &m, &l, &c);
			if (c != MPI_COMBINER_NAMED) MPI_Type_free(&of[k]);
		}
	}
	say(")");
}

static void recipes(void) {
	MPI_Datatype t, u;
	int lengths[] = {1, 2}, places[] = {3, 5}, sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
	MPI_Aint bytes[] = {0, 16};
	MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
	say_recipe(MPI_INT);
	MPI_Type_contiguous(3, MPI_INT, &t);
	say_recipe(t);
	MPI_Type_vector(2, 1, 4, t, &u);
	MPI_Type_free(&t);
	say_recipe(u);
	MPI_Type_dup(u, &t);
	MPI_Type_free(&u);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_hvector(2, 1, 24, MPI_INT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_indexed(2, lengths, places, MPI_FLOAT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_hindexed(2, lengths, bytes, MPI_FLOAT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_indexed_block(2, 2, places, MPI_FLOAT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_hindexed_block(2, 1, bytes, MPI_FLOAT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_struct(2, lengths, bytes, types, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_resized(MPI_INT, 0, 32, &t);
	say_recipe(t);
	MPI_Type_free(&t);
	MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
	say_recipe(t);
	MPI_Type_free(&t);
}

static void say_darray(int ranks, int me, const int *sizes, const int *kinds, const int *blocks, const int *grid, int order) {
	MPI_Datatype t;
	MPI_Aint lower, extent;
	int n, at = 0, x[60], out[60];
	for (int i = 0; i < 60; i++) x[i] = i;
	MPI_Type_create_darray(ranks, me, 2, sizes, kinds, blocks, grid, order, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Type_size(t, &n);
	MPI_Type_get_extent(t, &lower, &extent);
	MPI_Pack(x, 1, t, out, sizeof out, &at, W);
	say(" %d %ld %ld:", n, (long)lower, (long)extent);
	for (int i = 0; i < n / 4; i++) say("%d,", out[i]);
	MPI_Type_free(&t);
}

static void darrays(void) {
	int sizes[] = {6, 10}, grid[] = {2, 3};
	int blocks[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, some[] = {2, 3}, both[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
	int mixed[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC};
	for (int me = rank % 6; me < 6; me += size) {
		say_darray(6, me, sizes, both, blocks, grid, MPI_ORDER_C);
		say_darray(6, me, sizes, both, blocks, grid, MPI_ORDER_FORTRAN);
		say_darray(6, me, sizes, mixed, blocks, grid, MPI_ORDER_C);
		say_darray(6, me, sizes, cyclic, some, grid, MPI_ORDER_C);
		say_darray(6, me, sizes, cyclic, some, grid, MPI_ORDER_FORTRAN);
	}
	int line[] = {1, 2}, rows[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
	say_darray(2, rank % 2, sizes, rows, blocks, line, MPI_ORDER_C);
}

static void match_sizes(void) {
	MPI_Datatype t;
	int n;
	MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, &t);
	MPI_Type_size(t, &n);
	say(" %d", n);
	MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, &t);
	MPI_Type_size(t, &n);
	say(" %d", n);
	MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &t);
	MPI_Type_size(t, &n);
	say(" %d", n);
	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	say(" %s", MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &t) ? "none" : "one");
	MPI_Comm_set_errhandler(W, MPI_ERRORS_ARE_FATAL);
}

static int type_copies, type_deletes;
static int copy_of_type(MPI_Datatype t, int key, void *extra, void *in, void *out, int *flag) {
	type_copies++;
	*(void **)out = (char *)in + *(int *)extra;
	*flag = 1;
	return MPI_SUCCESS;
}
static int delete_of_type(MPI_Datatype t, int key, void *value, void *extra) {
	type_deletes++;
	return MPI_SUCCESS;
}

static void type_attributes(void) {
	MPI_Datatype t, u;
	int key, dup, none, flag, extra = 100;
	void *v;
	type_copies = type_deletes = 0;
	MPI_Type_create_keyval(copy_of_type, delete_of_type, &key, &extra);
	MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup, NULL);
	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL);
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_set_attr(t, key, (void *)7);
	MPI_Type_set_attr(t, dup, (void *)8);
	MPI_Type_set_attr(t, none, (void *)9);
	MPI_Type_set_attr(MPI_INT, dup, (void *)10);
	MPI_Type_get_attr(MPI_INT, dup, &v, &flag);
	say(" %d %ld", flag, (long)v);
	MPI_Type_get_attr(MPI_INT, key, &v, &flag);
	say(" %d", flag);
	MPI_Type_delete_attr(MPI_INT, dup);
	MPI_Type_get_attr(MPI_INT, dup, &v, &flag);
	say(" %d", flag);
	MPI_Type_dup(t, &u);
	MPI_Type_get_attr(u, key, &v, &flag);
	say(" %d %ld", flag, (long)v);
	MPI_Type_get_attr(u, dup, &v, &flag);
	say(" %d %ld", flag, (long)v);
	MPI_Type_get_attr(u, none, &v, &flag);
	say(" %d", flag);
	MPI_Type_set_attr(u, key, (void *)1);
	MPI_Type_free_keyval(&key);
	MPI_Type_free_keyval(&dup);
	MPI_Type_free_keyval(&none);
	say(" %d", key == MPI_KEYVAL_INVALID);
	MPI_Type_free(&u);
	MPI_Type_free(&t);
	say(" %d %d", type_copies, type_deletes);
}

static void duplicates_later(void) {
	MPI_Comm c[3];
	MPI_Request q[3];
	int r, sum;
	for (int i = 0; i < 2; i++) MPI_Comm_idup(W, &c[i], &q[i]);
	MPI_Comm_idup(W, &c[2], &q[2]);
	MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
	for (int i = 2; i >= 0; i--) {
		MPI_Comm d;
		MPI_Request p;
		MPI_Comm_compare(W, c[i], &r);
		MPI_Comm_idup(c[i], &d, &p);
		MPI_Wait(&p, MPI_STATUS_IGNORE);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, d);
		say(" %d %d", r == MPI_CONGRUENT, sum);
		MPI_Comm_free(&c[i]);
		MPI_Comm_free(&d);
	}
}

static void of_groups(void) {
	MPI_Group all, some;
	MPI_Comm c, d;
	int list[8], n = 0, sum = -1, r;
	MPI_Comm_group(W, &all);
	for (int i = size - 1; i >= 0; i -= 2) list[n++] = i;
	MPI_Group_incl(all, n, list, &some);
	for (int i = 0; i < n; i++) {
		if (list[i] == rank) { /* the others do not call it */
			MPI_Comm_create_group(W, some, 5, &c);
			MPI_Comm_create_group(W, some, 6, &d);
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
			MPI_Comm_rank(d, &r);
			say(" %d of %d: %d", r, n, sum);
			MPI_Comm_free(&c);
			MPI_Comm_free(&d);
		}
	}
	MPI_Group_free(&all);
	MPI_Group_free(&some);
}

static void comm_infos(void) {
	MPI_Info i;
	MPI_Info_create(&i);
	MPI_Info_set(i, "unheard_of", "1");
	MPI_Comm_set_info(apart, i);
	MPI_Info_free(&i);
	MPI_Comm_get_info(apart, &i);
	say(" %d", i != MPI_INFO_NULL);
	MPI_Info_free(&i);
}

static void say_row(const int *x, int n) {
	for (int i = 0; i < n; i++) say(" %d", x[i]);
	say(";");
}

/* neighbours runs all operations on a communicator with so many neighbours to receive from and to send to. */
static void neighbours(MPI_Comm c, int from, int to) {
	int x[64], y[64], counts[16], other[16], places[16], others[16];
	MPI_Aint bytes[16], more[16];
	MPI_Datatype types[16];
	MPI_Request q;
	for (int i = 0; i < 64; i++) x[i] = 100 * rank + i;
	for (int i = 0; i < 16; i++) {
		counts[i] = other[i] = 1;
		places[i] = 2 * i;
		others[i] = i;
		bytes[i] = 8 * i;
		more[i] = 4 * i;
		types[i] = MPI_INT;
	}
#define CLEAR for (int i = 0; i < 64; i++) y[i] = -1;
#define BOTH(call, start, ...)       \
	CLEAR call(__VA_ARGS__, c);      \
	say_row(y, 2 * from);            \
	CLEAR start(__VA_ARGS__, c, &q); \
	MPI_Wait(&q, MPI_STATUS_IGNORE); \
	say_row(y, 2 * from);
	BOTH(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, x, 2, MPI_INT, y, 2, MPI_INT)
	BOTH(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, x, 1, MPI_INT, y, counts, places, MPI_INT)
	BOTH(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, x, 2, MPI_INT, y, 2, MPI_INT)
	BOTH(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, x, counts, others, MPI_INT, y, other, places, MPI_INT)
	BOTH(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, x, counts, more, types, y, other, bytes, types)
}

static void near_in_grids(void) {
	for (int periodic = 0; periodic < 1 + (size > 2); periodic++) { /* others differ where a rank is a neighbour twice */
		MPI_Comm c;
		MPI_Cart_create(W, 1, &size, &periodic, 0, &c);
		neighbours(c, 2, 2);
		MPI_Comm_free(&c);
	}
	if (size == 4) {
		MPI_Comm c;
		int dims[2] = {2, 2}, round[2] = {0, 0};
		MPI_Cart_create(W, 2, dims, round, 0, &c);
		neighbours(c, 4, 4);
		MPI_Comm_free(&c);
	}
}

static void near_in_graphs(void) {
	MPI_Comm c;
	int index[8], edges[16], n = 0, kind;
	if (size < 3) return; /* a rank would be a neighbour twice, as above */
	for (int i = 0; i < size; i++) {
		edges[n++] = (i + 1) % size;
		edges[n++] = (i + size - 1) % size;
		index[i] = n;
	}
	MPI_Graph_create(W, size, index, edges, 0, &c);
	neighbours(c, 2, 2);
	MPI_Comm_free(&c);

	int from[3] = {before(), rank, next()}, to[2] = {next(), rank}, in, out, weighted, w[4] = {1, 2, 3, 4}, v[4], list[4];
	MPI_Dist_graph_create_adjacent(W, 2, from, w, 2, to, w + 1, MPI_INFO_NULL, 0, &c);
	MPI_Topo_test(c, &kind);
	MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
	say(" %d %d %d %d", kind == MPI_DIST_GRAPH, in, out, weighted);
	MPI_Dist_graph_neighbors(c, in, list, v, out, list + 2, v + 2);
	say_row(list, 4);
	say_row(v, 4);
	neighbours(c, 2, 2);
	MPI_Comm_free(&c);

	/* Each rank names the edge of the next one to the one after that. */
	int source = next(), degree = 1, target = (rank + 2) % size;
	MPI_Dist_graph_create(W, 1, &source, &degree, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
	say(" %d %d %d", in, out, weighted);
	MPI_Dist_graph_neighbors(c, 1, list, MPI_UNWEIGHTED, 1, list + 1, MPI_UNWEIGHTED);
	say_row(list, 2);
	neighbours(c, in, out);
	MPI_Comm_free(&c);
	if (size > 1) {
		MPI_Dist_graph_create_adjacent(W, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c);
		MPI_Dist_graph_neighbors_count(c, &in, &out, &weighted);
		say(" %d %d", in, out);
		MPI_Comm_free(&c);
	}
}

/* pair_of_groups returns a communicator between the even and the odd ranks. */
static MPI_Comm pair_of_groups(int *here, int *there) {
	MPI_Comm half, c;
	MPI_Comm_split(W, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, W, 1 - rank % 2, 9, &c);
	MPI_Comm_free(&half);
	MPI_Comm_size(c, here);
	MPI_Comm_remote_size(c, there);
	return c;
}

static void across_groups(void) {
	int n, m, x[64], y[64], r, counts[8], places[8], bytes[8];
	MPI_Datatype types[8];
	if (size < 2) return;
	MPI_Comm c = pair_of_groups(&n, &m);
	MPI_Comm_rank(c, &r);
	for (int i = 0; i < 64; i++) x[i] = 100 * rank + i;
	for (int i = 0; i < 8; i++) counts[i] = 1, places[i] = 2 * i, bytes[i] = 8 * i, types[i] = MPI_INT;
	int even = rank % 2 == 0, root = !even ? 0 : r == 0 ? MPI_ROOT : MPI_PROC_NULL; /* rank 0 of the even ones */
	MPI_Barrier(c);
	CLEAR MPI_Bcast(even ? x : y, 3, MPI_INT, root, c);
	say_row(y, 3);
	CLEAR MPI_Gather(x, 2, MPI_INT, y, 2, MPI_INT, root, c);
	say_row(y, 2 * m);
	CLEAR MPI_Gatherv(x, 1, MPI_INT, y, counts, places, MPI_INT, root, c);
	say_row(y, 2 * m);
	CLEAR MPI_Scatter(x, 2, MPI_INT, y, 2, MPI_INT, root, c);
	say_row(y, 2);
	CLEAR MPI_Scatterv(x, counts, places, MPI_INT, y, 1, MPI_INT, root, c);
	say_row(y, 2);
	CLEAR MPI_Allgather(x, 2, MPI_INT, y, 2, MPI_INT, c);
	say_row(y, 2 * m);
	CLEAR MPI_Allgatherv(x, 1, MPI_INT, y, counts, places, MPI_INT, c);
	say_row(y, 2 * m);
	CLEAR MPI_Alltoall(x, 2, MPI_INT, y, 2, MPI_INT, c);
	say_row(y, 2 * m);
	CLEAR MPI_Alltoallv(x, counts, places, MPI_INT, y, counts, places, MPI_INT, c);
	say_row(y, 2 * m);
	CLEAR MPI_Alltoallw(x, counts, bytes, types, y, counts, bytes, types, c);
	say_row(y, 2 * m);
	CLEAR MPI_Reduce(x, y, 3, MPI_INT, MPI_SUM, root, c);
	say_row(y, 3);
	CLEAR MPI_Allreduce(x, y, 3, MPI_INT, MPI_MAX, c);
	say_row(y, 3);
	for (int i = 0; i < 8; i++) counts[i] = m; /* so that both groups have n times m */
	CLEAR MPI_Reduce_scatter(x, y, counts, MPI_INT, MPI_SUM, c);
	say_row(y, m);
	CLEAR MPI_Reduce_scatter_block(x, y, m, MPI_INT, MPI_SUM, c);
	say_row(y, m);
	MPI_Comm_free(&c);
}

static void groups_divided(void) {
	int n, m, r, s;
	MPI_Group all, some;
	MPI_Comm d;
	if (size < 2) return;
	MPI_Comm c = pair_of_groups(&n, &m);
	MPI_Comm_rank(c, &r);
	MPI_Comm_split(c, r % 2, -r, &d);
	if (d == MPI_COMM_NULL) {
		say(" none");
	} else {
		MPI_Comm_rank(d, &r);
		MPI_Comm_size(d, &n);
		MPI_Comm_remote_size(d, &m);
		say(" %d of %d and %d", r, n, m);
		MPI_Allreduce(&rank, &s, 1, MPI_INT, MPI_SUM, d);
		say(" %d", s);
		MPI_Comm_free(&d);
	}
	MPI_Comm_group(c, &all);
	int first = 0;
	MPI_Group_incl(all, 1, &first, &some);
	MPI_Comm_create(c, some, &d);
	if (d == MPI_COMM_NULL) {
		say(" none");
	} else {
		MPI_Comm_size(d, &n);
		MPI_Comm_remote_size(d, &m);
		MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &s, 1, MPI_INT, 0, 3, d, MPI_STATUS_IGNORE);
		say(" %d and %d: %d", n, m, s);
		MPI_Comm_free(&d);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&some);
	MPI_Comm_free(&c);
}

static void own_errors(void) {
	int class, code, other, n, flag, *last;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Add_error_class(&class);
	MPI_Add_error_string(class, "a class");
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "a code");
	MPI_Add_error_code(MPI_ERR_TAG, &other);
	MPI_Error_string(class, text, &n);
	say(" %s %d", text, n);
	MPI_Error_string(code, text, &n);
	say(" %s %d", text, n);
	MPI_Error_class(code, &n);
	say(" %d", n == class);
	say(" %s", class_of(other));
	MPI_Comm_get_attr(W, MPI_LASTUSEDCODE, &last, &flag);
	say(" %d %d", flag, *last >= other && class > MPI_ERR_LASTCODE);
}

static void elements_set(void) {
	MPI_Status s;
	int n;
	MPI_Status_set_elements_x(&s, MPI_DOUBLE, 5);
	MPI_Status_set_cancelled(&s, 0);
	MPI_Get_count(&s, MPI_DOUBLE, &n);
	say(" %d", n);
}

static void parents(void) {
	MPI_Comm c;
	MPI_Comm_get_parent(&c);
	say(" %d", c == MPI_COMM_NULL);
	MPI_Comm_dup(W, &c);
	MPI_Comm_disconnect(&c);
	say(" %d", c == MPI_COMM_NULL);
}

static void status_in_fortran(void) {
	MPI_Status s, t;
	MPI_Fint f[64];
	int n;
	MPI_Sendrecv(&rank, 1, MPI_INT, next(), 4, &n, 1, MPI_INT, before(), 4, W, &s);
	MPI_Status_c2f(&s, f);
	MPI_Status_f2c(f, &t);
	MPI_Get_count(&t, MPI_INT, &n);
	say(" %d %d %d", t.MPI_SOURCE, t.MPI_TAG, n);
}

static void bytes_of_integers(void) {
	int n = 1000 + rank, m;
	MPI_Status s;
	MPI_Sendrecv(&n, 1, MPI_INT, next(), 4, &m, 4, MPI_BYTE, before(), 4, W, &s);
	MPI_Get_count(&s, MPI_BYTE, &n);
	say(" %d of %d bytes", m, n);
	m = rank == 0 ? 77 : 0;
	MPI_Bcast(&m, rank == 0 ? 1 : 4, rank == 0 ? MPI_INT : MPI_BYTE, 0, W);
	say(" %d", m);
}

static void long_complex(void) {
	long double _Complex x[2] = {rank + 1, __extension__(2.0il)}, y[2];
	MPI_Allreduce(x, y, 2, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, W);
	long double *p = (long double *)y;
	say(" %Lg %Lg %Lg %Lg", p[0], p[1], p[2], p[3]);
	MPI_Allreduce(x, y, 2, MPI_C_LONG_DOUBLE_COMPLEX, MPI_PROD, W);
	say(" %Lg %Lg %Lg %Lg", p[0], p[1], p[2] + 0, p[3] + 0);
}

static void large_type(void) {
	MPI_Datatype t;
	int n;
	MPI_Type_contiguous(1 << 30, MPI_INT, &t);
	MPI_Type_size(t, &n);
	say(" %d", n == MPI_UNDEFINED);
	MPI_Type_free(&t);
}

static int of_generalized(void *extra, MPI_Status *s) {
	MPI_Status_set_elements(s, MPI_INT, *(int *)extra);
	MPI_Status_set_cancelled(s, 0);
	s->MPI_SOURCE = 1;
	s->MPI_TAG = 2;
	return MPI_SUCCESS;
}
static int freed_generalized, cancelled_generalized;
static int free_generalized(void *extra) {
	freed_generalized++;
	return MPI_SUCCESS;
}
static int cancel_generalized(void *extra, int complete) {
	cancelled_generalized += 1 + 10 * complete;
	return MPI_SUCCESS;
}

static void generalized(void) {
	int n = 7, flag, x = rank, y, k;
	MPI_Request q[3];
	MPI_Status s[3];
	MPI_Grequest_start(of_generalized, free_generalized, cancel_generalized, &n, q);
	MPI_Test(q, &flag, s);
	say(" %d", flag);
	MPI_Cancel(q);
	MPI_Grequest_complete(q[0]);
	MPI_Wait(q, s);
	MPI_Get_elements(s, MPI_INT, &k);
	say(" %d %d %d %d %d", k, s[0].MPI_SOURCE, s[0].MPI_TAG, freed_generalized, q[0] == MPI_REQUEST_NULL);
	MPI_Grequest_start(of_generalized, free_generalized, cancel_generalized, &n, q);
	MPI_Irecv(&y, 1, MPI_INT, before(), 3, W, q + 1);
	MPI_Isend(&x, 1, MPI_INT, next(), 3, W, q + 2);
	MPI_Grequest_complete(q[0]);
	MPI_Waitall(3, q, s);
	MPI_Get_elements(s, MPI_INT, &k);
	say(" %d %d", k, y);
	MPI_Grequest_start(of_generalized, free_generalized, cancel_generalized, &n, q);
	x = 5;
	MPI_Request copy = q[0];
	MPI_Grequest_complete(copy);
	MPI_Request_free(q);
	say(" %d %d %d", freed_generalized, cancelled_generalized, q[0] == MPI_REQUEST_NULL);
}
