/* Wrong handles and arguments of communicators, groups, topologies, datatypes, attributes, infos and names. */

static void null_communicators(void) {
	int n, flag;
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Comm c = MPI_COMM_NULL, d;
	MPI_Group g;
	WRONG(MPI_Comm_size(c, &n));
	WRONG(MPI_Comm_rank(c, &n));
	WRONG(MPI_Comm_dup(c, &d));
	WRONG(MPI_Comm_split(c, 0, 0, &d));
	WRONG(MPI_Comm_group(c, &g));
	WRONG(MPI_Comm_compare(W, c, &n));
	WRONG(MPI_Comm_test_inter(c, &flag));
	WRONG(MPI_Comm_remote_size(c, &n));
	WRONG(MPI_Comm_get_name(c, name, &n));
	WRONG(MPI_Barrier(c));
	WRONG(MPI_Comm_free(&c));
	c = W;
	FAILS(MPI_Comm_free(&c));
	say(" %d", c == W);
}

static void wrong_splits(void) {
	MPI_Comm c;
	MPI_Group g;
	FAILS(MPI_Comm_split_type(W, -12345, 0, MPI_INFO_NULL, &c));
	WRONG(MPI_Comm_create(W, MPI_GROUP_NULL, &c));
	MPI_Comm_group(W, &g);
	WRONG(MPI_Comm_create_group(MPI_COMM_NULL, g, 0, &c));
	MPI_Group_free(&g);
}

static void wrong_groups(void) {
	MPI_Group g, h, none = MPI_GROUP_NULL;
	int beyond[1], negative[1] = {-1}, n;
	beyond[0] = size;
	MPI_Comm_group(W, &g);
	WRONG(MPI_Group_incl(g, 1, beyond, &h));
	WRONG(MPI_Group_incl(g, 1, negative, &h));
	WRONG(MPI_Group_incl(none, 0, beyond, &h));
	WRONG(MPI_Group_excl(g, 1, beyond, &h));
	WRONG(MPI_Group_excl(g, 1, negative, &h));
	WRONG(MPI_Group_size(none, &n));
	WRONG(MPI_Group_union(g, none, &h));
	WRONG(MPI_Group_intersection(none, g, &h));
	WRONG(MPI_Group_difference(g, none, &h));
	WRONG(MPI_Group_compare(g, none, &n));
	WRONG(MPI_Group_free(&none));
	MPI_Group_free(&g);
}

static void wrong_ranges(void) {
	MPI_Group g, h;
	int stride[1][3] = {{0, 0, 0}}, beyond[1][3] = {{0, 0, 1}}, twice[2][3] = {{0, 0, 1}, {0, 0, 1}}, down[1][3] = {{1, 0, 1}};
	beyond[0][1] = size;
	MPI_Comm_group(W, &g);
	FAILS(MPI_Group_range_incl(g, 1, stride, &h));
	FAILS(MPI_Group_range_incl(g, 1, beyond, &h));
	FAILS(MPI_Group_range_incl(g, 2, twice, &h));
	if (size > 1) FAILS(MPI_Group_range_incl(g, 1, down, &h));
	FAILS(MPI_Group_range_excl(g, 1, beyond, &h));
	FAILS(MPI_Group_range_excl(g, 1, stride, &h));
	MPI_Group_free(&g);
}

static void wrong_grids(void) {
	int dims[2] = {0, 0}, large[1], periods[2] = {0, 0}, n, nodes[2], negative[2] = {-1, 1};
	MPI_Comm c;
	large[0] = size + 1;
	FAILS(MPI_Cart_create(W, 1, large, periods, 0, &c));
	FAILS(MPI_Cart_create(W, -1, large, periods, 0, &c));
	FAILS(MPI_Cartdim_get(W, &n));
	FAILS(MPI_Cart_rank(W, dims, &n));
	FAILS(MPI_Cart_shift(W, 0, 1, &n, nodes));
	FAILS(MPI_Cart_sub(W, periods, &c));
	large[0] = size;
	MPI_Cart_create(W, 1, large, periods, 0, &c);
	return_errors(c);
	nodes[0] = size;
	FAILS(MPI_Cart_rank(c, nodes, &n));
	FAILS(MPI_Graph_neighbors_count(c, 0, &n));
	MPI_Comm_free(&c);
	dims[0] = 7;
	if (size != 7 && 7 % size != 0) FAILS(MPI_Dims_create(size, 2, dims));
	FAILS(MPI_Dims_create(size, 2, negative));
}

