/* A tracer of MPI programs by the profiling interface (MPI 4.1, chapter 15): each call that
 * communicates becomes a line function:start:arguments:end, times in microseconds, in the file
 * mpi-trace-RANK.txt of the directory LOGGP_TRACE_DIR, or of the working directory.
 *
 * The format is that of liballprof, with what a reader cannot know from addresses: receives have
 * the source and tag of their message, requests and communicators are numbers, and calls that
 * complete some of several requests are a wait for each that was completed. Functions that cannot
 * be simulated are recorded by their name alone, so that a reader refuses them. */
#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ANY (-1)
#define NO_PROCESS (-2)

static FILE *file;
static int failed;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void write_failed(void)
{
    if (!failed)
        fprintf(stderr, "loggp trace: the record could not be written; it is incomplete\n");
    failed = 1;
}

static void open_file(void)
{
    int rank;
    const char *dir = getenv("LOGGP_TRACE_DIR");
    char path[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (snprintf(path, sizeof path, "%s/mpi-trace-%d.txt", dir ? dir : ".", rank) >= (int)sizeof path || !(file = fopen(path, "w"))) {
        fprintf(stderr, "loggp trace: cannot write %s\n", path);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    setvbuf(file, NULL, _IOFBF, 1 << 20);
    fprintf(file, "# MPI calls of rank %d\n", rank);
}

/* record writes the line of a call that began at start. */
static void record(const char *name, long long start, const char *format, ...)
{
    va_list arguments;
    if (!file)
        return;
    fprintf(file, "%s:%lld:", name, start);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    if (fprintf(file, ":%lld\n", now()) < 0)
        write_failed();
}

/* Texts of arguments: several may be in one line. */
static const char *text(const char *format, ...)
{
    static _Thread_local char texts[8][64];
    static _Thread_local int next;
    char *to = texts[next = (next + 1) % 8];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to, sizeof texts[0], format, arguments);
    va_end(arguments);
    return to;
}

static int size_of(MPI_Datatype type)
{
    int size = 0;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return size;
}

static const char *datatype(MPI_Datatype type) { return text("0,%d,%d", size_of(type), size_of(type)); }

/* Numbers of communicators have none of the bits by which a reader recognizes MPICH's. */
static const char *communicator(MPI_Comm comm)
{
    int rank, size, is_inter;
    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    return text("%d,%d,%d", is_inter ? -1 : (int)(PMPI_Comm_c2f(comm) & 0xfffffff), rank, size);
}

static long long request_number(MPI_Request request) { return 8LL * (unsigned)PMPI_Request_c2f(request); }
static int peer(int rank) { return rank == MPI_PROC_NULL ? NO_PROCESS : rank == MPI_ANY_SOURCE ? ANY : rank; }
static int any_tag(int tag) { return tag == MPI_ANY_TAG ? ANY : tag; }

int MPI_Init(int *argc, char ***argv)
{
    int err = PMPI_Init(argc, argv);
    open_file();
    fprintf(file, "MPI_Init:-:%lld\n", now());
    return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int err = PMPI_Init_thread(argc, argv, required < MPI_THREAD_SERIALIZED ? required : MPI_THREAD_SERIALIZED, provided);
    open_file();
    fprintf(file, "MPI_Init_thread:-:%lld\n", now());
    return err;
}

int MPI_Finalize(void)
{
    if (file) {
        fprintf(file, "MPI_Finalize:%lld:-\n", now());
        if (fclose(file) != 0)
            write_failed();
        file = NULL;
    }
    return PMPI_Finalize();
}

#define SEND(name)                                                                                                            \
    int MPI_##name(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)                           \
    {                                                                                                                         \
        long long start = now();                                                                                              \
        int err = PMPI_##name(buf, count, type, dest, tag, comm);                                                             \
        record("MPI_" #name, start, "0:%d:%s:%d:%d:%s", count, datatype(type), peer(dest), tag, communicator(comm));          \
        return err;                                                                                                           \
    }
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)

#define START_SEND(name)                                                                                                      \
    int MPI_##name(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)     \
    {                                                                                                                         \
        long long start = now();                                                                                              \
        int err = PMPI_##name(buf, count, type, dest, tag, comm, request);                                                    \
        record("MPI_" #name, start, "0:%d:%s:%d:%d:%s:%lld", count, datatype(type), peer(dest), tag, communicator(comm), request_number(*request)); \
        return err;                                                                                                           \
    }
START_SEND(Isend)
START_SEND(Ibsend)
START_SEND(Issend)
START_SEND(Irsend)

/* Of a receive from no process the status has that as its source. */
int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    long long start = now();
    MPI_Status own;
    int err = PMPI_Recv(buf, count, type, source, tag, comm, status == MPI_STATUS_IGNORE ? &own : status);
    MPI_Status *found = status == MPI_STATUS_IGNORE ? &own : status;
    record("MPI_Recv", start, "0:%d:%s:%d:%d:%s:0", count, datatype(type), peer(found->MPI_SOURCE), any_tag(found->MPI_TAG), communicator(comm));
    return err;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    long long start = now();
    int err = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    record("MPI_Irecv", start, "0:%d:%s:%d:%d:%s:%lld", count, datatype(type), peer(source), any_tag(tag), communicator(comm), request_number(*request));
    return err;
}

static void record_sendrecv(long long start, int scount, MPI_Datatype stype, int dest, int stag, int rcount, MPI_Datatype rtype, const MPI_Status *found, MPI_Comm comm)
{
    record("MPI_Sendrecv", start, "0:%d:%s:%d:%d:0:%d:%s:%d:%d:%s:0", scount, datatype(stype), peer(dest), stag, rcount, datatype(rtype), peer(found->MPI_SOURCE),
           any_tag(found->MPI_TAG), communicator(comm));
}

int MPI_Sendrecv(const void *sbuf, int scount, MPI_Datatype stype, int dest, int stag, void *rbuf, int rcount, MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Status *status)
{
    long long start = now();
    MPI_Status own, *found = status == MPI_STATUS_IGNORE ? &own : status;
    int err = PMPI_Sendrecv(sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, source, rtag, comm, found);
    record_sendrecv(start, scount, stype, dest, stag, rcount, rtype, found, comm);
    return err;
}

int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm, MPI_Status *status)
{
    long long start = now();
    MPI_Status own, *found = status == MPI_STATUS_IGNORE ? &own : status;
    int err = PMPI_Sendrecv_replace(buf, count, type, dest, stag, source, rtag, comm, found);
    record_sendrecv(start, count, type, dest, stag, count, type, found, comm);
    return err;
}

