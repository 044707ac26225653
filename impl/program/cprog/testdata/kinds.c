/* Numbers that C or Fortran has and most languages have not: reductions, scans, accumulates and packing give what the
 * compiler computes. */
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define W MPI_COMM_WORLD
static int rank, size, wrong;

#define CHECK(ok) \
	if (!(ok)) wrong++, printf("line %d of rank %d\n", __LINE__, rank)

typedef _Complex float quad_complex __attribute__((mode(TC)));

/* VALUE(r) is the value of rank r. */
#define SUM_AND_PRODUCT(type, handle, VALUE)                                                       \
	{                                                                                          \
		type x[2] = {VALUE(rank), VALUE(rank + 3)}, y[2], sum[2] = {0, 0}, product[2] = {1, 1}; \
		for (int r = 0; r < size; r++)                                                     \
			for (int k = 0; k < 2; k++) sum[k] += VALUE(r + 3 * k), product[k] *= VALUE(r + 3 * k); \
		MPI_Allreduce(x, y, 2, handle, MPI_SUM, W);                                        \
		CHECK(y[0] == sum[0] && y[1] == sum[1]);                                           \
		MPI_Allreduce(x, y, 2, handle, MPI_PROD, W);                                       \
		CHECK(y[0] == product[0] && y[1] == product[1]);                                   \
		MPI_Win w;                                                                         \
		type *at;                                                                          \
		MPI_Win_allocate(2 * sizeof *at, sizeof *at, MPI_INFO_NULL, W, &at, &w);           \
		at[0] = at[1] = 0;                                                                 \
		MPI_Win_fence(0, w);                                                               \
		MPI_Accumulate(x, 2, handle, 0, 0, 2, handle, MPI_SUM, w);                         \
		MPI_Win_fence(0, w);                                                               \
		if (rank == 0) CHECK(at[0] == sum[0] && at[1] == sum[1]);                          \
		MPI_Win_free(&w);                                                                  \
		char packed[200];                                                                  \
		MPI_Aint position = 0;                                                             \
		y[0] = y[1] = 0;                                                                   \
		MPI_Pack_external("external32", x, 2, handle, packed, sizeof packed, &position);   \
		position = 0;                                                                      \
		MPI_Unpack_external("external32", packed, sizeof packed, &position, y, 2, handle); \
		CHECK(y[0] == x[0] && y[1] == x[1]);                                               \
		int n, bytes;                                                                      \
		MPI_Status s;                                                                      \
		MPI_Sendrecv(x, 2, handle, rank, 0, y, 2, handle, rank, 0, W, &s);                 \
		MPI_Get_elements(&s, handle, &n);                                                  \
		MPI_Type_size(handle, &bytes);                                                     \
		CHECK(n == 2 && bytes == sizeof(type));                                            \
	}

#define LEAST_AND_MOST(type, handle, VALUE)                              \
	{                                                                \
		type x = VALUE(rank), least, most;                       \
		MPI_Allreduce(&x, &least, 1, handle, MPI_MIN, W);        \
		MPI_Allreduce(&x, &most, 1, handle, MPI_MAX, W);         \
		CHECK(least == VALUE(0) && most == VALUE((size - 1)));   \
	}

#define WHOLE(r) ((r) + 1)
#define QUARTERS(r) ((r) + 1 + 0.25)
#define PLANE(r) ((r) + 1 + 0.5 * I)
#define WIDE(r) (((__int128)1 << 70) + (r))

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(W, &rank);
	MPI_Comm_size(W, &size);
#ifdef __FLT16_MAX__
	SUM_AND_PRODUCT(_Float16, MPI_REAL2, WHOLE)
	LEAST_AND_MOST(_Float16, MPI_REAL2, QUARTERS)
	SUM_AND_PRODUCT(_Float16 _Complex, MPI_COMPLEX4, WHOLE)
