/* ---- what the library says of itself ---- */

#if MPI_VERSION >= 3
static int is_eager(const char *name)
{
	for (; *name != 0; name++)
		if (strncmp(name, "eager", 5) == 0 || strncmp(name, "EAGER", 5) == 0)
			return 1;
	return 0;
}

static void write_value(FILE *f, const char *name, MPI_T_cvar_handle handle, MPI_Datatype type)
{
	union { int i; unsigned u; unsigned long l; unsigned long long x; } value;

	if (MPI_T_cvar_read(handle, &value) != MPI_SUCCESS)
		return;
	if (type == MPI_INT)
		fprintf(f, "variable %s %d\n", name, value.i);
	else
		fprintf(f, "variable %s %llu\n", name, type == MPI_UNSIGNED ? value.u : type == MPI_UNSIGNED_LONG ? value.l : value.x);
}

static void write_variable(FILE *f, int i)
{
	char name[256], about[16];
	int name_room = sizeof name, about_room = sizeof about, verbosity, binding, scope, count;
	MPI_T_cvar_handle handle;
	MPI_Datatype type;
	MPI_T_enum names;

	if (MPI_T_cvar_get_info(i, name, &name_room, &verbosity, &type, &names, about, &about_room, &binding, &scope) != MPI_SUCCESS ||
	    !is_eager(name) || binding != MPI_T_BIND_NO_OBJECT ||
	    (type != MPI_INT && type != MPI_UNSIGNED && type != MPI_UNSIGNED_LONG && type != MPI_UNSIGNED_LONG_LONG) ||
	    MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS)
		return;
	if (count == 1)
		write_value(f, plainly(name), handle, type);
	MPI_T_cvar_handle_free(&handle);
}
#endif

/* write_variables writes the library's variables that speak of eager messages, as they are in this run. */
static void write_variables(FILE *f)
{
#if MPI_VERSION >= 3
	int given, number, i;

	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &given) == MPI_SUCCESS) {
		if (MPI_T_cvar_get_num(&number) != MPI_SUCCESS)
			number = 0;
		for (i = 0; i < number; i++)
			write_variable(f, i);
		MPI_T_finalize();
	}
#endif
}

static const char *thread_level(void)
{
	int level;

	MPI_Query_thread(&level);
	return level == MPI_THREAD_SINGLE ? "single" : level == MPI_THREAD_FUNNELED ? "funneled" : level == MPI_THREAD_SERIALIZED ? "serialized" : "multiple";
}

/* write_tables writes the names whose numbers commands have. */
static void write_tables(FILE *f)
{
	int i;

	fprintf(f, "stages");
	for (i = 0; i < STAGES; i++)
		fprintf(f, " %s", stages[i].name);
	fprintf(f, "\nmodes");
	for (i = 0; i < MODES; i++)
		fprintf(f, " %s", modes[i].name);
	fprintf(f, "\noperations");
#ifdef COLLECTIVES
	for (i = 0; i < OPERATIONS; i++)
		fprintf(f, " %s", operations[i].name);
#endif
	fprintf(f, "\n");
}

static void write_facts(FILE *f)
{
	int version, subversion;

#if MPI_VERSION >= 3
	char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	int i;

	memset(library, 0, sizeof library);
	MPI_Get_library_version(library, &i);
	fprintf(f, "library %s\n", plainly(library));
#else
	fprintf(f, "library unknown\n");
#endif
	MPI_Get_version(&version, &subversion);
	fprintf(f, "standard %d.%d\n", version, subversion);
	fprintf(f, "threads %s\n", thread_level());
	write_tables(f);
	write_places(f);
}