/* Requests by their numbers before a call that completes them. */
static long long *numbers_of(int count, const MPI_Request *requests)
{
    long long *numbers = malloc(sizeof *numbers * (count > 0 ? count : 1));
    for (int i = 0; numbers && i < count; i++)
        numbers[i] = requests[i] == MPI_REQUEST_NULL ? -1 : request_number(requests[i]);
    return numbers;
}

/* The wait for the first of several requests has the time of the call. */
static void record_wait(long long *start, long long number)
{
    if (number >= 0) {
        record("MPI_Wait", *start, "%lld:0", number);
        *start = now();
    }
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    long long start = now(), number = *request == MPI_REQUEST_NULL ? -1 : request_number(*request);
    int err = PMPI_Wait(request, status);
    record_wait(&start, number);
    return err;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    long long start = now(), number = *request == MPI_REQUEST_NULL ? -1 : request_number(*request);
    int err = PMPI_Test(request, flag, status);
    if (*flag)
        record_wait(&start, number);
    return err;
}

#define ALL(name, done, parameters, ...)                                          \
    int MPI_##name parameters                                                     \
    {                                                                             \
        long long start = now(), *numbers = numbers_of(count, requests);          \
        int err = PMPI_##name(__VA_ARGS__);                                       \
        for (int i = 0; numbers && (done) && i < count; i++)                      \
            record_wait(&start, numbers[i]);                                      \
        free(numbers);                                                            \
        return err;                                                               \
    }
ALL(Waitall, 1, (int count, MPI_Request *requests, MPI_Status *statuses), count, requests, statuses)
ALL(Testall, *flag, (int count, MPI_Request *requests, int *flag, MPI_Status *statuses), count, requests, flag, statuses)

#define SOME(name, parameters, ...)                                               \
    int MPI_##name parameters                                                     \
    {                                                                             \
        long long start = now(), *numbers = numbers_of(count, requests);          \
        int err = PMPI_##name(__VA_ARGS__);                                       \
        for (int i = 0; numbers && *outcount != MPI_UNDEFINED && i < *outcount; i++) \
            record_wait(&start, numbers[indices[i]]);                             \
        free(numbers);                                                            \
        return err;                                                               \
    }
SOME(Waitsome, (int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses), count, requests, outcount, indices, statuses)
SOME(Testsome, (int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses), count, requests, outcount, indices, statuses)

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    long long start = now(), *numbers = numbers_of(count, requests);
    int err = PMPI_Waitany(count, requests, index, status);
    if (numbers && *index != MPI_UNDEFINED)
        record_wait(&start, numbers[*index]);
    free(numbers);
    return err;
}

