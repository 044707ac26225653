/* The tool information interface: what MPICH's tests and tools such as gyan do with it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) \
	if (!(x)) printf("line %d: " #x "\n", __LINE__)

static void control(void) {
	int n, name_length, text_length, verbosity, bind, scope, index, count;
	char name[100], text[200];
	MPI_Datatype type;
	MPI_T_enum e;
	MPI_T_cvar_handle h;
	CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 0);
	for (int i = 0; i < n; i++) {
		name_length = 0;
		text_length = sizeof text;
		CHECK(MPI_T_cvar_get_info(i, NULL, &name_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
		index = name_length;
		name_length = sizeof name;
		CHECK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &e, text, &text_length, &bind, &scope) == MPI_SUCCESS);
		CHECK(name_length == index && strlen(name) + 1 == name_length && strlen(text) + 1 == text_length && e == MPI_T_ENUM_NULL);
		CHECK(bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT && verbosity == MPI_T_VERBOSITY_USER_BASIC);
		name_length = 3;
		CHECK(MPI_T_cvar_get_info(i, text, &name_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS);
		CHECK(strlen(text) == 2 && strncmp(text, name, 2) == 0 && name_length == index);
		CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && index == i);
		CHECK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count) == MPI_SUCCESS && count == 1);
		double d = -1;
		unsigned long u = 0;
		CHECK(type == MPI_DOUBLE || type == MPI_COUNT);
		CHECK(MPI_T_cvar_read(h, type == MPI_DOUBLE ? (void *)&d : (void *)&u) == MPI_SUCCESS);
		if (strcmp(name, "stack_size") == 0) CHECK(u == 8 << 20);
		if (strcmp(name, "compute_factor") == 0) CHECK(d == 0);
		CHECK(MPI_T_cvar_write(h, &u) == MPI_T_ERR_CVAR_SET_NEVER);
		CHECK(MPI_T_cvar_handle_free(&h) == MPI_SUCCESS && h == MPI_T_CVAR_HANDLE_NULL);
		CHECK(MPI_T_cvar_handle_free(&h) == MPI_T_ERR_INVALID_HANDLE);
	}
	CHECK(MPI_T_cvar_get_index("none such", &index) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
}

static void performance(void) {
	int n, index, class, readonly, continuous, atomic, length, rank;
	char name[100];
	MPI_Datatype type;
	MPI_T_pvar_session s, other;
	MPI_T_pvar_handle h, open;
	MPI_Request q[2];
	unsigned long before = 1, after = 0, x;
	CHECK(MPI_T_pvar_get_num(&n) == MPI_SUCCESS && n > 1);
	for (int i = 0; i < n; i++) {
		length = sizeof name;
		CHECK(MPI_T_pvar_get_info(i, name, &length, NULL, &class, &type, NULL, NULL, NULL, NULL, &readonly, &continuous, &atomic) == MPI_SUCCESS);
		CHECK(type == MPI_UNSIGNED_LONG && readonly && !atomic && continuous == (class == MPI_T_PVAR_CLASS_LEVEL));
		CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS && index == i);
		CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &index) == MPI_T_ERR_INVALID_NAME);
	}
	CHECK(MPI_T_pvar_session_create(&s) == MPI_SUCCESS);
	CHECK(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
	MPI_T_pvar_get_index("calls", MPI_T_PVAR_CLASS_COUNTER, &index);
	CHECK(MPI_T_pvar_handle_alloc(s, index, NULL, &h, &length) == MPI_SUCCESS);
	CHECK(MPI_T_pvar_read(s, h, &before) == MPI_SUCCESS && before == 0);
	CHECK(MPI_T_pvar_read(other, h, &x) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_pvar_start(s, h) == MPI_SUCCESS);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK(MPI_T_pvar_stop(s, h) == MPI_SUCCESS);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK(MPI_T_pvar_read(s, h, &after) == MPI_SUCCESS && after == 3);
	CHECK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
	CHECK(MPI_T_pvar_write(s, h, &x) == MPI_T_ERR_PVAR_NO_WRITE);
	CHECK(MPI_T_pvar_reset(s, h) == MPI_T_ERR_PVAR_NO_WRITE);
	CHECK(MPI_T_pvar_readreset(s, h, &x) == MPI_T_ERR_PVAR_NO_WRITE);
	MPI_T_pvar_get_index("open_requests", MPI_T_PVAR_CLASS_LEVEL, &index);
	CHECK(MPI_T_pvar_handle_alloc(s, index, NULL, &open, NULL) == MPI_SUCCESS);
	CHECK(MPI_T_pvar_start(s, open) == MPI_T_ERR_PVAR_NO_STARTSTOP);
	MPI_Irecv(&rank, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q[0]);
	MPI_Isend(&index, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &q[1]);
	CHECK(MPI_T_pvar_read(s, open, &x) == MPI_SUCCESS && x == 2);
	MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
	CHECK(MPI_T_pvar_read(s, open, &x) == MPI_SUCCESS && x == 0);
	CHECK(MPI_T_pvar_handle_free(other, &open) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_pvar_handle_free(s, &open) == MPI_SUCCESS && open == MPI_T_PVAR_HANDLE_NULL);
	CHECK(MPI_T_pvar_session_free(&s) == MPI_SUCCESS && s == MPI_T_PVAR_SESSION_NULL);
	CHECK(MPI_T_pvar_session_free(&s) == MPI_T_ERR_INVALID_SESSION);
	CHECK(MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
}

static void categories(void) {
	int n, index, cvars, pvars, below, length = 50, changed, list[50];
	char name[50];
	CHECK(MPI_T_category_get_num(&n) == MPI_SUCCESS && n == 1);
	CHECK(MPI_T_category_get_info(0, name, &length, NULL, NULL, &cvars, &pvars, &below) == MPI_SUCCESS && below == 0);
	CHECK(MPI_T_category_get_index(name, &index) == MPI_SUCCESS && index == 0);
	CHECK(MPI_T_category_get_cvars(0, 50, list) == MPI_SUCCESS && list[cvars - 1] == cvars - 1);
	CHECK(MPI_T_category_get_pvars(0, 50, list) == MPI_SUCCESS && list[pvars - 1] == pvars - 1);
	CHECK(MPI_T_category_get_categories(0, 50, list) == MPI_SUCCESS);
	CHECK(MPI_T_category_changed(&changed) == MPI_SUCCESS);
	CHECK(MPI_T_category_get_info(1, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, NULL, NULL) == MPI_T_ERR_INVALID_HANDLE);
}

/* There are no events and no sources of them. */
static void on_event(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data) { CHECK(0); }
static void on_free(MPI_T_event_registration r, MPI_T_cb_safety s, void *data) { CHECK(0); }
static void on_drop(MPI_Count n, MPI_T_event_registration r, int source, MPI_T_cb_safety s, void *data) { CHECK(0); }

