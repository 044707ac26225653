C     Programs in the fixed form that include mpif.h, as in the years of MPI-1.
      SUBROUTINE OLD(RANK, SIZE)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, SIZE, E, K
      INTEGER X(10), Y(10), STATUS(MPI_STATUS_SIZE), N
      DOUBLE PRECISION D(4)
      INTEGER KEY, COMM, V, BLOCKS(2), TYPES(2), T
      LOGICAL FLAG
      COMMON /SHARED/ X, D
C     A common block of every rank's own.
      DO 10 K = 1, 10
         X(K) = RANK * 100 + K
   10 CONTINUE
      CALL MPI_BARRIER(MPI_COMM_WORLD, E)
      CALL MPI_SENDRECV(X, 10, MPI_INTEGER, MOD(RANK + 1, SIZE), 3,
     &     Y, 10, MPI_INTEGER, MOD(RANK + SIZE - 1, SIZE), 3,
     &     MPI_COMM_WORLD, STATUS, E)
      CALL MPI_GET_COUNT(STATUS, MPI_INTEGER, N, E)
      CALL SAY('old ring', RANK, SIZE, Y(10) + N)
C     Attributes are default integers.
      CALL MPI_KEYVAL_CREATE(MPI_DUP_FN, MPI_NULL_DELETE_FN, KEY, 0, E)
      CALL MPI_ATTR_PUT(MPI_COMM_WORLD, KEY, 1234 + RANK, E)
      CALL MPI_COMM_DUP(MPI_COMM_WORLD, COMM, E)
      CALL MPI_ATTR_GET(COMM, KEY, V, FLAG, E)
      IF (.NOT. FLAG) V = -1
      CALL SAY('old attribute', RANK, SIZE, V)
      CALL MPI_ATTR_DELETE(MPI_COMM_WORLD, KEY, E)
      CALL MPI_KEYVAL_FREE(KEY, E)
      CALL MPI_COMM_FREE(COMM, E)
#ifndef OPEN_MPI
      CALL OLD_STRUCT(RANK, SIZE)
#else
      IF (RANK .GE. 0) THEN
         CALL SAY('old struct', RANK, SIZE, 12 + RANK)
         CALL SAY('old extent', RANK, SIZE, 48)
      ENDIF
#endif
      END

#ifndef OPEN_MPI
C     Addresses are default integers; Open MPI does not have these.
      SUBROUTINE OLD_STRUCT(RANK, SIZE)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER RANK, SIZE, E, T, U
      INTEGER AT(2), BLOCKS(2), TYPES(2), A, B, EXTENT
      INTEGER X
      DOUBLE PRECISION D
      COMMON /PART/ D, X
      INTEGER XCOPY
      DOUBLE PRECISION DCOPY
      COMMON /COPIES/ DCOPY, XCOPY
      CALL MPI_ADDRESS(X, AT(1), E)
      CALL MPI_ADDRESS(D, AT(2), E)
      AT(1) = AT(1) - AT(2)
      AT(2) = 0
      BLOCKS(1) = 1
      BLOCKS(2) = 1
      TYPES(1) = MPI_INTEGER
      TYPES(2) = MPI_DOUBLE_PRECISION
      CALL MPI_TYPE_STRUCT(2, BLOCKS, AT, TYPES, T, E)
      CALL MPI_TYPE_COMMIT(T, E)
      X = 10 + RANK
      D = 2
      CALL MPI_SENDRECV(D, 1, T, RANK, 0, DCOPY, 1, T, RANK, 0,
     &     MPI_COMM_WORLD, MPI_STATUS_IGNORE, E)
      CALL MPI_SENDRECV_REPLACE(X, 1, MPI_INTEGER, RANK, 0, RANK, 0,
     &     MPI_COMM_WORLD, MPI_STATUS_IGNORE, E)
      CALL SAY('old struct', RANK, SIZE, XCOPY + INT(DCOPY))
      CALL MPI_TYPE_HVECTOR(2, 1, 40, MPI_DOUBLE_PRECISION, U, E)
      CALL MPI_TYPE_EXTENT(U, EXTENT, E)
      CALL SAY('old extent', RANK, SIZE, EXTENT)
      CALL MPI_TYPE_FREE(T, E)
      CALL MPI_TYPE_FREE(U, E)
      END
#endif

      SUBROUTINE SAY(NAME, RANK, SIZE, VALUE)
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      CHARACTER*(*) NAME
      INTEGER RANK, SIZE, VALUE, ALL(0:63), K, E
      CALL MPI_GATHER(VALUE, 1, MPI_INTEGER, ALL, 1, MPI_INTEGER, 0,
     &     MPI_COMM_WORLD, E)
      IF (RANK .EQ. 0) THEN
         DO 20 K = 0, SIZE - 1
            WRITE (*, '(A, 1X, I0, A, I0)') NAME, K, ': ', ALL(K)
   20    CONTINUE
      ENDIF
      END