int MPI_Testany(int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
{
    long long start = now(), *numbers = numbers_of(count, requests);
    int err = PMPI_Testany(count, requests, index, flag, status);
    if (numbers && *flag && *index != MPI_UNDEFINED)
        record_wait(&start, numbers[*index]);
    free(numbers);
    return err;
}

int MPI_Barrier(MPI_Comm comm)
{
    long long start = now();
    int err = PMPI_Barrier(comm);
    record("MPI_Barrier", start, "%s", communicator(comm));
    return err;
}

int MPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    long long start = now();
    int err = PMPI_Bcast(buf, count, type, root, comm);
    record("MPI_Bcast", start, "0:%d:%s:%d:%s", count * size_of(type), "0,1,1", root, communicator(comm));
    return err;
}

int MPI_Reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    long long start = now();
    int err = PMPI_Reduce(sbuf, rbuf, count, type, op, root, comm);
    record("MPI_Reduce", start, "0:0:%d:%s:0:%d:%s", count, datatype(type), root, communicator(comm));
    return err;
}

#define COMBINE(name)                                                                                              \
    int MPI_##name(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)           \
    {                                                                                                              \
        long long start = now();                                                                                   \
        int err = PMPI_##name(sbuf, rbuf, count, type, op, comm);                                                  \
        record("MPI_" #name, start, "0:0:%d:%s:0:%s", count, datatype(type), communicator(comm));                  \
        return err;                                                                                                \
    }
COMBINE(Allreduce)
COMBINE(Scan)
COMBINE(Exscan)
COMBINE(Reduce_scatter_block)

/* Blocks of different sizes are recorded as blocks of the mean size. */
int MPI_Reduce_scatter(const void *sbuf, void *rbuf, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    long long start = now(), sum = 0;
    int size, err = PMPI_Reduce_scatter(sbuf, rbuf, counts, type, op, comm);
    PMPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++)
        sum += counts[i];
    record("MPI_Reduce_scatter_block", start, "0:0:%lld:%s:0:%s", (sum + size - 1) / size, datatype(type), communicator(comm));
    return err;
}