#endif
	SUM_AND_PRODUCT(__float128, MPI_REAL16, QUARTERS)
	LEAST_AND_MOST(__float128, MPI_REAL16, QUARTERS)
	SUM_AND_PRODUCT(quad_complex, MPI_COMPLEX32, PLANE)
	SUM_AND_PRODUCT(long double, MPI_LONG_DOUBLE, QUARTERS)
	SUM_AND_PRODUCT(long double _Complex, MPI_C_LONG_DOUBLE_COMPLEX, PLANE)
	SUM_AND_PRODUCT(__int128, MPI_INTEGER16, WIDE)
	LEAST_AND_MOST(__int128, MPI_INTEGER16, WIDE)

	/* Bits and truth values above the 64th. */
	__int128 x = WIDE(rank), y, all = x, any = 0, odd = 0;
	for (int r = 0; r < size; r++) all &= WIDE(r), any |= WIDE(r), odd ^= WIDE(r);
	MPI_Allreduce(&x, &y, 1, MPI_INTEGER16, MPI_BAND, W);
	CHECK(y == all);
	MPI_Allreduce(&x, &y, 1, MPI_INTEGER16, MPI_BOR, W);
	CHECK(y == any);
	MPI_Allreduce(&x, &y, 1, MPI_INTEGER16, MPI_BXOR, W);
	CHECK(y == odd);
	x = rank == 0 ? (__int128)1 << 100 : 0;
	MPI_Allreduce(&x, &y, 1, MPI_LOGICAL16, MPI_LOR, W);
	CHECK(y == 1);
	MPI_Allreduce(&x, &y, 1, MPI_LOGICAL16, MPI_LXOR, W);
	CHECK(y == 1);
	MPI_Allreduce(&x, &y, 1, MPI_LOGICAL16, MPI_LAND, W);
	CHECK(y == (size == 1));

	/* One rank after the other finds what the one before it left. */
	MPI_Win w;
	__int128 *at, next = WIDE(rank + 1), expected = WIDE(rank), found;
	MPI_Win_allocate(sizeof *at, 1, MPI_INFO_NULL, W, &at, &w);
	*at = WIDE(0);
	for (int r = 0; r < size; r++) {
		MPI_Win_fence(0, w);
		if (r == rank) MPI_Compare_and_swap(&next, &expected, &found, MPI_INTEGER16, 0, 0, w);
	}
	MPI_Win_fence(0, w);
	CHECK(found == expected);
	if (rank == 0) CHECK(*at == WIDE(size));
	MPI_Win_free(&w);

	/* A derived type of these, and the types of Fortran's kinds with them. */
	MPI_Datatype pairs, selected;
	quad_complex z[4] = {1, 2, 3, 4}, to[4] = {0};
	MPI_Type_vector(2, 1, 2, MPI_COMPLEX32, &pairs);
	MPI_Type_commit(&pairs);
	MPI_Sendrecv(z, 1, pairs, rank, 0, to, 2, MPI_COMPLEX32, rank, 0, W, MPI_STATUS_IGNORE);
	CHECK(to[0] == 1 && to[1] == 3);
	MPI_Type_free(&pairs);
	int bytes;
	MPI_Type_create_f90_complex(33, MPI_UNDEFINED, &selected);
	MPI_Type_size(selected, &bytes);
	MPI_Allreduce(z, to, 1, selected, MPI_SUM, W);
	CHECK(bytes == 32 && to[0] == size);
	MPI_Type_create_f90_integer(38, &selected);
	MPI_Type_size(selected, &bytes);
	CHECK(bytes == 16);
	MPI_Type_match_size(MPI_TYPECLASS_REAL, 2, &selected);
	CHECK(selected == MPI_REAL2);
	MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 4, &selected);
	CHECK(selected == MPI_COMPLEX4);
	MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 16, &selected);
	CHECK(selected == MPI_INTEGER16);

	MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN);
	MPI_Type_create_f90_real(3, 3, &selected);
	CHECK(MPI_Type_free(&selected) != MPI_SUCCESS);
	CHECK(MPI_Allreduce(z, to, 1, MPI_COMPLEX32, MPI_MAX, W) != MPI_SUCCESS);
	CHECK(MPI_Type_create_f90_real(34, 3, &selected) == MPI_ERR_ARG);
	CHECK(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &selected) == MPI_ERR_ARG);
	CHECK(MPI_Type_create_f90_integer(-1, &selected) == MPI_ERR_ARG);
	int none;
	MPI_Allreduce(&wrong, &none, 1, MPI_INT, MPI_SUM, W);
	if (rank == 0 && none == 0) printf("ok\n");
	MPI_Finalize();
	return 0;
}
