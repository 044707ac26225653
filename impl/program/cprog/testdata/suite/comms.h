/* Groups, communicators, attributes, topologies. */

static void say_group(MPI_Group g) {
	MPI_Group all;
	int n, r, i;
	MPI_Group_size(g, &n);
	MPI_Group_rank(g, &r);
	MPI_Comm_group(W, &all);
	say(" %d/%d:", r == MPI_UNDEFINED ? -1 : r, n);
	for (i = 0; i < n; i++) {
		int there;
		MPI_Group_translate_ranks(g, 1, &i, all, &there);
		say("%d,", there);
	}
	MPI_Group_free(&all);
}

static void groups(void) {
	MPI_Group all, evens, low, g;
	int list[16], n = 0;
	MPI_Comm_group(W, &all);
	say_group(all);
	for (int i = 0; i < size; i += 2) list[n++] = i;
	MPI_Group_incl(all, n, list, &evens);
	say_group(evens);
	MPI_Group_excl(all, n, list, &g);
	say_group(g);
	MPI_Group_free(&g);
	for (int i = 0; i < (size + 1) / 2; i++) list[i] = (size + 1) / 2 - 1 - i;
	MPI_Group_incl(all, (size + 1) / 2, list, &low);
	say_group(low);
	MPI_Group_union(low, evens, &g);
	say_group(g);
	MPI_Group_free(&g);
	MPI_Group_intersection(low, evens, &g);
	say_group(g);
	MPI_Group_free(&g);
	MPI_Group_difference(all, evens, &g);
	say_group(g);
	MPI_Group_free(&g);
	MPI_Group_free(&low);
	MPI_Group_free(&evens);
	MPI_Group_free(&all);
	say(" %d", all == MPI_GROUP_NULL);
}

static void group_ranges(void) {
	MPI_Group all, g;
	int r[2][3] = {{0, size - 1, 2}, {size > 1 ? 1 : 0, size > 1 ? 1 : 0, 1}};
	MPI_Comm_group(W, &all);
	MPI_Group_range_incl(all, size > 1 ? 2 : 1, r, &g);
	say_group(g);
	MPI_Group_free(&g);
	MPI_Group_range_excl(all, 1, r, &g);
	say_group(g);
	if (g != MPI_GROUP_EMPTY) MPI_Group_free(&g);
	int back[1][3] = {{size - 1, 0, -1}};
	MPI_Group_range_incl(all, 1, back, &g);
	say_group(g);
	MPI_Group_free(&g);
	MPI_Group_free(&all);
}

static const char *compared(int c) { return c == MPI_IDENT ? "ident" : c == MPI_CONGRUENT ? "congruent" : c == MPI_SIMILAR ? "similar" : "unequal"; }

static void comparing(void) {
	MPI_Comm d, e;
	MPI_Group g, h, i;
	int c;
	MPI_Comm_dup(W, &d);
	MPI_Comm_split(W, 0, -rank, &e);
	MPI_Comm_compare(W, W, &c);
	say(" %s", compared(c));
	MPI_Comm_compare(W, d, &c);
	say(" %s", compared(c));
	MPI_Comm_compare(W, e, &c);
	say(" %s", compared(c));
	MPI_Comm_compare(W, MPI_COMM_SELF, &c);
	say(" %s", compared(c));
	MPI_Comm_group(W, &g);
	MPI_Comm_group(e, &h);
	MPI_Comm_group(MPI_COMM_SELF, &i);
	MPI_Group_compare(g, h, &c);
	say(" %s", compared(c));
	MPI_Group_compare(g, g, &c);
	say(" %s", compared(c));
	MPI_Group_compare(g, i, &c);
	say(" %s", compared(c));
	MPI_Group_free(&g);
	MPI_Group_free(&h);
	MPI_Group_free(&i);
	MPI_Comm_free(&d);
	MPI_Comm_free(&e);
	say(" %d", d == MPI_COMM_NULL);
}