#define EXCHANGE(name)                                                                                                                        \
    int MPI_##name(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype, MPI_Comm comm)               \
    {                                                                                                                                         \
        long long start = now();                                                                                                              \
        int err = PMPI_##name(sbuf, scount, stype, rbuf, rcount, rtype, comm);                                                                \
        record("MPI_" #name, start, "0:0:0,0,0:0:%d:%s:%s", rcount, datatype(rtype), communicator(comm));                                     \
        return err;                                                                                                                           \
    }
EXCHANGE(Allgather)
EXCHANGE(Alltoall)

#define ROOTED(name)                                                                                                                          \
    int MPI_##name(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype, int root, MPI_Comm comm)     \
    {                                                                                                                                         \
        long long start = now();                                                                                                              \
        int rank, is_root, bytes, err = PMPI_##name(sbuf, scount, stype, rbuf, rcount, rtype, root, comm);                                    \
        PMPI_Comm_rank(comm, &rank);                                                                                                          \
        is_root = rank == root;                                                                                                               \
        bytes = (is_root == ROOT_RECEIVES_##name) ? rcount * size_of(rtype) : scount * size_of(stype);                                        \
        record("MPI_" #name, start, "0:%d:0,1,1:0:%d:0,1,1:%d:%s", bytes, bytes, root, communicator(comm));                                   \
        return err;                                                                                                                           \
    }
#define ROOT_RECEIVES_Gather 1
#define ROOT_RECEIVES_Scatter 0
ROOTED(Gather)
ROOTED(Scatter)

/* Blocks with a size each: the bytes that go to each rank, and those that come from each. */
static void record_blocks(const char *name, long long start, MPI_Comm comm, const int *scounts, int scount, MPI_Datatype stype, int to, const int *rcounts, int rcount, MPI_Datatype rtype, int from)
{
    int size, rank;
    long long of_send = size_of(stype), of_receive = size_of(rtype);
    if (!file)
        return;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_rank(comm, &rank);
    fprintf(file, "%s:%lld:%s", name, start, communicator(comm));
    for (int i = 0; i < size; i++)
        fprintf(file, "%c%lld", i ? ',' : ':', i == rank || (to >= 0 && to != i) ? 0 : of_send * (scounts ? scounts[i] : scount));
    for (int i = 0; i < size; i++)
        fprintf(file, "%c%lld", i ? ',' : ':', i == rank || (from >= 0 && from != i) ? 0 : of_receive * (rcounts ? rcounts[i] : rcount));
    if (fprintf(file, ":%lld\n", now()) < 0)
        write_failed();
}

int MPI_Alltoallv(const void *sbuf, const int scounts[], const int sdispls[], MPI_Datatype stype, void *rbuf, const int rcounts[], const int rdispls[], MPI_Datatype rtype, MPI_Comm comm)
{
    long long start = now();
    int err = PMPI_Alltoallv(sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype, comm);
    int in_place = sbuf == MPI_IN_PLACE;
    record_blocks("MPI_Alltoallv", start, comm, in_place ? rcounts : scounts, 0, in_place ? rtype : stype, -1, rcounts, 0, rtype, -1);
    return err;
}

int MPI_Allgatherv(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, const int rcounts[], const int displs[], MPI_Datatype rtype, MPI_Comm comm)
{
    long long start = now();
    int rank, err = PMPI_Allgatherv(sbuf, scount, stype, rbuf, rcounts, displs, rtype, comm);
    PMPI_Comm_rank(comm, &rank);
    record_blocks("MPI_Allgatherv", start, comm, NULL, rcounts[rank], rtype, -1, rcounts, 0, rtype, -1);
    return err;
}

int MPI_Gatherv(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, const int rcounts[], const int displs[], MPI_Datatype rtype, int root, MPI_Comm comm)
{
    long long start = now();
    int rank, err = PMPI_Gatherv(sbuf, scount, stype, rbuf, rcounts, displs, rtype, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root)
        record_blocks("MPI_Gatherv", start, comm, NULL, 0, MPI_BYTE, root, rcounts, 0, rtype, -1);
    else
        record_blocks("MPI_Gatherv", start, comm, NULL, scount, stype, root, NULL, 0, MPI_BYTE, root);
    return err;
}

int MPI_Scatterv(const void *sbuf, const int scounts[], const int displs[], MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype, int root, MPI_Comm comm)
{
    long long start = now();
    int rank, err = PMPI_Scatterv(sbuf, scounts, displs, stype, rbuf, rcount, rtype, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root)
        record_blocks("MPI_Scatterv", start, comm, scounts, 0, stype, -1, NULL, 0, MPI_BYTE, root);
    else
        record_blocks("MPI_Scatterv", start, comm, NULL, 0, MPI_BYTE, root, NULL, rcount, rtype, root);
    return err;
}

/* All calls that make communicators of some ranks of one are recorded as a split: its colour is the
 * first rank of the new one, its key the rank in it. */
static void record_made(long long start, MPI_Comm comm, MPI_Comm made)
{
    int colour = -1, key = 0, zero = 0;
    if (made != MPI_COMM_NULL) {
        MPI_Group old_group, new_group;
        PMPI_Comm_rank(made, &key);
        PMPI_Comm_group(comm, &old_group);
        PMPI_Comm_group(made, &new_group);
        PMPI_Group_translate_ranks(new_group, 1, &zero, old_group, &colour);
        PMPI_Group_free(&old_group);
        PMPI_Group_free(&new_group);
    }
    record("MPI_Comm_split", start, "%s:%d:%d:0", communicator(comm), colour, key);
}

#define MAKES(name, parameters, ...)                                              \
    int MPI_##name parameters                                                     \
    {                                                                             \
        long long start = now();                                                  \
        int err = PMPI_##name(__VA_ARGS__);                                       \
        record_made(start, comm, *made);                                          \
        return err;                                                               \
    }
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), comm, color, key, made)
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), comm, type, key, info, made)
MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), comm, made)
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), comm, info, made)
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), comm, group, made)
MAKES(Cart_create, (MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *made), comm, n, dims, periods, reorder, made)
MAKES(Cart_sub, (MPI_Comm comm, const int *remain, MPI_Comm *made), comm, remain, made)

/* What cannot be simulated. */
#define REFUSED(name, parameters, ...)                                            \
    int MPI_##name parameters                                                     \
    {                                                                             \
        record("MPI_" #name, now(), "0");                                         \
        return PMPI_##name(__VA_ARGS__);                                          \
    }
REFUSED(Start, (MPI_Request *request), request)
REFUSED(Startall, (int count, MPI_Request *requests), count, requests)
REFUSED(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), comm, group, tag, made)
REFUSED(Intercomm_create, (MPI_Comm comm, int leader, MPI_Comm peer_comm, int remote, int tag, MPI_Comm *made), comm, leader, peer_comm, remote, tag, made)
REFUSED(Ibarrier, (MPI_Comm comm, MPI_Request *request), comm, request)
REFUSED(Ibcast, (void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request), buf, count, type, root, comm, request)
REFUSED(Iallreduce, (const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request *request), sbuf, rbuf, count, type, op, comm, request)
REFUSED(Ialltoall, (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request), sbuf, scount, stype, rbuf, rcount, rtype, comm, request)
REFUSED(Iallgather, (const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype, MPI_Comm comm, MPI_Request *request), sbuf, scount, stype, rbuf, rcount, rtype, comm, request)
REFUSED(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), base, size, unit, info, comm, win)
REFUSED(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), size, unit, info, comm, base, win)
REFUSED(Comm_spawn, (const char *command, char **argv, int n, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int *errors), command, argv, n, info, root, comm, made, errors)
