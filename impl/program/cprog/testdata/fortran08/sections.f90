! Array sections as buffers: what arrives is the same as with contiguous copies of the sections.
! Elements outside of a section, and behind the data in it, keep their values. It prints ok.
module checks
  use mpi_f08
  implicit none
  integer :: rank, size, wrong = 0
  type cell
    integer :: i
    real(8) :: x
    character(3) :: name
  end type
contains
  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    print '(a,i0,2a)', 'rank ', rank, ': wrong: ', what
    wrong = wrong + 1
  end subroutine

  ! own returns n numbers of a rank.
  function own(of, n) result(a)
    integer, intent(in) :: of, n
    integer :: a(n), i
    a = [(1000 * of + i, i = 1, n)]
  end function

  ! grid is a matrix of 8 by 9, of which part is a section with 12 elements.
  function grid(of) result(a)
    integer, intent(in) :: of
    integer :: a(8, 9)
    a = reshape(own(of, 72), [8, 9])
  end function
  function part(a) result(b)
    integer, intent(in) :: a(8, 9)
    integer :: b(12)
    b = reshape(a(2:8:2, 9:3:-3), [12])
  end function

  subroutine add(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call check(datatype == MPI_INTEGER, 'datatype of an operation')
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b
  end subroutine
end module

program sections
  use checks
  implicit none
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call check(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING, 'constants')
  call blocking
  call nonblocking
  call persistent
  call partitioned
  call other_elements
  call dummies(grid(rank), 72)
  call derived_types
  call packing
  call collectives
  call vectors
  call reductions
  call nonblocking_collectives
  call persistent_collectives
  call windows
  call tools
  call files
  call errors
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. wrong == 0) print '(a)', 'ok'
  call MPI_Finalize()