static void dups(void) {
	MPI_Comm d;
	int x = rank, y = -1;
	MPI_Request q, p;
	MPI_Comm_dup(W, &d);
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, d, &q);
	MPI_Isend(&rank, 1, MPI_INT, next(), 0, W, &p);
	x += 100;
	MPI_Send(&x, 1, MPI_INT, next(), 0, d);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Recv(&x, 1, MPI_INT, before(), 0, W, MPI_STATUS_IGNORE);
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	say(" %d %d", y, x);
	MPI_Comm_free(&d);
}

static void splits(void) {
	MPI_Comm c;
	int r, n, sum;
	MPI_Comm_split(W, rank % 2, -rank, &c);
	MPI_Comm_rank(c, &r);
	MPI_Comm_size(c, &n);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
	say(" %d/%d %d", r, n, sum);
	MPI_Comm_free(&c);
	MPI_Comm_split(W, rank == 0 ? MPI_UNDEFINED : 3, 0, &c);
	say(" %d", c == MPI_COMM_NULL);
	if (c != MPI_COMM_NULL) {
		MPI_Comm_rank(c, &r);
		say(" %d", r);
		MPI_Comm_free(&c);
	}
}

static void creates(void) {
	MPI_Group all, g;
	MPI_Comm c;
	int list[8], n = 0, x;
	MPI_Comm_group(W, &all);
	for (int i = size - 1; i >= 0; i -= 2) list[n++] = i;
	MPI_Group_incl(all, n, list, &g);
	MPI_Comm_create(W, g, &c);
	if (c != MPI_COMM_NULL) {
		int r;
		MPI_Comm_rank(c, &r);
		x = rank;
		MPI_Bcast(&x, 1, MPI_INT, 0, c);
		say(" %d root %d", r, x);
		MPI_Comm_free(&c);
	} else
		say(" none");
	MPI_Group_free(&g);
	MPI_Group_free(&all);
}

static void self(void) {
	int r, n, x = 5, y;
	MPI_Comm d;
	MPI_Comm_rank(MPI_COMM_SELF, &r);
	MPI_Comm_size(MPI_COMM_SELF, &n);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	say(" %d %d %d", r, n, y);
	MPI_Comm_dup(MPI_COMM_SELF, &d);
	MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, d, MPI_STATUS_IGNORE);
	say(" %d", y);
	MPI_Comm_free(&d);
}

static void intercomms(void) {
	MPI_Comm half, inter, all;
	int flag, n, r, x = rank, y;
	MPI_Group g;
	MPI_Comm_test_inter(W, &flag);
	say(" %d", flag);
	if (size < 2) return;
	MPI_Comm_split(W, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, W, 1 - rank % 2, 12, &inter);
	MPI_Comm_test_inter(inter, &flag);
	MPI_Comm_size(inter, &n);
	MPI_Comm_rank(inter, &r);
	say(" %d %d %d", flag, n, r);
	MPI_Comm_remote_size(inter, &n);
	MPI_Comm_remote_group(inter, &g);
	say(" remote %d", n);
	say_group(g);
	MPI_Group_free(&g);
	if (r == 0) {
		MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
		say(" got %d", y);
	}
	MPI_Intercomm_merge(inter, rank % 2, &all);
	MPI_Comm_rank(all, &r);
	MPI_Comm_size(all, &n);
	say(" merged %d/%d", r, n);
	MPI_Comm_free(&all);
	MPI_Comm_dup(inter, &all);
	MPI_Comm_compare(inter, all, &n);
	say(" %s", compared(n));
	MPI_Comm_free(&all);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

static void names_of_comms(void) {
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Comm d;
	MPI_Comm_get_name(W, name, &n);
	say(" %s %d", name, n);
	MPI_Comm_get_name(MPI_COMM_SELF, name, &n);
	say(" %s", name);
	MPI_Comm_dup(W, &d);
	MPI_Comm_set_name(d, "a copy");
	MPI_Comm_get_name(d, name, &n);
	say(" %s %d", name, n);
	MPI_Comm_free(&d);
}

static void split_by_node(void) {
	MPI_Comm c;
	int n;
	MPI_Comm_split_type(W, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c);
	say(" %d", c == MPI_COMM_NULL);
	MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &c);
	MPI_Comm_size(c, &n);
	say(" %d", n >= 1 && n <= size);
	MPI_Comm_free(&c);
}

