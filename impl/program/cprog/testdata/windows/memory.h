/* Windows: their memory, attributes, names, hints and error handlers. */

/* Names of error classes of one-sided communication. */
static const char *window_class(int code) {
	int c;
	MPI_Error_class(code, &c);
	if (c == MPI_ERR_WIN) return "win";
	if (c == MPI_ERR_BASE) return "base";
	if (c == MPI_ERR_SIZE) return "size";
	if (c == MPI_ERR_DISP) return "disp";
	if (c == MPI_ERR_LOCKTYPE) return "locktype";
	if (c == MPI_ERR_ASSERT) return "assert";
	if (c == MPI_ERR_RMA_CONFLICT) return "conflict";
	if (c == MPI_ERR_RMA_SYNC) return "sync";
	if (c == MPI_ERR_RMA_RANGE) return "range";
	if (c == MPI_ERR_RMA_ATTACH) return "attach";
	if (c == MPI_ERR_RMA_SHARED) return "shared";
	if (c == MPI_ERR_RMA_FLAVOR) return "flavor";
	return class_of(code);
}

static void create_and_free(void) {
	int x[4] = {rank, rank, rank, rank};
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, W, &w);
	say(" %d", w != MPI_WIN_NULL);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
	say(" %d", w == MPI_WIN_NULL);
}

static void flavors(void) {
	int x, *p, *flavor, *model, flag;
	MPI_Win w[3];
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, W, &w[0]);
	MPI_Win_allocate(sizeof x, 1, MPI_INFO_NULL, W, &p, &w[1]);
	MPI_Win_create_dynamic(MPI_INFO_NULL, W, &w[2]);
	for (int i = 0; i < 3; i++) {
		MPI_Win_get_attr(w[i], MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
		say(" %d %s", flag, *flavor == MPI_WIN_FLAVOR_CREATE ? "create" : *flavor == MPI_WIN_FLAVOR_ALLOCATE ? "allocate" : *flavor == MPI_WIN_FLAVOR_DYNAMIC ? "dynamic" : "shared");
		MPI_Win_get_attr(w[i], MPI_WIN_MODEL, &model, &flag);
		say(" %d %d", flag, *model == MPI_WIN_UNIFIED || *model == MPI_WIN_SEPARATE);
		MPI_Win_free(&w[i]);
	}
}

static void attributes_of_memory(void) {
	char x[128];
	void *base, *p;
	MPI_Aint *bytes;
	int *unit, flag;
	MPI_Win w;
	MPI_Win_create(x, 10 + rank, 2 + rank, MPI_INFO_NULL, W, &w);
	MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag);
	say(" %d %d", flag, base == (void *)x);
	MPI_Win_get_attr(w, MPI_WIN_SIZE, &bytes, &flag);
	say(" %d %d", flag, (int)*bytes);
	MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag);
	say(" %d %d", flag, *unit);
	MPI_Win_free(&w);
	MPI_Win_allocate(100, 4, MPI_INFO_NULL, W, &p, &w);
	MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag);
	MPI_Win_get_attr(w, MPI_WIN_SIZE, &bytes, &flag);
	MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag);
	say(" %d %d %d", base != NULL, (int)*bytes, *unit);
	memset(p, rank, 100);
	MPI_Win_free(&w);
}

static int deleted[8], deletions;
static int note_deleted(MPI_Win w, int key, void *value, void *extra) {
	deleted[deletions++ % 8] = (int)(intptr_t)value + (int)(intptr_t)extra;
	return MPI_SUCCESS;
}

static void own_attributes(void) {
	int keys[2], flag;
	void *v;
	MPI_Win w;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	deletions = 0;
	for (int i = 0; i < 2; i++) MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, i ? note_deleted : MPI_WIN_NULL_DELETE_FN, &keys[i], (void *)100);
	MPI_Win_get_attr(w, keys[0], &v, &flag);
	say(" %d", flag);
	for (int i = 0; i < 2; i++) MPI_Win_set_attr(w, keys[i], (void *)(intptr_t)(10 + i));
	MPI_Win_get_attr(w, keys[1], &v, &flag);
	say(" %d %d", flag, (int)(intptr_t)v);
	MPI_Win_set_attr(w, keys[1], (void *)20);
	say(" deleted %d: %d", deletions, deleted[0]);
	MPI_Win_delete_attr(w, keys[1]);
	MPI_Win_get_attr(w, keys[1], &v, &flag);
	say(" %d, deleted %d: %d", flag, deletions, deleted[1]);
	for (int i = 0; i < 2; i++) MPI_Win_free_keyval(&keys[i]);
	say(" %d", keys[0] == MPI_KEYVAL_INVALID);
	MPI_Win_free(&w);
}

static void attributes_deleted_in_any_order(void) {
	int keys[4], order[] = {2, 0, 3, 1}, flag;
	void *v;
	MPI_Win w;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	for (int i = 0; i < 4; i++) {
		MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keys[i], NULL);
		MPI_Win_set_attr(w, keys[i], (void *)(intptr_t)i);
	}
	for (int i = 0; i < 4; i++) {
		MPI_Win_delete_attr(w, keys[order[i]]);
		for (int k = 0; k < 4; k++) {
			MPI_Win_get_attr(w, keys[k], &v, &flag);
			say(" %d", flag ? (int)(intptr_t)v : -1);
		}
	}
	for (int i = 0; i < 4; i++) MPI_Win_free_keyval(&keys[i]);
	MPI_Win_free(&w);
}