static void events(void) {
	int n = -1, m = -1, length = 10, index, bind, verbosity, list[1];
	char name[10];
	MPI_Count ticks, most, when;
	MPI_Info info;
	MPI_T_event_registration r = NULL;
	MPI_T_source_order order;
	CHECK(MPI_T_event_get_num(&n) == MPI_SUCCESS && n == 0);
	CHECK(MPI_T_source_get_num(&m) == MPI_SUCCESS && m == 0);
	CHECK(MPI_T_event_get_num(NULL) == MPI_T_ERR_INVALID);
	CHECK(MPI_T_event_get_info(0, name, &length, &verbosity, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_event_get_index("another", &index) == MPI_T_ERR_INVALID_NAME);
	CHECK(MPI_T_event_get_index(NULL, &index) == MPI_T_ERR_INVALID);
	CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_event_handle_set_info(r, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_handle_get_info(r, &info) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_event) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &info) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_set_dropped_handler(r, on_drop) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_handle_free(r, NULL, on_free) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_read(NULL, 0, name) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_copy(NULL, name) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_event_get_timestamp(NULL, &when) == MPI_T_ERR_INVALID_HANDLE && MPI_T_event_get_source(NULL, &index) == MPI_T_ERR_INVALID_HANDLE);
	CHECK(MPI_T_source_get_info(0, name, &length, NULL, NULL, &order, &ticks, &most, &info) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_source_get_timestamp(0, &when) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_category_get_num_events(0, &n) == MPI_SUCCESS && n == 0);
	CHECK(MPI_T_category_get_num_events(1, &n) == MPI_T_ERR_INVALID_INDEX);
	CHECK(MPI_T_category_get_events(0, 1, list) == MPI_SUCCESS);
}

int main(int argc, char **argv) {
	int n, provided;
	CHECK(MPI_T_event_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
	CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
	control();
	MPI_Init(&argc, &argv);
	control();
	performance();
	categories();
	events();
	MPI_Finalize();
	CHECK(MPI_T_finalize() == MPI_SUCCESS);
	CHECK(MPI_T_cvar_get_num(&n) == MPI_SUCCESS);
	CHECK(MPI_T_finalize() == MPI_SUCCESS);
	CHECK(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
	return 0;
}