static int deleted, copied;

static int copy_doubled(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag) {
	copied++;
	*(void **)out = (char *)in + *(int *)extra;
	*flag = 1;
	return MPI_SUCCESS;
}

static int copy_not(MPI_Comm c, int k, void *extra, void *in, void *out, int *flag) {
	*flag = 0;
	return MPI_SUCCESS;
}

static int delete_counted(MPI_Comm c, int k, void *value, void *extra) {
	deleted += (int)(intptr_t)value;
	return MPI_SUCCESS;
}

static void attributes(void) {
	int key, extra = 1000, flag;
	void *v;
	MPI_Comm d;
	MPI_Comm_create_keyval(copy_doubled, delete_counted, &key, &extra);
	MPI_Comm_get_attr(W, key, &v, &flag);
	say(" %d", flag);
	MPI_Comm_set_attr(W, key, (void *)5);
	MPI_Comm_get_attr(W, key, &v, &flag);
	say(" %d %d", flag, (int)(intptr_t)v);
	MPI_Comm_dup(W, &d);
	MPI_Comm_get_attr(d, key, &v, &flag);
	say(" %d %d %d", flag, (int)(intptr_t)v, copied);
	MPI_Comm_set_attr(W, key, (void *)7);
	say(" %d", deleted);
	MPI_Comm_free(&d);
	say(" %d", deleted);
	MPI_Comm_delete_attr(W, key);
	say(" %d", deleted);
	MPI_Comm_get_attr(W, key, &v, &flag);
	say(" %d", flag);
	MPI_Comm_free_keyval(&key);
	say(" %d", key == MPI_KEYVAL_INVALID);
	copied = deleted = 0;
}

static void attribute_functions(void) {
	int null, dup, no, flag;
	void *v;
	MPI_Comm d;
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null, NULL);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup, NULL);
	MPI_Comm_create_keyval(copy_not, MPI_COMM_NULL_DELETE_FN, &no, NULL);
	MPI_Comm_set_attr(W, null, &null);
	MPI_Comm_set_attr(W, dup, &dup);
	MPI_Comm_set_attr(W, no, &no);
	MPI_Comm_dup(W, &d);
	MPI_Comm_get_attr(d, null, &v, &flag);
	say(" %d", flag);
	MPI_Comm_get_attr(d, dup, &v, &flag);
	say(" %d %d", flag, v == &dup);
	MPI_Comm_get_attr(d, no, &v, &flag);
	say(" %d", flag);
	MPI_Comm_free(&d);
	MPI_Comm_delete_attr(W, null);
	MPI_Comm_delete_attr(W, dup);
	MPI_Comm_delete_attr(W, no);
	MPI_Comm_free_keyval(&null);
	MPI_Comm_free_keyval(&dup);
	MPI_Comm_free_keyval(&no);
}

static void old_attributes(void) {
	int key, flag, extra = 1;
	void *v;
	MPI_Keyval_create(copy_doubled, delete_counted, &key, &extra);
	MPI_Attr_put(W, key, (void *)3);
	MPI_Attr_get(W, key, &v, &flag);
	say(" %d %d", flag, (int)(intptr_t)v);
	MPI_Attr_delete(W, key);
	say(" %d", deleted);
	MPI_Keyval_free(&key);
	deleted = 0;
}

static void library_attributes(void) {
	int *v, flag;
	MPI_Comm_get_attr(W, MPI_TAG_UB, &v, &flag);
	say(" %d %d", flag, *v >= 32767);
	MPI_Comm_get_attr(W, MPI_WTIME_IS_GLOBAL, &v, &flag);
	say(" %d", !flag || *v == 0 || *v == 1);
}

