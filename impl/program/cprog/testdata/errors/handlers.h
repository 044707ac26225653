/* Classes, codes and handlers of errors that the program makes itself. */

static void own_classes(void) {
	int class, code, c, n, *last, flag, next_class;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_string(code, "own code");
	MPI_Error_class(code, &c);
	MPI_Error_string(code, text, &n);
	say(" %d %s %d", c == class, text, n);
	MPI_Add_error_string(class, "own class");
	MPI_Error_string(class, text, &n);
	say(" %s", text);
	MPI_Comm_get_attr(W, MPI_LASTUSEDCODE, &last, &flag);
	say(" %d %d", flag, *last >= class);
	MPI_Add_error_class(&next_class);
	say(" %d", next_class != class);
	MPI_Add_error_code(MPI_ERR_OTHER, &code);
	MPI_Error_class(code, &c);
	say(" %d", c == MPI_ERR_OTHER);
}

static int calls, seen;
static void count(MPI_Comm *c, int *code, ...) {
	calls++;
	seen = *code;
}

static MPI_Errhandler freed_handle;

/* A communicator with an error handler, whose handle is freed, and no calls yet. */
static MPI_Comm handled_by(MPI_Comm_errhandler_function *f) {
	MPI_Comm c;
	calls = 0;
	MPI_Comm_create_errhandler(f, &freed_handle);
	MPI_Comm_dup(W, &c);
	MPI_Comm_set_errhandler(c, freed_handle);
	MPI_Errhandler_free(&freed_handle);
	return c;
}

static void called_by_program(void) {
	MPI_Comm c = handled_by(count);
	int code, class;
	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	FAILS(MPI_Comm_call_errhandler(c, code));
	say(" %d %d", calls, seen == code);
	FAILS(MPI_Comm_call_errhandler(c, MPI_ERR_TAG));
	say(" %d %s", calls, class_of(seen));
	FAILS(MPI_Comm_call_errhandler(MPI_COMM_NULL, code));
	MPI_Comm_free(&c);
}

/* Errors of a communicator go to its handler alone. */
static void handlers_of_parts(void) {
	MPI_Comm c = handled_by(count), d;
	int x = 0;
	MPI_Comm_dup(c, &d);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, c));
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, W));
	say(" %d", calls);
	WRONG(MPI_Send(&x, 1, MPI_INT, 0, -9, d));
	say(" %d", calls);
	MPI_Comm_set_errhandler(d, MPI_ERRORS_RETURN);
	WRONG(MPI_Bcast(&x, 1, MPI_INT, size, d));
	WRONG(MPI_Bcast(&x, 1, MPI_INT, size, c));
	say(" %d", calls);
	MPI_Comm_free(&c);
	MPI_Comm_free(&d);
}

static void replace(MPI_Comm *c, int *code, ...) {
	calls++;
	MPI_Comm_set_errhandler(*c, MPI_ERRORS_RETURN);
}

static void handler_replaced_in_itself(void) {
	MPI_Comm c = handled_by(replace);
	int x = 0;
	for (int i = 0; i < 3; i++) WRONG(MPI_Send(&x, -1, MPI_INT, 0, 0, c));
	say(" %d", calls);
	MPI_Comm_free(&c);
}

static void handlers_freed_early(void) {
	MPI_Errhandler g, none = MPI_ERRHANDLER_NULL;
	MPI_Comm c = handled_by(count);
	int x = 0;
	say(" %d", freed_handle == MPI_ERRHANDLER_NULL);
	MPI_Comm_get_errhandler(c, &g);
	MPI_Errhandler_free(&g);
	WRONG(MPI_Send(&x, 1, MPI_INT, size, 0, c));
	say(" %d", calls);
	FAILS(MPI_Errhandler_free(&none));
	FAILS(MPI_Comm_set_errhandler(c, MPI_ERRHANDLER_NULL));
	MPI_Comm_free(&c);
}

/* A handler does not keep an error of a request from its caller. */
static void handler_of_requests(void) {
	MPI_Comm c;
	MPI_Request q, p;
	int y;
	if (size == 1) return;
	c = handled_by(count);
	MPI_Irecv(&y, 1, MPI_INT, before(), 0, c, &q);
	MPI_Isend(in, 2, MPI_INT, next(), 0, c, &p);
	WRONG(MPI_Wait(&q, MPI_STATUS_IGNORE));
	MPI_Wait(&p, MPI_STATUS_IGNORE);
	MPI_Comm_free(&c);
}