static void wrong_graphs(void) {
	int index[2] = {1, 2}, edges[2] = {1, 9}, n, m;
	MPI_Comm c;
	FAILS(MPI_Graph_create(W, size + 1, index, edges, 0, &c));
	FAILS(MPI_Graphdims_get(W, &n, &m));
	FAILS(MPI_Dist_graph_neighbors_count(W, &n, &m, index));
	FAILS(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, W));
}

static void wrong_datatypes(void) {
	MPI_Datatype t = MPI_DATATYPE_NULL, u;
	int one[1] = {1}, zero[1] = {0}, minus[1] = {-1}, n;
	MPI_Aint a[1] = {0}, lower;
	WRONG(MPI_Type_contiguous(-1, MPI_INT, &u));
	WRONG(MPI_Type_contiguous(1, t, &u));
	WRONG(MPI_Type_vector(-1, 1, 1, MPI_INT, &u));
	WRONG(MPI_Type_vector(1, 1, 1, t, &u));
	WRONG(MPI_Type_indexed(1, one, zero, t, &u));
	WRONG(MPI_Type_create_struct(1, one, a, &t, &u));
	FAILS(MPI_Type_indexed(1, minus, zero, MPI_INT, &u));
	FAILS(MPI_Type_indexed(-1, one, zero, MPI_INT, &u));
	FAILS(MPI_Type_create_subarray(1, one, one, zero, 9999, MPI_INT, &u));
	WRONG(MPI_Type_create_resized(t, 0, 4, &u));
	WRONG(MPI_Type_commit(&t));
	WRONG(MPI_Type_free(&t));
	WRONG(MPI_Type_size(t, &n));
	WRONG(MPI_Type_get_extent(t, &lower, a));
	FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 17, &u));
	FAILS(MPI_Type_match_size(-3, 4, &u));
}

static void types_not_committed(void) {
	MPI_Datatype t;
	MPI_Request q;
	int y[2];
	MPI_Type_contiguous(2, MPI_INT, &t);
	WRONG(MPI_Isend(in, 1, t, 0, 0, W, &q));
	WRONG(MPI_Irecv(y, 1, t, 0, 0, W, &q));
	WRONG(MPI_Bcast(y, 1, t, 0, W));
	MPI_Type_commit(&t);
	WRONG(MPI_Bcast(y, 1, t, 0, W));
	MPI_Type_free(&t);
}

static void freed_predefined_objects(void) {
	MPI_Datatype t = MPI_INT;
	MPI_Op o = MPI_MAX;
	MPI_Group g = MPI_GROUP_NULL;
	MPI_Info i = MPI_INFO_NULL;
	int k = MPI_KEYVAL_INVALID;
	FAILS(MPI_Type_free(&t));
	FAILS(MPI_Op_free(&o));
	FAILS(MPI_Group_free(&g));
	FAILS(MPI_Info_free(&i));
	FAILS(MPI_Comm_free_keyval(&k));
	say(" %d %d", t == MPI_INT, o == MPI_MAX);
}

static void wrong_keys(void) {
	int k, *p, flag, x = 0, invalid = MPI_KEYVAL_INVALID;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, NULL);
	FAILS(MPI_Comm_set_attr(W, invalid, &x));
	FAILS(MPI_Comm_get_attr(W, invalid, &p, &flag));
	FAILS(MPI_Comm_delete_attr(W, invalid));
	WRONG(MPI_Comm_set_attr(MPI_COMM_NULL, k, &x));
	FAILS(MPI_Comm_set_attr(W, MPI_TAG_UB, &x));
	FAILS(MPI_Comm_delete_attr(W, MPI_TAG_UB));
	invalid = MPI_TAG_UB;
	FAILS(MPI_Comm_free_keyval(&invalid));
	MPI_Comm_free_keyval(&k);
	say(" %d", k == MPI_KEYVAL_INVALID);
}