static void dims(void) {
	int cases[][3] = {{12, 0, 0}, {6, 3, 0}, {7, 0, 0}, {24, 0, 2}};
	for (int i = 0; i < 4; i++) {
		int d[2] = {cases[i][1], cases[i][2]};
		MPI_Dims_create(cases[i][0], 2, d);
		say(" %dx%d", d[0], d[1]);
	}
	int d[3] = {0, 0, 0};
	MPI_Dims_create(24, 3, d);
	say(" %dx%dx%d", d[0], d[1], d[2]);
	int e[1] = {0};
	MPI_Dims_create(5, 1, e);
	say(" %d", e[0]);
}

static void carts(void) {
	int d[2] = {0, 0}, periods[2] = {1, 0}, coords[2], got[2], ends[2], n, r, kind, from, to;
	MPI_Comm c;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(W, 2, d, periods, 0, &c);
	MPI_Topo_test(c, &kind);
	MPI_Cartdim_get(c, &n);
	say(" %d %d", kind == MPI_CART, n);
	MPI_Cart_get(c, 2, got, ends, coords);
	say(" %dx%d %d%d (%d,%d)", got[0], got[1], ends[0], ends[1], coords[0], coords[1]);
	MPI_Cart_rank(c, coords, &r);
	say(" %d", r);
	MPI_Cart_coords(c, size - 1, 2, coords);
	say(" (%d,%d)", coords[0], coords[1]);
	coords[0] = -1;
	coords[1] = 0;
	MPI_Cart_rank(c, coords, &r);
	say(" %d", r);
	for (int i = 0; i < 2; i++) {
		MPI_Cart_shift(c, i, 1, &from, &to);
		say(" %d>%d", from == MPI_PROC_NULL ? -1 : from, to == MPI_PROC_NULL ? -1 : to);
	}
	int remain[2] = {0, 1};
	MPI_Comm row;
	MPI_Cart_sub(c, remain, &row);
	MPI_Comm_size(row, &n);
	MPI_Comm_rank(row, &r);
	say(" row %d/%d", r, n);
	MPI_Cartdim_get(row, &n);
	say(" %d", n);
	MPI_Comm_free(&row);
	MPI_Comm_free(&c);
}

static void small_cart(void) {
	int d[1] = {size > 1 ? size - 1 : 1}, p[1] = {0}, r;
	MPI_Comm c;
	MPI_Cart_map(W, 1, d, p, &r);
	if (rank < d[0]) say(" %d", r);
	MPI_Cart_create(W, 1, d, p, 0, &c);
	say(" %d", c == MPI_COMM_NULL);
	if (c != MPI_COMM_NULL) MPI_Comm_free(&c);
}

static void graphs(void) {
	int index[8], edges[16], got_index[8], got_edges[16], n, m, kind, list[4];
	MPI_Comm c;
	for (int i = 0; i < size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + size - 1) % size;
		edges[2 * i + 1] = (i + 1) % size;
	}
	MPI_Graph_map(W, size, index, edges, &n);
	say(" %d", n >= 0);
	MPI_Graph_create(W, size, index, edges, 0, &c);
	MPI_Topo_test(c, &kind);
	MPI_Graphdims_get(c, &n, &m);
	say(" %d %d %d", kind == MPI_GRAPH, n, m);
	MPI_Graph_get(c, n, m, got_index, got_edges);
	for (int i = 0; i < n; i++) say(" %d", got_index[i]);
	for (int i = 0; i < m; i++) say(" %d", got_edges[i]);
	MPI_Graph_neighbors_count(c, rank, &n);
	MPI_Graph_neighbors(c, rank, n, list);
	say(" %d: %d %d", n, list[0], list[1]);
	MPI_Comm_free(&c);
	MPI_Topo_test(W, &kind);
	say(" %d", kind == MPI_UNDEFINED);
}