static void attributes_deleted_with_the_window(void) {
	int key;
	MPI_Win w[2];
	deletions = 0;
	MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_deleted, &key, (void *)1);
	for (int i = 0; i < 2; i++) {
		MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w[i]);
		MPI_Win_set_attr(w[i], key, (void *)(intptr_t)(5 * i));
	}
	MPI_Win_free_keyval(&key); /* it lives as long as the attributes */
	for (int i = 1; i >= 0; i--) {
		MPI_Win_free(&w[i]);
		say(" %d: %d", deletions, deleted[deletions - 1]);
	}
}

static void group_of_a_window(void) {
	MPI_Group g, all;
	int n, me, same;
	MPI_Win w;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_get_group(w, &g);
	MPI_Comm_group(W, &all);
	MPI_Group_size(g, &n);
	MPI_Group_rank(g, &me);
	MPI_Group_compare(g, all, &same);
	say(" %d %d %d", n, me, same == MPI_IDENT);
	MPI_Group_free(&g);
	MPI_Group_free(&all);
	MPI_Win_free(&w);
}

static void names_of_windows(void) {
	char name[MPI_MAX_OBJECT_NAME];
	int n;
	MPI_Win w;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_get_name(w, name, &n);
	say(" %d", n == (int)strlen(name));
	MPI_Win_set_name(w, "halo");
	MPI_Win_get_name(w, name, &n);
	say(" %s %d", name, n);
	MPI_Win_free(&w);
}

static void hints_of_windows(void) {
	MPI_Info in, out;
	MPI_Win w;
	MPI_Info_create(&in);
	MPI_Info_set(in, "no_locks", "true");
	MPI_Win_allocate(8, 1, in, W, &(void *){NULL}, &w);
	MPI_Win_set_info(w, in);
	MPI_Info_free(&in);
	MPI_Win_get_info(w, &out);
	say(" %d", out != MPI_INFO_NULL); /* which hints there are is the library's choice */
	MPI_Info_free(&out);
	MPI_Win_fence(0, w);
	MPI_Win_free(&w);
}

static void error_handlers(void) {
	MPI_Errhandler h;
	MPI_Win w;
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_get_errhandler(w, &h);
	say(" %d", h == MPI_ERRORS_ARE_FATAL);
	MPI_Errhandler_free(&h);
	MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
	MPI_Win_get_errhandler(w, &h);
	say(" %d", h == MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&h);
	say(" %s", window_class(MPI_Win_unlock(0, w)));
	MPI_Win_free(&w);
}

static MPI_Win handled_window;
static int handled_code;
static void handle_window(MPI_Win *w, int *code, ...) {
	handled_window = *w;
	handled_code = *code;
}

static void called_handler(void) {
	MPI_Errhandler h;
	MPI_Win w, other;
	MPI_Win_create_errhandler(handle_window, &h);
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &other);
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, W, &w);
	MPI_Win_set_errhandler(w, h);
	MPI_Errhandler_free(&h);
	int e = MPI_Win_call_errhandler(w, MPI_ERR_DISP);
	say(" %d %d %s", e == MPI_SUCCESS, handled_window == w, window_class(handled_code));
	e = MPI_Win_unlock(0, w);
	say(" %s %d", window_class(e), handled_window == w);
	MPI_Win_free(&w);
	MPI_Win_free(&other);
}

static void windows_without_memory(void) {
	static int x[2] = {-1, -1};
	MPI_Win w;
	MPI_Win_create(rank == 0 ? x : NULL, rank == 0 ? sizeof x : 0, sizeof(int), MPI_INFO_NULL, W, &w);
	MPI_Win_fence(0, w);
	if (rank == size - 1) MPI_Put(&size, 1, MPI_INT, 0, 1, 1, MPI_INT, w);
	MPI_Win_fence(0, w);
	say(" %d %d", x[0], x[1]);
	MPI_Win_free(&w);
}

static void window_of_self(void) {
	int x[2] = {1, 2}, y;
	MPI_Win w;
	MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &w);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
	MPI_Get(&y, 1, MPI_INT, 0, 1, 1, MPI_INT, w);
	MPI_Win_flush(0, w);
	MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
	MPI_Win_unlock(0, w);
	say(" %d %d %d", x[0], x[1], y);
	MPI_Win_free(&w);
}

static void windows_of_parts(void) {
	MPI_Comm part;
	int x = -1, me, n;
	MPI_Win w, all;
	MPI_Comm_split(W, rank % 2, -rank, &part);
	MPI_Comm_rank(part, &me);
	MPI_Comm_size(part, &n);
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, part, &w);
	MPI_Comm_free(&part); /* the window lives without it */
	MPI_Win_fence(0, w);
	MPI_Put(&rank, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, w);
	MPI_Win_fence(0, w);
	say(" %d", x);
	MPI_Win_free(&w);
}

static void many_windows(void) {
	enum { windows = 40 };
	int x[windows] = {0};
	MPI_Win w[windows];
	for (int i = 0; i < windows; i++) MPI_Win_create(&x[i], sizeof(int), 1, MPI_INFO_NULL, W, &w[i]);
	for (int i = 0; i < windows; i++) {
		int v = 100 * rank + i;
		MPI_Win_lock(MPI_LOCK_SHARED, next(), 0, w[i]);
		MPI_Put(&v, 1, MPI_INT, next(), 0, 1, MPI_INT, w[i]);
		MPI_Win_unlock(next(), w[i]);
	}
	for (int i = windows - 1; i >= 0; i--) MPI_Win_free(&w[i]);
	int sum = 0;
	for (int i = 0; i < windows; i++) sum += x[i];
	say(" %d %d %d", x[0], x[windows - 1], sum);
}