static int deletions;
static int refuse_delete(MPI_Comm c, int k, void *value, void *extra) { return ++deletions < 3 ? MPI_ERR_OTHER : MPI_SUCCESS; }
static int refuse_copy(MPI_Comm c, int k, void *extra, void *value, void *copy, int *flag) { return MPI_ERR_OTHER; }

static void failing_callbacks(void) {
	int k, x = 0;
	MPI_Comm c, d;
	MPI_Comm_dup(W, &c);
	return_errors(c);
	deletions = 0;
	MPI_Comm_create_keyval(refuse_copy, refuse_delete, &k, NULL);
	MPI_Comm_set_attr(c, k, &x);
	FAILS(MPI_Comm_dup(c, &d));
	FAILS(MPI_Comm_delete_attr(c, k));
	FAILS(MPI_Comm_free(&c));
	say(" %d", deletions);
	if (c != MPI_COMM_NULL) FAILS(MPI_Comm_free(&c));
	say(" %d", c == MPI_COMM_NULL);
	MPI_Comm_free_keyval(&k);
}

static int own_code;

static int copy_with_own_code(MPI_Comm c, int k, void *extra, void *value, void *copy, int *flag) { return own_code; }

/* A failing copy function chooses the code of the error. */
static void codes_of_callbacks(void) {
	int k, x = 0, class, code, got, n;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Comm c, d;
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "copied in vain");
	MPI_Comm_dup(W, &c);
	return_errors(c);
	MPI_Comm_create_keyval(copy_with_own_code, MPI_COMM_NULL_DELETE_FN, &k, NULL);
	MPI_Comm_set_attr(c, k, &x);
	own_code = class;
	say(" %d", MPI_Comm_dup(c, &d) == class);
	own_code = code;
	say(" %d", (got = MPI_Comm_dup(c, &d)) == code);
	MPI_Error_class(got, &n);
	MPI_Error_string(got, text, &got);
	say(" %d %s", n == class, text);
	own_code = MPI_ERR_ARG;
	WRONG(MPI_Comm_dup(c, &d));
	MPI_Comm_free(&c);
	MPI_Comm_free_keyval(&k);
}

static void wrong_infos(void) {
	MPI_Info i, none = MPI_INFO_NULL;
	char value[10], key[MPI_MAX_INFO_KEY], *longest = malloc(MPI_MAX_INFO_VAL + 10);
	int n, flag;
	memset(longest, 'a', MPI_MAX_INFO_VAL + 9);
	longest[MPI_MAX_INFO_VAL + 9] = 0;
	MPI_Info_create(&i);
	FAILS(MPI_Info_set(none, "a", "b"));
	FAILS(MPI_Info_set(i, longest, "b"));
	FAILS(MPI_Info_set(i, "a", longest));
	FAILS(MPI_Info_set(i, "", "b"));
	FAILS(MPI_Info_delete(i, "missing"));
	FAILS(MPI_Info_get(none, "a", 9, value, &flag));
	FAILS(MPI_Info_get_nkeys(none, &n));
	FAILS(MPI_Info_get_nthkey(i, 0, key));
	FAILS(MPI_Info_get_nthkey(i, -1, key));
	FAILS(MPI_Info_get_valuelen(none, "a", &n, &flag));
	MPI_Info_free(&i);
	free(longest);
}

static void wrong_packing(void) {
	char packed[8];
	int x[4] = {0}, at = 0;
	FAILS(MPI_Pack(x, -1, MPI_INT, packed, 8, &at, W));
	FAILS(MPI_Pack(x, 1, MPI_DATATYPE_NULL, packed, 8, &at, W));
	FAILS(MPI_Pack(x, 1, MPI_INT, packed, 8, &at, MPI_COMM_NULL));
}

static void wrong_names(void) {
	FAILS(MPI_Comm_set_name(MPI_COMM_NULL, "a"));
	FAILS(MPI_Comm_set_name(W, NULL));
	FAILS(MPI_Type_set_name(MPI_DATATYPE_NULL, "a"));
}