contains

  subroutine blocking
    integer :: a(8, 9), b(8, 9), c(8, 9), to, from
    type(MPI_Status) :: s
    integer :: n
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    a = grid(rank)
    b = -1
    call MPI_Sendrecv(a(2:8:2, 9:3:-3), 12, MPI_INTEGER, to, 1, b(1:7:2, 1:3), 12, MPI_INTEGER, from, 1, MPI_COMM_WORLD, s)
    c = -1
    c(1:7:2, 1:3) = reshape(part(grid(from)), [4, 3])
    call check(all(b == c), 'sendrecv')
    call MPI_Get_count(s, MPI_INTEGER, n)
    call check(n == 12, 'count')
    ! fewer elements than the section has, and more room than elements
    b = -1
    if (mod(rank, 2) == 0) then
      if (rank + 1 < size) call MPI_Send(a(3, :), 7, MPI_INTEGER, rank + 1, 2, MPI_COMM_WORLD)
    else
      call MPI_Recv(b(2:6:2, :), 27, MPI_INTEGER, rank - 1, 2, MPI_COMM_WORLD, s)
      c = grid(rank - 1)
      call check(all(b(2:6:2, 1) == c(3, 1:3)) .and. all(b(2:6:2, 2) == c(3, 4:6)) .and. b(2, 3) == c(3, 7) .and. count(b /= -1) == 7, 'part of a section')
      call MPI_Get_count(s, MPI_INTEGER, n)
      call check(n == 7, 'short message')
    end if
    b = grid(rank)
    call MPI_Sendrecv_replace(b(2:8:2, 9:3:-3), 12, MPI_INTEGER, to, 3, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(part(b) == part(grid(from))) .and. count(b /= grid(rank)) == merge(0, 12, size == 1), 'sendrecv_replace')
    b = grid(rank)
    call MPI_Bcast(b(::3, ::4), 9_MPI_COUNT_KIND, MPI_INTEGER, 0, MPI_COMM_WORLD)
    a = grid(0)
    call check(all(b(::3, ::4) == a(::3, ::4)) .and. count(b /= grid(rank)) == merge(0, 9, rank == 0), 'bcast')
    b = -1
    call MPI_Sendrecv(a(3:2, :), 0, MPI_INTEGER, to, 4, b(::2, 1:0), 0, MPI_INTEGER, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(b == -1), 'no elements')
  end subroutine

  subroutine nonblocking
    integer, asynchronous :: a(8, 9), b(8, 9), x
    integer :: c(8, 9), to, from
    type(MPI_Request) :: q(4)
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    a = grid(rank)
    b = -1
    x = -1
    call MPI_Irecv(b(1:7:2, 1:3), 12, MPI_INTEGER, from, 1, MPI_COMM_WORLD, q(1))
    call MPI_Irecv(b(8, :), 9, MPI_INTEGER, from, 2, MPI_COMM_WORLD, q(2))
    call MPI_Isend(a(2:8:2, 9:3:-3), 12, MPI_INTEGER, to, 1, MPI_COMM_WORLD, q(3))
    call MPI_Isend(a(5, :), 9, MPI_INTEGER, to, 2, MPI_COMM_WORLD, q(4))
    call MPI_Waitall(4, q, MPI_STATUSES_IGNORE)
    c = grid(from)
    call check(all(reshape(b(1:7:2, 1:3), [12]) == part(c)) .and. all(b(8, :) == c(5, :)) .and. count(b /= -1) == 21, 'isend')
    call MPI_Irecv(x, 1, MPI_INTEGER, from, 3, MPI_COMM_WORLD, q(1))
    call MPI_Send(rank, 1, MPI_INTEGER, to, 3, MPI_COMM_WORLD)
    call MPI_Wait(q(1), MPI_STATUS_IGNORE)
    call check(x == from, 'a variable that only MPI_Wait may have changed')
  end subroutine

  subroutine persistent
    integer, asynchronous :: a(20), b(20)
    integer :: to, from, i, t
    type(MPI_Request) :: q(2)
    type(MPI_Datatype) :: pair
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair)
    call MPI_Type_commit(pair)
    call MPI_Recv_init(b(20:2:-2), 5, pair, from, 1, MPI_COMM_WORLD, q(1))
    call MPI_Send_init(a(1:19:2), 10, MPI_INTEGER, to, 1, MPI_COMM_WORLD, q(2))
    call MPI_Type_free(pair)
    do t = 1, 2
      a = t * own(rank, 20)
      b = -1
      call MPI_Startall(2, q)
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      a = t * own(from, 20)
      call check(all(b(20:2:-2) == a(1:19:2)) .and. all(b(1:19:2) == -1), 'persistent')
    end do
    do i = 1, 2
      call MPI_Request_free(q(i))
    end do
  end subroutine

  subroutine partitioned
    integer, asynchronous :: a(20), b(30)
    integer :: to, from, t, i
    type(MPI_Request) :: q(2)
    logical :: arrived
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    call MPI_Precv_init(b(1:30:3), 5, 2_MPI_COUNT_KIND, MPI_INTEGER, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
    call MPI_Psend_init(a(2:20:2), 2, 5_MPI_COUNT_KIND, MPI_INTEGER, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL, q(2))
    do t = 1, 2
      a = -2
      b = -1
      call MPI_Startall(2, q)
      a(2:10:2) = t * own(rank, 5)
      call MPI_Pready(0, q(2))
      do
        call MPI_Parrived(q(1), 1, arrived)
        if (arrived) exit
      end do
      call check(all(b(1:10:3) == [(t * (1000 * from + i), i = 1, 4)]), 'partitions')
      a(12:20:2) = t * own(rank, 5) + 5
      call MPI_Pready(1, q(2))
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      call check(all(b(1:13:3) == t * own(from, 5)) .and. all(b(16:28:3) == t * own(from, 5) + 5) .and. count(b == -1) == 20, 'partitioned')
    end do
    call MPI_Request_free(q(1))
    call MPI_Request_free(q(2))
  end subroutine

  ! other_elements uses datatypes with gaps, and of another size than the elements of the section.
  subroutine other_elements
    integer, asynchronous :: a(40), b(40)
    integer :: c(20), d(20)
    type(MPI_Request) :: q(2)
    type(MPI_Datatype) :: every_third
    call MPI_Type_vector(3, 2, 3, MPI_INTEGER, every_third)
    call MPI_Type_commit(every_third)
    a = own(rank, 40)
    c = a(1:39:2)
    b = -1
    d = -1
    call MPI_Irecv(b(2:40:2), 2, every_third, 0, 1, MPI_COMM_SELF, q(1))
    call MPI_Isend(a(1:39:2), 2, every_third, 0, 1, MPI_COMM_SELF, q(2))
    call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
    call MPI_Sendrecv(c, 2, every_third, 0, 1, d, 2, every_third, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(b(2:40:2) == d) .and. all(b(1:39:2) == -1), 'a vector in a section')
    call MPI_Type_free(every_third)
    b = -1
    d = -1
    call MPI_Sendrecv(a(1:39:2), 26, MPI_BYTE, 0, 1, b(1:40:3), 13, MPI_INTEGER2, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(c, 26, MPI_BYTE, 0, 1, d, 26, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(b(1:40:3) == d(1:14)) .and. count(b /= -1) == count(d /= -1), 'parts of elements')
  end subroutine

  ! dummies passes arguments of other shapes on.
  subroutine dummies(a, n)
    integer, intent(in) :: n, a(n)
    integer, target :: b(8, 9), c(12), d(6)
    integer, pointer :: p(:, :), r(:)
    integer, allocatable :: e(:, :)
    b = grid(rank)
    call assumed(b(2:8:2, 9:3:-3), c)
    call check(all(c == part(b)), 'assumed shape')
    p => b(2:8:2, 9:3:-3)
    c = -1
    call MPI_Sendrecv(p, 12, MPI_INTEGER, 0, 1, c, 12, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(c == part(b)), 'pointer')
    d = -1
    call MPI_Sendrecv(p(:, 2), 3, MPI_INTEGER, 0, 1, d(1::2), 3, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(d(1::2) == c(5:7)) .and. all(d(2::2) == -1), 'section of a pointer')
    allocate(e(3, 4))
    e = -1
    call MPI_Sendrecv(a(n:1:-7), 4, MPI_INTEGER, 0, 1, e(2, :), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(e(2, :) == a(n:n - 21:-7)) .and. count(e == -1) == 8, 'allocatable')
    allocate(r(5))
    call MPI_Sendrecv(a(3), 4, MPI_INTEGER, 0, 1, r(2), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(r(2:5) == a(3:6)), 'sequence from an element')
    deallocate(r)
  end subroutine

  subroutine assumed(a, c)
    integer, intent(in) :: a(:, :)
    integer :: c(*)
    call MPI_Sendrecv(a, 12, MPI_INTEGER, 0, 1, c, 12, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
  end subroutine

  subroutine derived_types
    type(cell), target, asynchronous :: a(6), b(6)
    integer, pointer :: p(:)
    integer :: i, to, from
    character(4) :: texts(5)
    type(MPI_Request) :: q(6)
    to = mod(rank + 1, size)
    from = mod(rank + size - 1, size)
    do i = 1, 6
      a(i) = cell(100 * rank + i, rank + i / 8d0, char(96 + i) // 'y' // char(97 + mod(rank, 26)))
      b(i) = cell(-1, -1, '---')
    end do
    p => b%i
    call MPI_Irecv(p, 6, MPI_INTEGER, from, 1, MPI_COMM_WORLD, q(1))
    call MPI_Irecv(b(1:6:2)%x, 3, MPI_DOUBLE_PRECISION, from, 2, MPI_COMM_WORLD, q(2))
    call MPI_Irecv(b%name(2:3), 12, MPI_CHARACTER, from, 3, MPI_COMM_WORLD, q(3))
    call MPI_Isend(a%i, 6, MPI_INTEGER, to, 1, MPI_COMM_WORLD, q(4))
    call MPI_Isend(a(6:2:-2)%x, 3, MPI_DOUBLE_PRECISION, to, 2, MPI_COMM_WORLD, q(5))
    call MPI_Isend(a%name(1:2), 12, MPI_CHARACTER, to, 3, MPI_COMM_WORLD, q(6))
    call MPI_Waitall(6, q, MPI_STATUSES_IGNORE)
    call check(all(b%i == [(100 * from + i, i = 1, 6)]), 'integers of a type')
    call check(all(b%x == [from + 6 / 8d0, -1d0, from + 4 / 8d0, -1d0, from + 2 / 8d0, -1d0]), 'reals of a type')
    call check(all(b%name == [('-' // char(96 + i) // 'y', i = 1, 6)]), 'characters of a type')
    call MPI_Sendrecv(a(2:6:2), 3 * storage_size(a) / 8, MPI_BYTE, 0, 1, b(5:1:-2), 3 * storage_size(b) / 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call check(all(b(5:1:-2)%i == a(2:6:2)%i) .and. all(b(5:1:-2)%name == a(2:6:2)%name) .and. b(2)%i == 100 * from + 2, 'elements of a type')
    texts = ['one ', 'two ', 'tri ', 'four', 'five']
    call MPI_Bcast(texts(1:5:2), 12, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call check(all(texts == ['one ', 'two ', 'tri ', 'four', 'five']), 'texts')
  end subroutine

  subroutine packing
    integer :: a(10), b(10), at
    character :: bytes(200)
    integer(MPI_ADDRESS_KIND) :: where
    a = own(rank, 10)
    b = -1
    bytes = '.'
    at = 0
    call MPI_Pack(a(1:10:3), 4, MPI_INTEGER, bytes(1:200:2), 100, at, MPI_COMM_WORLD)
    call check(at == 16 .and. all(bytes(2:200:2) == '.'), 'pack')
    at = 4
    call MPI_Unpack(bytes(1:200:2), 100, at, b(10:1:-4), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(at == 16 .and. all(b == [-1, a(10), -1, -1, -1, a(7), -1, -1, -1, a(4)]), 'unpack')
    where = 0
    b = -1
    call MPI_Pack_external('external32', a(1:10:3), 4, MPI_INTEGER, bytes, 100_MPI_ADDRESS_KIND, where)
    where = 0
    call MPI_Unpack_external('external32', bytes, 100_MPI_ADDRESS_KIND, where, b(1:7:2), 4, MPI_INTEGER)
    call check(all(b(1:7:2) == a(1:10:3)) .and. count(b == -1) == 6 .and. where == 16, 'external')
  end subroutine

  subroutine collectives
    integer :: a(3 * size), b(6 * size), c(3 * size), i
    a = own(rank, 3 * size)
    c = -1
    b = -1
    call MPI_Gather(a(1:3:2), 2, MPI_INTEGER, b(1:6 * size:3), 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call check(all(b(1:6 * size:3) == [(1000 * (i / 2) + 1 + 2 * mod(i, 2), i = 0, 2 * size - 1)]), 'gather')
    call check(count(b /= -1) == merge(2 * size, 0, rank == 0), 'beside gather')
    b = own(7, 6 * size)
    call MPI_Scatter(b(1:6 * size:2), 3, MPI_INTEGER, c(1:3 * size:size), 3, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call check(all(c(1:3 * size:size) == [(7000 + 6 * rank + 2 * i - 1, i = 1, 3)]), 'scatter')
    b = -1
    call MPI_Allgather(a(3:1:-1), 3, MPI_INTEGER, b(6 * size:1:-2), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(6 * size:1:-2) == [(1000 * (i / 3) + 3 - mod(i, 3), i = 0, 3 * size - 1)]) .and. all(b(1::2) == -1), 'allgather')
    b = -1
    b(6 * rank + 2:6 * rank + 6:2) = own(rank, 3)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b(2::2), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(2::2) == [(1000 * (i / 3) + 1 + mod(i, 3), i = 0, 3 * size - 1)]), 'allgather in place')
    b(1::2) = a
    b(2::2) = -1
    c = -1
    call MPI_Alltoall(b(1::2), 3, MPI_INTEGER, b(2::2), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Alltoall(a, 3, MPI_INTEGER, c, 3, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(2::2) == c) .and. all(b(1::2) == a), 'alltoall')
  end subroutine

  subroutine vectors
    integer :: a(2 * size, 3), b(3, 2 * size), c(2 * size), n(size), at(size), i
    type(MPI_Datatype) :: types(size)
    n = [(mod(i, 3), i = 1, size)]
    at = [(2 * (size - i), i = 1, size)]
    a = reshape(own(rank, 6 * size), [2 * size, 3])
    b = -1
    c = -1
    call MPI_Allgatherv(a(1:2 * size:max(1, size - 1), 2), n(rank + 1), MPI_INTEGER, b(2, :), n, at, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Allgatherv([a(1:2 * size:max(1, size - 1), 2)], n(rank + 1), MPI_INTEGER, c, n, at, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b(2, :) == c) .and. all(b(1:3:2, :) == -1), 'allgatherv')
    c = -1
    b = -1
    call MPI_Scatterv(a(2 * size:1:-1, 1), n, at, MPI_INTEGER, b(3, :), n(rank + 1), MPI_INTEGER, size - 1, MPI_COMM_WORLD)
    call MPI_Scatterv([a(2 * size:1:-1, 1)], n, at, MPI_INTEGER, c, n(rank + 1), MPI_INTEGER, size - 1, MPI_COMM_WORLD)
    call check(all(b(3, :) == c), 'scatterv')
    types = MPI_INTEGER
    n = 1
    c = -1
    b = -1
    call MPI_Alltoallw(a(2 * size:1:-1, 1), n, 4 * at, types, b(1, :), n, 4 * at, types, MPI_COMM_WORLD)
    call MPI_Alltoallw([a(2 * size:1:-1, 1)], n, 4 * at, types, c, n, 4 * at, types, MPI_COMM_WORLD)
    call check(all(b(1, :) == c) .and. all(b(2:3, :) == -1), 'alltoallw')
  end subroutine

  subroutine reductions
    integer :: a(10), b(10), c(10), n(size)
    type(MPI_Op) :: op
    a = own(rank, 10)
    b = -1
    call MPI_Allreduce(a(1:10:3), b(10:1:-2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce([a(1:10:3)], c, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(10:4:-2) == c(1:4)) .and. count(b == -1) == 6, 'allreduce')
    b = a
    call MPI_Allreduce(MPI_IN_PLACE, b(1:10:3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(1:10:3) == c(1:4)) .and. all(b(2:9:3) == a(2:9:3)), 'allreduce in place')
    call MPI_Op_create(add, .true., op)
    b = -1
    call MPI_Scan(a(10:1:-3), b(1:7:2), 4, MPI_INTEGER, op, MPI_COMM_WORLD)
    call MPI_Scan([a(10:1:-3)], c, 4, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(all(b(1:7:2) == c(1:4)), 'scan with an operation of the program')
    call MPI_Op_free(op)
    n = 0
    n(1) = 3
    b = -1
    call MPI_Reduce_scatter(a(2:6:2), b(1:10:4), n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    if (rank == 0) call check(all(b(1:10:4) == 1000 * (size - 1) + [2, 4, 6]), 'reduce_scatter')
    b = a
    call MPI_Reduce_local(a(1:4), b(1:10:3), 4_MPI_COUNT_KIND, MPI_INTEGER, MPI_SUM)
    call check(all(b(1:10:3) == a(1:10:3) + a(1:4)), 'reduce_local')
  end subroutine

  subroutine nonblocking_collectives
    integer, asynchronous :: a(12), b(4 * size), c(12), d(12), e(8)
    type(MPI_Request) :: q(4)
    integer :: i
    a = own(rank, 12)
    b = -1
    c = -1
    d = a
    e = -1
    call MPI_Iallgather(a(1:12:6), 2, MPI_INTEGER, b(1::2), 2, MPI_INTEGER, MPI_COMM_WORLD, q(1))
    call MPI_Ireduce(a(2:8:2), c(12:1:-3), 3, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, q(2))
    call MPI_Ibcast(d(2:12:5), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, q(3))
    call MPI_Iexscan(a(1:7:2), e(2::2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(4))
    b(2::2) = -3 ! these elements belong to the program, and so does the one behind the data
    c(3) = -3
    call MPI_Waitall(4, q, MPI_STATUSES_IGNORE)
    call check(all(b(1::2) == [(1000 * (i / 2) + 1 + 6 * mod(i, 2), i = 0, 2 * size - 1)]) .and. all(b(2::2) == -3), 'iallgather')
    if (rank == 0) call check(all(c(12:6:-3) == [(500 * size * (size - 1) + 2 * i * size, i = 1, 3)]), 'ireduce')
    call check(c(3) == -3 .and. count(c == -1) == merge(8, 11, rank == 0), 'beside ireduce')
    call check(all(d(2:12:5) == [2, 7, 12]) .and. all(d([1, 3, 6, 8]) == a([1, 3, 6, 8])), 'ibcast')
    if (rank > 0) call check(all(e(2::2) == [(500 * rank * (rank - 1) + (2 * i - 1) * rank, i = 1, 4)]), 'iexscan')
    call check(all(e(1::2) == -1), 'beside iexscan')
  end subroutine

  subroutine persistent_collectives
    integer, asynchronous :: a(6), b(8), c(9)
    type(MPI_Request) :: q(2)
    integer :: t, i
    call MPI_Allreduce_init(a(1:6:2), b(8:1:-3), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q(1))
    call MPI_Bcast_init(c(1:9:4), 3, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q(2))
    do t = 1, 2
      a = own(rank, 6)
      b = -t
      c = own(rank, 9) + t
      call MPI_Startall(2, q)
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      call check(all(b(8:1:-3) == [(500 * size * (size - 1) + (2 * i - 1) * size, i = 1, 3)]) .and. count(b == -t) == 5, 'allreduce_init')
      call check(all(c(1:9:4) == [1, 5, 9] + t) .and. c(2) == 1000 * rank + 2 + t, 'bcast_init')
    end do
    call MPI_Request_free(q(1))
    call MPI_Request_free(q(2))
  end subroutine

  subroutine windows
    integer, asynchronous :: memory(10), a(9), b(9), old(4)
    integer :: i, to
    type(MPI_Win) :: w
    type(MPI_Request) :: q
    to = mod(rank + 1, size)
    memory = 0
    call MPI_Win_create(memory, int(4 * 10, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, w)
    a = own(rank, 9)
    call MPI_Win_fence(0, w)
    call MPI_Put(a(1:9:4), 3, MPI_INTEGER, to, 2_MPI_ADDRESS_KIND, 3, MPI_INTEGER, w)
    call MPI_Win_fence(0, w)
    i = mod(rank + size - 1, size)
    call check(all(memory == [0, 0, 1000 * i + 1, 1000 * i + 5, 1000 * i + 9, 0, 0, 0, 0, 0]), 'put')
    b = -1
    call MPI_Get(b(9:1:-3), 3, MPI_INTEGER, to, 2_MPI_ADDRESS_KIND, 3, MPI_INTEGER, w)
    call MPI_Accumulate(a(2:8:3), 3, MPI_INTEGER, to, 7_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_SUM, w)
    call MPI_Win_fence(0, w)
    call check(all(b(9:1:-3) == a(1:9:4)) .and. count(b == -1) == 6, 'get')
    call check(all(memory(8:10) == 1000 * i + [2, 5, 8]), 'accumulate')
    call MPI_Win_lock(MPI_LOCK_SHARED, to, 0, w)
    old = -1
    b = 1
    call MPI_Rget_accumulate(b(1:9:4), 3, MPI_INTEGER, old(4:1:-1), 3, MPI_INTEGER, to, 7_MPI_ADDRESS_KIND, 3, MPI_INTEGER, MPI_SUM, w, q)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call check(all(old == [-1, a(8), a(5), a(2)]), 'rget_accumulate')
    call MPI_Fetch_and_op(b(2:9:3), old(1::3), MPI_INTEGER, to, 9_MPI_ADDRESS_KIND, MPI_SUM, w)
    call MPI_Win_unlock(to, w)
    call check(old(1) == a(8) + 1 .and. old(4) == a(2), 'fetch_and_op')
    call MPI_Win_free(w)
  end subroutine

  subroutine files
    type(MPI_File) :: f
    type(MPI_Request) :: q
    integer, asynchronous :: a(8, 9), b(24), c(12)
    a = grid(rank)
    b = -1
    call MPI_File_open(MPI_COMM_SELF, 'sections.' // char(97 + rank), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f)
    call MPI_File_write(f, a(2:8:2, 9:3:-3), 12, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_iread_at(f, 0_MPI_OFFSET_KIND, b(1:24:2), 12, MPI_INTEGER, q)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call check(all(b(1:24:2) == part(a)) .and. all(b(2:24:2) == -1), 'files')
    call MPI_File_seek(f, 8_MPI_OFFSET_KIND, MPI_SEEK_SET)
    b = -1
    call MPI_File_read_all_begin(f, b(24:2:-2), 10, MPI_INTEGER)
    call MPI_File_read_all_end(f, b(24:2:-2), MPI_STATUS_IGNORE)
    c = part(a)
    call check(all(b(24:6:-2) == c(3:)) .and. count(b == -1) == 14, 'read_all')
    call MPI_File_close(f)
  end subroutine

  subroutine tools
    integer, asynchronous :: b(9)
    type(cell), target :: a(4)
    type(MPI_Request) :: q
    integer :: calls
    common /tool/ calls
    calls = 0
    a%i = own(rank, 4)
    a%name = ['abc', 'def', 'ghi', 'jkl']
    b = -1
    call MPI_Irecv(b(9:3:-2), 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF, q)
    call MPI_Ssend(a%i, 4, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call check(all(b(9:3:-2) == own(rank, 4)) .and. calls == 1, 'a tool')
    call MPI_Irecv(b, 8, MPI_CHARACTER, 0, 1, MPI_COMM_SELF, q)
    call MPI_Ssend(a%name(2:3), 8, MPI_CHARACTER, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call check(all(transfer(b(1:2), 'a', 8) == transfer('bcefhikl', 'a', 8)) .and. calls == 2, 'a tool with characters')
  end subroutine

  ! errors are those of the call, and change nothing.
  subroutine errors
    integer, asynchronous :: a(10), x
    integer(MPI_ADDRESS_KIND) :: at, first
    integer :: e, class
    type(MPI_Win) :: w
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Send(a(1:9:2), 6, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_BUFFER, 'more elements than the section has')
    call MPI_Win_create(a(1:9:2), 20_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_SELF, w, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_BUFFER, 'a window with gaps')
    call MPI_Get_address(a(3:9:2), at)
    call MPI_Get_address(a, first)
    call check(MPI_Aint_diff(at, first) == 8, 'address of a section')
    x = rank
    call MPI_F_sync_reg(a(1:9:2))
    call MPI_F_sync_reg(x)
  end subroutine
end program

! A profiling tool for one function: it counts calls.
subroutine MPI_Ssend_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  use mpi_f08, only: MPI_Datatype, MPI_Comm, PMPI_Ssend
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  integer :: calls
  common /tool/ calls
  calls = calls + 1
  call PMPI_Ssend(buf, count, datatype, dest, tag, comm, ierror)
end subroutine
