! Small programs that any MPI runs with the same output. Each is a procedure: all ranks call it, say what they see, and
! rank 0 prints that in the order of ranks. old.f has those that include mpif.h.
module suite
  use mpi
  implicit none
  integer, parameter :: w = MPI_COMM_WORLD
  integer :: rank, size, apart, e, next, before
  character(len=4000) :: said
  integer :: length
  integer :: common_value
  common /in_common/ common_value
contains
  subroutine word(text)
    character(len=*), intent(in) :: text
    said(length+1:length+1+len(text)) = ' ' // text
    length = length + 1 + len(text)
  end subroutine
  subroutine i(n)
    integer, intent(in) :: n
    character(len=12) :: b
    write(b, '(i0)') n
    call word(trim(b))
  end subroutine
  subroutine l(v)
    logical, intent(in) :: v
    call i(merge(1, 0, v))
  end subroutine
  subroutine r(x)
    double precision, intent(in) :: x
    character(len=24) :: b
    write(b, '(f20.4)') x
    call word(trim(adjustl(b)))
  end subroutine
  subroutine class(code)
    integer, intent(in) :: code
    integer :: c
    call MPI_Error_class(code, c, e)
    if (c == MPI_SUCCESS) then
      call word('success')
    else if (c == MPI_ERR_RANK) then
      call word('rank')
    else if (c == MPI_ERR_COUNT) then
      call word('count')
    else if (c == MPI_ERR_TAG) then
      call word('tag')
    else if (c == MPI_ERR_TRUNCATE) then
      call word('truncate')
    else if (c == MPI_ERR_ROOT) then
      call word('root')
    else
      call word('another')
    end if
  end subroutine
  subroutine show(name)
    character(len=*), intent(in) :: name
    integer :: k, status(MPI_STATUS_SIZE)
    if (rank > 0) then
      call MPI_Send(said, length, MPI_CHARACTER, 0, 0, apart, e)
    else
      do k = 0, size - 1
        if (k > 0) then
          call MPI_Recv(said, len(said), MPI_CHARACTER, k, 0, apart, status, e)
          call MPI_Get_count(status, MPI_CHARACTER, length, e)
        end if
        if (length > 0) write(*, '(a,1x,i0,a,a)') name, k, ':', said(1:length)
      end do
    end if
    length = 0
    call MPI_Barrier(apart, e)
  end subroutine

  subroutine ring
    integer :: x, y, status(MPI_STATUS_SIZE)
    x = rank * 10
    call MPI_Sendrecv(x, 1, MPI_INTEGER, next, 7, y, 1, MPI_INTEGER, before, 7, w, status, e)
    call i(y); call i(status(MPI_SOURCE)); call i(status(MPI_TAG))
  end subroutine
  subroutine arrays
    double precision :: a(3,4), b(3,4)
    integer :: q(2), st(MPI_STATUS_SIZE,2), n
    a = rank
    call MPI_Irecv(b, 12, MPI_DOUBLE_PRECISION, before, 1, w, q(1), e)
    call MPI_Isend(a, 12, MPI_DOUBLE_PRECISION, next, 1, w, q(2), e)
    call MPI_Waitall(2, q, st, e)
    call MPI_Get_count(st(:,1), MPI_DOUBLE_PRECISION, n, e)
    call r(b(3,4)); call i(n); call i(st(MPI_SOURCE,1)); call l(all(q == MPI_REQUEST_NULL))
  end subroutine
  subroutine ignored
    integer :: x(2), q(2)
    call MPI_Irecv(x(1), 1, MPI_INTEGER, before, 2, w, q(1), e)
    call MPI_Isend(rank, 1, MPI_INTEGER, next, 2, w, q(2), e)
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
    call i(x(1))
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 3, x(2), 1, MPI_INTEGER, before, 3, w, MPI_STATUS_IGNORE, e)
    call i(x(2))
  end subroutine
  subroutine sections
    integer :: a(6), b(6), t
    a = [1, 2, 3, 4, 5, 6]
    b = 0
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, t, e)
    call MPI_Type_commit(t, e)
    call MPI_Sendrecv(a, 1, t, rank, 0, b(2), 1, t, rank, 0, w, MPI_STATUS_IGNORE, e)
    call i(b(1)); call i(b(2)); call i(b(4)); call i(b(6))
    call MPI_Type_free(t, e)
    call l(t == MPI_DATATYPE_NULL)
  end subroutine
  subroutine modes
    integer :: x, k, q, buffer(1000), n
    call MPI_Buffer_attach(buffer, 4000, e)
    do k = 1, 3
      call MPI_Irecv(x, 1, MPI_INTEGER, before, k, w, q, e)
      select case (k)
      case (1)
        call MPI_Bsend(k * 10, 1, MPI_INTEGER, next, k, w, e)
      case (2)
        if (size > 1) call MPI_Ssend(k * 10, 1, MPI_INTEGER, next, k, w, e)
        if (size == 1) call MPI_Send(k * 10, 1, MPI_INTEGER, next, k, w, e)
      case (3)
        call MPI_Send(k * 10, 1, MPI_INTEGER, next, k, w, e)
      end select
      call MPI_Wait(q, MPI_STATUS_IGNORE, e)
      call i(x)
    end do
    call MPI_Buffer_detach(buffer, n, e)
    call i(n)
  end subroutine
  subroutine any_of
    integer :: x(3), q(3), k, which, y, st(MPI_STATUS_SIZE), total
    do k = 1, 3
      call MPI_Irecv(x(k), 1, MPI_INTEGER, before, k, w, q(k), e)
    end do
    do k = 1, 3
      y = 100 * k + rank
      call MPI_Send(y, 1, MPI_INTEGER, next, k, w, e)
    end do
    total = 0
    do k = 1, 3
      call MPI_Waitany(3, q, which, st, e)
      total = total + which * which
      call l(which == st(MPI_TAG) .and. x(which) == 100 * which + before)
    end do
    call i(total)
    call MPI_Waitany(3, q, which, st, e)
    call l(which < 1) ! MPICH adds 1 to MPI_UNDEFINED
  end subroutine
  subroutine some_of
    integer :: x(4), q(4), k, n, found, indices(4), st(MPI_STATUS_SIZE,4), seen
    logical :: ok
    do k = 1, 4
      call MPI_Irecv(x(k), 1, MPI_INTEGER, before, k, w, q(k), e)
    end do
    do k = 4, 1, -1
      call MPI_Send(k, 1, MPI_INTEGER, next, k, w, e)
    end do
    found = 0; seen = 0; ok = .true.
    do while (found < 4)
      call MPI_Waitsome(4, q, n, indices, st, e)
      do k = 1, n
        ok = ok .and. x(indices(k)) == indices(k) .and. st(MPI_TAG, k) == indices(k)
        seen = seen + indices(k)
      end do
      found = found + n
    end do
    call l(ok); call i(seen)
    call MPI_Waitsome(4, q, n, indices, st, e)
    call l(n == MPI_UNDEFINED)
    call MPI_Testsome(4, q, n, indices, st, e)
    call l(n == MPI_UNDEFINED)
  end subroutine
  subroutine tests
    integer :: x, q, qs(2), which
    logical :: done
    call MPI_Irecv(x, 1, MPI_INTEGER, before, 1, w, q, e)
    call MPI_Test(q, done, MPI_STATUS_IGNORE, e)
    call MPI_Barrier(w, e)
    call MPI_Send(rank + 5, 1, MPI_INTEGER, next, 1, w, e)
    done = .false.
    do while (.not. done)
      call MPI_Test(q, done, MPI_STATUS_IGNORE, e)
    end do
    call i(x); call l(q == MPI_REQUEST_NULL)
    qs = MPI_REQUEST_NULL
    call MPI_Testall(2, qs, done, MPI_STATUSES_IGNORE, e)
    call l(done)
    call MPI_Testany(2, qs, which, done, MPI_STATUS_IGNORE, e)
    call l(done); call l(which < 1) ! MPICH adds 1 to MPI_UNDEFINED
  end subroutine
  subroutine probing
    integer :: st(MPI_STATUS_SIZE), n, x(5)
    logical :: there
    x = rank
    call MPI_Bsend_wait(x)
    call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, w, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    call i(n); call i(st(MPI_SOURCE)); call i(st(MPI_TAG))
    call MPI_Recv(x, n, MPI_INTEGER, st(MPI_SOURCE), st(MPI_TAG), w, MPI_STATUS_IGNORE, e)
    call i(x(1))
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, w, there, st, e)
    call l(there)
  end subroutine
  subroutine MPI_Bsend_wait(x)
    integer, intent(in) :: x(5)
    integer, save :: q, copy(5)
    copy = x
    call MPI_Isend(copy, 3, MPI_INTEGER, next, 44, w, q, e)
    call MPI_Request_free(q, e)
  end subroutine
  subroutine persistent
    integer, save :: x, y
    integer :: q(2), k, total
    total = 0
    call MPI_Recv_init(x, 1, MPI_INTEGER, before, 9, w, q(1), e)
    call MPI_Send_init(y, 1, MPI_INTEGER, next, 9, w, q(2), e)
    do k = 1, 4
      y = rank + k
      call MPI_Startall(2, q, e)
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE, e)
      total = total + x
    end do
    call i(total)
    call MPI_Request_free(q(1), e)
    call MPI_Request_free(q(2), e)
    call l(all(q == MPI_REQUEST_NULL))
  end subroutine
  subroutine nobody
    integer :: x, st(MPI_STATUS_SIZE), n
    x = 42
    call MPI_Send(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, w, e)
    call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 0, w, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    call i(x); call i(n); call l(st(MPI_SOURCE) == MPI_PROC_NULL); call l(st(MPI_TAG) == MPI_ANY_TAG)
  end subroutine

  subroutine sizes
    integer, parameter :: t(18) = [MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL, MPI_CHARACTER, MPI_2INTEGER, &
      MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_COMPLEX16, MPI_BYTE]
    integer :: k, n
    do k = 1, 18
      call MPI_Type_size(t(k), n, e)
      call i(n)
    end do
    call MPI_Type_size(MPI_COMPLEX8, n, e)
    call i(n)
  end subroutine
  subroutine elements
    integer(1) :: a1(2), b1(2)
    integer(2) :: a2(2), b2(2)
    integer(8) :: a8(2), b8(2)
    real :: a4(2), b4(2)
    logical :: al(2), bl(2)
    double complex :: az(2), bz(2)
    character(len=5) :: ac, bc
    a1 = [1_1, -2_1]; a2 = [300_2, -3_2]; a8 = [5000000000_8, -7_8]; a4 = [1.5, -2.5]; al = [.true., .false.]; az = [(1d0, 2d0), (3d0, -4d0)]; ac = 'hello'
    call MPI_Sendrecv(a1, 2, MPI_INTEGER1, next, 0, b1, 2, MPI_INTEGER1, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(a2, 2, MPI_INTEGER2, next, 0, b2, 2, MPI_INTEGER2, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(a8, 2, MPI_INTEGER8, next, 0, b8, 2, MPI_INTEGER8, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(a4, 2, MPI_REAL, next, 0, b4, 2, MPI_REAL, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(al, 2, MPI_LOGICAL, next, 0, bl, 2, MPI_LOGICAL, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(az, 2, MPI_DOUBLE_COMPLEX, next, 0, bz, 2, MPI_DOUBLE_COMPLEX, before, 0, w, MPI_STATUS_IGNORE, e)
    call MPI_Sendrecv(ac, 5, MPI_CHARACTER, next, 0, bc, 5, MPI_CHARACTER, before, 0, w, MPI_STATUS_IGNORE, e)
    call l(all(a1 == b1)); call l(all(a2 == b2)); call l(all(a8 == b8)); call l(all(a4 == b4)); call l(all(al .eqv. bl)); call l(all(az == bz)); call word(bc)
  end subroutine
  subroutine bounds
    integer :: t, u, n
    integer(MPI_ADDRESS_KIND) :: lb, extent
    call MPI_Type_create_hvector(3, 2, 20_MPI_ADDRESS_KIND, MPI_INTEGER, t, e)
    call MPI_Type_create_resized(t, -4_MPI_ADDRESS_KIND, 80_MPI_ADDRESS_KIND, u, e)
    call MPI_Type_size(u, n, e)
    call MPI_Type_get_extent(u, lb, extent, e)
    call i(n); call i(int(lb)); call i(int(extent))
    call MPI_Type_get_true_extent(u, lb, extent, e)
    call i(int(lb)); call i(int(extent))
    call MPI_Type_free(t, e)
    call MPI_Type_free(u, e)
  end subroutine
  subroutine derived
    type particle
      sequence
      integer :: id
      double precision :: x(3)
      character(len=4) :: tag
    end type
    type(particle) :: p, q
    integer(MPI_ADDRESS_KIND) :: at(3), base
    integer :: t
    call MPI_Get_address(p, base, e)
    call MPI_Get_address(p%id, at(1), e)
    call MPI_Get_address(p%x, at(2), e)
    call MPI_Get_address(p%tag, at(3), e)
    at = at - base
    call MPI_Type_create_struct(3, [1, 3, 4], at, [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_CHARACTER], t, e)
    call MPI_Type_commit(t, e)
    p%id = rank; p%x = [1d0, 2d0, 3d0] * rank; p%tag = 'part'
    call MPI_Sendrecv(p, 1, t, next, 0, q, 1, t, before, 0, w, MPI_STATUS_IGNORE, e)
    call i(q%id); call r(q%x(3)); call word(q%tag)
    call MPI_Type_free(t, e)
  end subroutine
  subroutine bottom
    integer, save :: x, y
    integer :: t, u, z
    integer(MPI_ADDRESS_KIND) :: a(1)
    x = 1000 + rank; y = 0
    call MPI_Get_address(x, a(1), e)
    call MPI_Type_create_hindexed(1, [1], a, MPI_INTEGER, t, e)
    call MPI_Get_address(y, a(1), e)
    call MPI_Type_create_hindexed(1, [1], a, MPI_INTEGER, u, e)
    call MPI_Type_commit(t, e)
    call MPI_Type_commit(u, e)
    call MPI_Sendrecv(MPI_BOTTOM, 1, t, next, 0, MPI_BOTTOM, 1, u, before, 0, w, MPI_STATUS_IGNORE, e)
    z = y
    call i(z)
    call MPI_Type_free(t, e)
    call MPI_Type_free(u, e)
  end subroutine
  subroutine subarrays
    integer :: a(4,5), b(2,3), t, j, k
    do j = 1, 5
      do k = 1, 4
        a(k,j) = 10 * k + j
      end do
    end do
    call MPI_Type_create_subarray(2, [4, 5], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, t, e)
    call MPI_Type_commit(t, e)
    call MPI_Sendrecv(a, 1, t, rank, 0, b, 6, MPI_INTEGER, rank, 0, w, MPI_STATUS_IGNORE, e)
    call i(b(1,1)); call i(b(2,1)); call i(b(1,3)); call i(b(2,3))
    call MPI_Type_free(t, e)
  end subroutine
  subroutine packing
    character :: buffer(100)
    integer :: at, n, k
    double precision :: x
    at = 0
    call MPI_Pack([1, 2, 3], 3, MPI_INTEGER, buffer, 100, at, w, e)
    call MPI_Pack(2.5d0, 1, MPI_DOUBLE_PRECISION, buffer, 100, at, w, e)
    n = at
    call i(n)
    at = 4
    call MPI_Unpack(buffer, n, at, k, 1, MPI_INTEGER, w, e)
    at = 12
    call MPI_Unpack(buffer, n, at, x, 1, MPI_DOUBLE_PRECISION, w, e)
    call i(k); call r(x); call i(at)
  end subroutine

  subroutine collectives
    integer :: x, all(0:63), k
    double precision :: s
    x = 17
    if (rank == 0) x = 18
    call MPI_Bcast(x, 1, MPI_INTEGER, 0, w, e)
    call i(x)
    call MPI_Allgather(rank * rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, w, e)
    call i(sum(all(0:size-1)))
    call MPI_Gather(rank + 1, 1, MPI_INTEGER, all, 1, MPI_INTEGER, size - 1, w, e)
    if (rank == size - 1) call i(sum(all(0:size-1)))
    all = [(k * 3, k = 0, 63)]
    call MPI_Scatter(all, 2, MPI_INTEGER, all(40), 2, MPI_INTEGER, 0, w, e)
    call i(all(40)); call i(all(41))
    call MPI_Allreduce(0.5d0 * rank, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, w, e)
    call r(s)
    call MPI_Alltoall([(rank * 100 + k, k = 0, size - 1)], 1, MPI_INTEGER, all, 1, MPI_INTEGER, w, e)
    call i(sum(all(0:size-1)))
  end subroutine
  subroutine in_place
    integer :: all(0:63), x(2)
    all = -1
    all(rank) = rank + 7
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, w, e)
    call i(sum(all(0:size-1)))
    x = [rank, 2]
    call MPI_Allreduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, MPI_SUM, w, e)
    call i(x(1)); call i(x(2))
    x = [rank, 2]
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, x, 2, MPI_INTEGER, MPI_MAX, 0, w, e)
    else
      call MPI_Reduce(x, x, 2, MPI_INTEGER, MPI_MAX, 0, w, e)
    end if
    if (rank == 0) call i(x(1))
  end subroutine
  subroutine varying
    integer :: counts(0:63), at(0:63), a(200), b(200), k, back(64)
    do k = 0, size - 1
      counts(k) = k + 1
      at(k) = k * (k + 1) / 2 + k
    end do
    a = rank; b = -1
    call MPI_Allgatherv(a, rank + 1, MPI_INTEGER, b, counts, at, MPI_INTEGER, w, e)
    call i(sum(b(1:at(size-1)+size)))
    back = -5
    call MPI_Scatterv(b, counts, at, MPI_INTEGER, back, rank + 1, MPI_INTEGER, 0, w, e)
    call i(back(rank + 1))
    call MPI_Gatherv(back, rank + 1, MPI_INTEGER, a, counts, at, MPI_INTEGER, 0, w, e)
    if (rank == 0) call i(a(1))
    do k = 0, size - 1
      counts(k) = 1
      at(k) = k
    end do
    call MPI_Alltoallv([(rank + k, k = 0, 63)], counts, at, MPI_INTEGER, b, counts, at, MPI_INTEGER, w, e)
    call i(sum(b(1:size)))
  end subroutine
  subroutine places
    double precision :: a(2,2), b(2,2)
    real :: x(2), y(2)
    integer :: m(2), n(2)
    a(:,1) = [dble(mod(rank * 3, 5)), dble(rank)]
    a(:,2) = [-1d0 * rank, dble(rank)]
    call MPI_Allreduce(a, b, 2, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, w, e)
    call r(b(1,1)); call r(b(2,1)); call r(b(1,2)); call r(b(2,2))
    x = [real(rank - 2)**2, real(rank)]
    call MPI_Allreduce(x, y, 1, MPI_2REAL, MPI_MINLOC, w, e)
    call r(dble(y(1))); call r(dble(y(2)))
    m = [7, rank]
    call MPI_Allreduce(m, n, 1, MPI_2INTEGER, MPI_MINLOC, w, e)
    call i(n(1)); call i(n(2))
  end subroutine
  subroutine reductions
    logical :: x(2), y(2)
    complex :: c, d
    integer :: k, n
    x = [rank == 0, .true.]
    call MPI_Allreduce(x, y, 2, MPI_LOGICAL, MPI_LAND, w, e)
    call l(y(1)); call l(y(2))
    call MPI_Allreduce(x, y, 2, MPI_LOGICAL, MPI_LOR, w, e)
    call l(y(1))
    c = cmplx(1, rank)
    call MPI_Allreduce(c, d, 1, MPI_COMPLEX, MPI_SUM, w, e)
    call r(dble(real(d))); call r(dble(aimag(d)))
    call MPI_Scan(rank + 1, k, 1, MPI_INTEGER, MPI_SUM, w, e)
    call i(k)
    call MPI_Reduce_scatter([(k, k = 1, size)], n, [(1, k = 1, size)], MPI_INTEGER, MPI_SUM, w, e)
    call i(n)
    n = 0
    call MPI_Exscan(rank + 1, n, 1, MPI_INTEGER, MPI_SUM, w, e)
    if (rank > 0) call i(n)
  end subroutine
  subroutine minus(a, b, n, t)
    integer, intent(in) :: n, t
    integer, intent(in) :: a(n)
    integer, intent(inout) :: b(n)
    b = a ! the operation is not commutative: that of the first rank
    if (t /= MPI_INTEGER) b = -999
  end subroutine
  subroutine own_operation
    integer :: o, x(2), y(2)
    logical :: commutes
    call MPI_Op_create(minus, .false., o, e)
    x = [rank, 100 * rank + 1]
    y = 0
    call MPI_Reduce(x, y, 2, MPI_INTEGER, o, 0, w, e)
    call i(y(1)); call i(y(2))
    call MPI_Op_commutative(o, commutes, e)
    call l(commutes)
    call MPI_Op_free(o, e)
    call l(o == MPI_OP_NULL)
  end subroutine
  subroutine later
    integer :: q(3), x, y, all(0:63)
    x = 0
    if (rank == 0) x = 77
    call MPI_Ibarrier(w, q(1), e)
    call MPI_Ibcast(x, 1, MPI_INTEGER, 0, w, q(2), e)
    call MPI_Iallreduce(rank + 0, y, 1, MPI_INTEGER, MPI_SUM, w, q(3), e)
    call MPI_Waitall(3, q, MPI_STATUSES_IGNORE, e)
    call i(x)
    call MPI_Iallgather(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, w, q(1), e)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE, e)
    call i(sum(all(0:size-1)))
  end subroutine
  subroutine each_type
    integer :: types(64), counts(64), at(64), a(64), b(64), k
    types = MPI_INTEGER; counts = 1
    at = [(4 * k, k = 0, 63)]
    a = [(rank * 64 + k, k = 0, 63)]
    call MPI_Alltoallw(a, counts, at, types, b, counts, at, types, w, e)
    call i(sum(b(1:size)))
  end subroutine

  subroutine communicators
    integer :: half, d, n, k, g, h, members(3), there(3)
    call MPI_Comm_split(w, mod(rank, 2), -rank, half, e)
    call MPI_Comm_size(half, n, e)
    call MPI_Comm_rank(half, k, e)
    call i(n); call i(k)
    call MPI_Comm_dup(half, d, e)
    call MPI_Comm_compare(half, d, n, e)
    call l(n == MPI_CONGRUENT)
    call MPI_Comm_free(d, e)
    call l(d == MPI_COMM_NULL)
    call MPI_Comm_free(half, e)
    call MPI_Comm_split(w, merge(1, MPI_UNDEFINED, rank == 0), 0, d, e)
    call l(d == MPI_COMM_NULL)
    if (d /= MPI_COMM_NULL) call MPI_Comm_free(d, e)
    call MPI_Comm_group(w, g, e)
    call MPI_Group_range_incl(g, 1, reshape([size - 1, 0, -1], [3, 1]), h, e)
    call MPI_Group_rank(h, k, e)
    call i(k)
    members = [0, 0, size - 1]
    call MPI_Group_translate_ranks(g, 3, members, h, there, e)
    call i(there(1)); call i(there(3))
    call MPI_Comm_create(w, h, d, e)
    call MPI_Comm_rank(d, k, e)
    call i(k)
    call MPI_Comm_free(d, e)
    call MPI_Group_free(g, e)
    call MPI_Group_free(h, e)
    call l(h == MPI_GROUP_NULL)
  end subroutine
  subroutine grids
    integer :: g, dims(2), at(2), from, to, k, row
    logical :: periods(2), p(2)
    dims = 0
    call MPI_Dims_create(size, 2, dims, e)
    periods = [.true., .false.]
    call MPI_Cart_create(w, 2, dims, periods, .false., g, e)
    call MPI_Cart_coords(g, rank, 2, at, e)
    call i(dims(1)); call i(at(1)); call i(at(2))
    call MPI_Cart_shift(g, 0, 1, from, to, e)
    call i(from); call i(to)
    call MPI_Cart_shift(g, 1, 1, from, to, e)
    call l(to == MPI_PROC_NULL)
    call MPI_Cart_get(g, 2, dims, p, at, e)
    call l(p(1)); call l(p(2))
    call MPI_Cart_rank(g, at, k, e)
    call i(k)
    call MPI_Cart_sub(g, [.true., .false.], row, e)
    call MPI_Comm_size(row, k, e)
    call i(k)
    call MPI_Topo_test(row, k, e)
    call l(k == MPI_CART)
    call MPI_Comm_free(row, e)
    call MPI_Comm_free(g, e)
  end subroutine
  subroutine graphs
    integer :: g, k, n, near(2), ends(64), edges(128)
    do k = 0, size - 1
      ends(k + 1) = 2 * (k + 1)
      edges(2 * k + 1) = mod(k + 1, size)
      edges(2 * k + 2) = mod(k + size - 1, size)
    end do
    call MPI_Graph_create(w, size, ends, edges, .false., g, e)
    call MPI_Graph_neighbors_count(g, rank, n, e)
    call MPI_Graph_neighbors(g, rank, 2, near, e)
    call i(n); call i(near(1)); call i(near(2))
    call MPI_Comm_free(g, e)
  end subroutine
  subroutine between
    integer :: half, inter, all, n, k, colour
    if (size == 1) return
    colour = mod(rank, 2)
    call MPI_Comm_split(w, colour, rank, half, e)
    call MPI_Intercomm_create(half, 0, w, 1 - colour, 5, inter, e)
    call MPI_Comm_remote_size(inter, n, e)
    call i(n)
    call MPI_Intercomm_merge(inter, colour == 1, all, e)
    call MPI_Comm_rank(all, k, e)
    call i(k)
    call MPI_Comm_free(all, e)
    call MPI_Comm_free(inter, e)
    call MPI_Comm_free(half, e)
  end subroutine
  subroutine copy(comm, key, extra, in, out, flag, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    out = in + extra
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine forget(comm, key, value, extra, ierror)
    integer :: comm, key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call i(int(value))
    ierror = MPI_SUCCESS
  end subroutine
  subroutine attributes
    integer :: key, d, other
    integer(MPI_ADDRESS_KIND) :: v
    logical :: there
    call MPI_Comm_get_attr(w, MPI_TAG_UB, v, there, e)
    call l(there); call l(v >= 32767)
    call MPI_Comm_create_keyval(copy, forget, key, 5_MPI_ADDRESS_KIND, e)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, other, 0_MPI_ADDRESS_KIND, e)
    call MPI_Comm_dup(w, d, e)
    call MPI_Comm_set_attr(d, key, 30_MPI_ADDRESS_KIND, e)
    call MPI_Comm_get_attr(d, key, v, there, e)
    call l(there); call i(int(v))
    call MPI_Comm_get_attr(d, other, v, there, e)
    call l(there)
    block
      integer :: c
      call MPI_Comm_dup(d, c, e)
      call MPI_Comm_get_attr(c, key, v, there, e)
      call l(there); call i(int(v))
      call MPI_Comm_free(c, e)
    end block
    call MPI_Comm_delete_attr(d, key, e)
    call MPI_Comm_free(d, e)
    call MPI_Comm_free_keyval(key, e)
    call l(key == MPI_KEYVAL_INVALID)
    call MPI_Comm_free_keyval(other, e)
  end subroutine
  subroutine names
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_PROCESSOR_NAME) :: host
    character(len=10) :: short
    integer :: d, n, t
    call MPI_Comm_get_name(w, name, n, e)
    call word(trim(name)); call i(n)
    call MPI_Comm_dup(w, d, e)
    call MPI_Comm_set_name(d, 'a name   ', e)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(d, name, n, e)
    call word('"' // trim(name) // '"'); call i(n)
    call MPI_Comm_free(d, e)
    call MPI_Type_contiguous(2, MPI_REAL, t, e)
    call MPI_Type_set_name(t, 'pair', e)
    call MPI_Type_get_name(t, name, n, e)
    call word(trim(name)); call i(n)
    call MPI_Type_free(t, e)
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, n, e)
    call word(trim(name))
    call MPI_Get_processor_name(host, n, e)
    call l(n == len_trim(host))
  end subroutine
  subroutine infos
    integer :: info, n, other
    logical :: there
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=20) :: value
    call MPI_Info_create(info, e)
    call MPI_Info_set(info, 'colour ', ' blue ', e)
    call MPI_Info_set(info, 'size', '12', e)
    call MPI_Info_get(info, 'colour', 20, value, there, e)
    call l(there); call word('"' // trim(value) // '"')
    call MPI_Info_get(info, 'weight', 20, value, there, e)
    call l(there); call word(trim(value))
    call MPI_Info_get_nkeys(info, n, e)
    call i(n)
    call MPI_Info_dup(info, other, e)
    call MPI_Info_delete(info, 'colour', e)
    call MPI_Info_get_nthkey(info, 0, key, e)
    call word(trim(key))
    call MPI_Info_get_valuelen(other, 'colour', n, there, e)
    call i(n); call l(there)
    call MPI_Info_free(info, e)
    call MPI_Info_free(other, e)
    call l(info == MPI_INFO_NULL)
  end subroutine
  subroutine wrong
    integer :: x, code
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN, e)
    call MPI_Send(x, 1, MPI_INTEGER, size + 3, 0, w, code)
    call class(code)
    call MPI_Send(x, -1, MPI_INTEGER, 0, 0, w, code)
    call class(code)
    call MPI_Send(x, 1, MPI_INTEGER, 0, -7, w, code)
    call class(code)
    call MPI_Bcast(x, 1, MPI_INTEGER, size, w, code)
    call class(code)
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_ARE_FATAL, e)
  end subroutine
  subroutine noted(comm, code)
    integer :: comm, code
    call word('noted')
    call l(comm /= MPI_COMM_NULL)
    call class(code)
  end subroutine
  subroutine handled
    integer :: h, code, x, d
    call MPI_Comm_dup(w, d, e)
    call MPI_Comm_create_errhandler(noted, h, e)
    call MPI_Comm_set_errhandler(d, h, e)
    call MPI_Errhandler_free(h, e)
    call l(h == MPI_ERRHANDLER_NULL)
    call MPI_Send(x, 1, MPI_INTEGER, size, 0, d, code)
    call class(code)
    call MPI_Comm_free(d, e)
  end subroutine
  subroutine truncated
    integer :: x(2), q, code
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN, e)
    x = 1
    call MPI_Isend(x, 2, MPI_INTEGER, next, 0, w, q, e)
    block
      integer :: y
      call MPI_Recv(y, 1, MPI_INTEGER, before, 0, w, MPI_STATUS_IGNORE, code)
      call class(code)
    end block
    call MPI_Wait(q, MPI_STATUS_IGNORE, e)
    call MPI_Comm_set_errhandler(w, MPI_ERRORS_ARE_FATAL, e)
  end subroutine
  subroutine clocks
    double precision :: begin
    begin = MPI_Wtime()
    call MPI_Barrier(w, e)
    call l(MPI_Wtime() >= begin); call l(MPI_Wtick() > 0)
  end subroutine
  subroutine own_variables
    integer, save :: kept = 5
    kept = kept + rank
    common_value = 10 * rank
    call MPI_Barrier(w, e)
    call i(kept); call i(common_value)
  end subroutine
  subroutine units
    character(len=30) :: b
    integer :: u, x
    open(newunit=u, status='scratch')
    write(u, *) rank * 11
    call MPI_Barrier(w, e)
    rewind(u)
    read(u, *) x
    close(u)
    call i(x); call i(merge(1, 0, u < 0))
    write(b, '(es12.4)') 1d0 / (rank + 1)
    call word(trim(adjustl(b)))
  end subroutine
  subroutine allocated_here
    integer, allocatable :: a(:), b(:)
    integer :: k
    allocate(a(1000 * (rank + 1)), b(1000 * (before + 1)))
    a = [(k, k = 1, 1000 * (rank + 1))]
    call MPI_Sendrecv(a, 1000 * (rank + 1), MPI_INTEGER, next, 0, b, 1000 * (before + 1), MPI_INTEGER, before, 0, w, MPI_STATUS_IGNORE, e)
    call i(b(1000 * (before + 1)))
  end subroutine