static void many_comms(void) {
	MPI_Comm c[20];
	int sum = 0;
	for (int i = 0; i < 20; i++) MPI_Comm_split(W, i % 2 ? rank % 2 : 0, rank, &c[i]);
	for (int i = 0; i < 20; i++) {
		int x = 1, y;
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c[i]);
		sum += y;
		MPI_Comm_free(&c[i]);
	}
	say(" %d", sum);
}

static void sums_of_rows(void) {
	int d[2] = {0, 0}, periods[2] = {0, 0}, row[2] = {0, 1}, column[2] = {1, 0}, x = rank + 1, y, z;
	MPI_Comm c, a, b;
	MPI_Dims_create(size, 2, d);
	MPI_Cart_create(W, 2, d, periods, 0, &c);
	MPI_Cart_sub(c, row, &a);
	MPI_Cart_sub(c, column, &b);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, a);
	MPI_Allreduce(&x, &z, 1, MPI_INT, MPI_SUM, b);
	say(" %d %d", y, z);
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
	MPI_Comm_free(&c);
}

static void shifts_around(void) {
	int d[1] = {size}, periods[1] = {1}, from, to, x = rank, y;
	MPI_Comm c;
	MPI_Cart_create(W, 1, d, periods, 1, &c);
	for (int k = -2; k <= 2; k++) {
		MPI_Cart_shift(c, 0, k, &from, &to);
		MPI_Sendrecv(&x, 1, MPI_INT, to, 0, &y, 1, MPI_INT, from, 0, c, MPI_STATUS_IGNORE);
		say(" %d", y);
	}
	MPI_Comm_free(&c);
}

static void split_by_key(void) {
	MPI_Comm c;
	int keys[] = {5, -3, 5, 0, 9, -3, 2, 1}, r;
	MPI_Comm_split(W, 0, keys[rank % 8], &c);
	MPI_Comm_rank(c, &r);
	say(" %d", r);
	MPI_Comm_free(&c);
}

static void dup_of_split(void) {
	MPI_Comm a, b, c;
	int x = rank, y, n;
	MPI_Comm_split(W, rank % 2, rank, &a);
	MPI_Comm_dup(a, &b);
	MPI_Comm_split(b, 0, -rank, &c);
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
	MPI_Bcast(&x, 1, MPI_INT, 0, c);
	MPI_Comm_size(c, &n);
	MPI_Allreduce(&rank, &y, 1, MPI_INT, MPI_MIN, c);
	say(" %d %d %d", x, n, y);
	MPI_Comm_free(&c);
}

static void translations(void) {
	MPI_Group all, g;
	int list[8], back[8];
	MPI_Comm_group(W, &all);
	for (int i = 0; i < size; i++) list[i] = size - 1 - i;
	MPI_Group_incl(all, size, list, &g);
	MPI_Group_translate_ranks(g, size, list, all, back);
	for (int i = 0; i < size; i++) say(" %d", back[i]);
	MPI_Group_free(&g);
	MPI_Group_incl(all, 1, list, &g);
	MPI_Group_translate_ranks(all, size, list, g, back);
	for (int i = 0; i < size; i++) say(" %d", back[i] == MPI_UNDEFINED ? -1 : back[i]);
	MPI_Group_free(&g);
	MPI_Group_free(&all);
}

static void status_of_groups(void) {
	MPI_Comm c;
	int r, n, x = rank, y;
	MPI_Status s;
	MPI_Comm_split(W, 0, -rank, &c);
	MPI_Comm_rank(c, &r);
	MPI_Comm_size(c, &n);
	MPI_Sendrecv(&x, 1, MPI_INT, (r + 1) % n, 0, &y, 1, MPI_INT, MPI_ANY_SOURCE, 0, c, &s);
	say(" %d from %d", y, s.MPI_SOURCE);
	MPI_Comm_free(&c);
}