end module

program all_of_it
  use suite
  implicit none
  logical :: f
  integer :: provided
  external :: old
  call MPI_Initialized(f, e)
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, e)
  call MPI_Comm_rank(w, rank, e)
  call MPI_Comm_size(w, size, e)
  call MPI_Comm_dup(w, apart, e)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  length = 0
  call l(f)
  call show('init')
  call ring; call show('ring')
  call arrays; call show('arrays')
  call ignored; call show('ignored')
  call sections; call show('sections')
  call modes; call show('modes')
  call any_of; call show('any_of')
  call some_of; call show('some_of')
  call tests; call show('tests')
  call probing; call show('probing')
  call persistent; call show('persistent')
  call nobody; call show('nobody')
  call sizes; call show('sizes')
  call elements; call show('elements')
  call bounds; call show('bounds')
  call derived; call show('derived')
  call bottom; call show('bottom')
  call subarrays; call show('subarrays')
  call packing; call show('packing')
  call collectives; call show('collectives')
  call in_place; call show('in_place')
  call varying; call show('varying')
  call places; call show('places')
  call reductions; call show('reductions')
  call own_operation; call show('own_operation')
  call later; call show('later')
  call each_type; call show('each_type')
  call communicators; call show('communicators')
  call grids; call show('grids')
  call graphs; call show('graphs')
  call between; call show('between')
  call attributes; call show('attributes')
  call names; call show('names')
  call infos; call show('infos')
  call wrong; call show('wrong')
  call handled; call show('handled')
  call truncated; call show('truncated')
  call clocks; call show('clocks')
  call own_variables; call show('own_variables')
  call units; call show('units')
  call allocated_here; call show('allocated_here')
  call old(rank, size)
  call MPI_Finalize(e)
end program
