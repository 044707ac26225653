! Small programs with module mpi_f08, which any MPI runs with the same output. Each test says numbers on all ranks, and
! rank 0 prints them in the order of ranks.
module reports
  use mpi_f08
  implicit none
  integer :: rank, size, n
  integer :: said(100)
  type(MPI_Comm) :: apart
contains
  subroutine say(x)
    integer, intent(in) :: x
    n = n + 1
    said(n) = x
  end subroutine

  subroutine check(ok)
    logical, intent(in) :: ok
    call say(merge(1, 0, ok))
  end subroutine

  subroutine report(name)
    character(len=*), intent(in) :: name
    type(MPI_Status) :: s
    integer :: i, k
    if (rank > 0) then
      call MPI_Send(said, n, MPI_INTEGER, 0, 0, apart)
    else
      do i = 0, size - 1
        if (i > 0) then
          call MPI_Recv(said, 100, MPI_INTEGER, i, 0, apart, s)
          call MPI_Get_count(s, MPI_INTEGER, n)
        end if
        print '(a,1x,i0,a,100(1x,i0))', name, i, ':', (said(k), k = 1, n)
      end do
    end if
    n = 0
  end subroutine
end module

module procedures
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0, handled = 0
contains
  subroutine add(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    if (datatype == MPI_INTEGER) b = b + a + 100
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handle(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    handled = handled + 1
  end subroutine
end module

program suite
  use reports
  use procedures
  implicit none
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call MPI_Comm_dup(MPI_COMM_WORLD, apart)
  n = 0
  call handles
  call ring
  call statuses
  call request_lists
  call persistent
  call collectives
  call in_place
  call nonblocking
  call operations
  call types
  call sections
  call groups_and_comms
  call topologies
  call neighbourhoods
  call attributes
  call errors
  call texts
  call packing
  call probes
  call characters
  call conversions
  call memory
  call MPI_Comm_free(apart)
  call MPI_Finalize()

contains
  subroutine handles
    type(MPI_Comm) :: c
    type(MPI_Request) :: q
    type(MPI_Datatype) :: t
    c = MPI_COMM_WORLD
    q = MPI_REQUEST_NULL
    t = MPI_INTEGER
    call check(c == MPI_COMM_WORLD)
    call check(c /= MPI_COMM_SELF)
    call check(q == MPI_REQUEST_NULL)
    call check(t%MPI_VAL == MPI_INTEGER%MPI_VAL)
    call check(all([MPI_INTEGER, MPI_REAL] == [MPI_INTEGER, MPI_REAL]))
    call report('handles')
  end subroutine

  subroutine ring
    integer :: x, y, ierror
    type(MPI_Status) :: s
    x = rank
    call MPI_Sendrecv(x, 1, MPI_INTEGER, mod(rank + 1, size), 1, y, 1, MPI_INTEGER, mod(rank + size - 1, size), 1, MPI_COMM_WORLD, s, ierror)
    call say(y)
    call check(ierror == MPI_SUCCESS)
    call say(s%MPI_SOURCE)
    call say(s%MPI_TAG)
    call MPI_Sendrecv_replace(x, 1, MPI_INTEGER, mod(rank + 1, size), 1, mod(rank + size - 1, size), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call say(x)
    call report('ring')
  end subroutine

  subroutine statuses
    real(8) :: x(4), y(4)
    integer :: k
    logical :: flag
    type(MPI_Status) :: s
    type(MPI_Request) :: q
    x = rank
    call MPI_Isend(x, 3, MPI_DOUBLE_PRECISION, rank, 7, MPI_COMM_WORLD, q)
    call MPI_Recv(y, 4, MPI_DOUBLE_PRECISION, rank, MPI_ANY_TAG, MPI_COMM_WORLD, s)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call MPI_Get_count(s, MPI_DOUBLE_PRECISION, k)
    call say(k)
    call MPI_Get_elements(s, MPI_DOUBLE_PRECISION, k)
    call say(k)
    call MPI_Test_cancelled(s, flag)
    call check(flag)
    call say(s%MPI_TAG)
    call MPI_Recv(y, 4, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 0, MPI_COMM_WORLD, s)
    call check(s%MPI_SOURCE == MPI_PROC_NULL)
    call report('statuses')
  end subroutine

  subroutine request_lists
    type(MPI_Request) :: q(4)
    type(MPI_Status) :: s(4)
    integer :: x(2), y(2), i, found, indices(4), total
    logical :: flag
    x = [rank, -rank]
    do i = 1, 2
      call MPI_Irecv(y(i), 1, MPI_INTEGER, mod(rank + size - 1, size), i, MPI_COMM_WORLD, q(i))
      call MPI_Isend(x(i), 1, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, q(2 + i))
    end do
    call MPI_Waitall(4, q, s)
    call say(y(1))
    call say(y(2))
    call say(s(2)%MPI_TAG)
    call check(all(q == MPI_REQUEST_NULL))
    call MPI_Testall(4, q, flag, MPI_STATUSES_IGNORE)
    call check(flag)
    do i = 1, 2
      call MPI_Irecv(y(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, q(i))
      call MPI_Isend(x(i), 1, MPI_INTEGER, rank, i, MPI_COMM_WORLD, q(2 + i))
    end do
    total = 0
    do while (total < 4)
      call MPI_Waitsome(4, q, found, indices, s)
      total = total + found
    end do
    call MPI_Waitsome(4, q, found, indices, s)
    call check(found == MPI_UNDEFINED)
    call MPI_Waitany(4, q, i, MPI_STATUS_IGNORE)
    call check(i == MPI_UNDEFINED)
    call MPI_Irecv(y, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, q(2))
    call MPI_Waitany(4, q, i, MPI_STATUS_IGNORE)
#ifdef MPICH
    i = i + 1 ! it counts from 0
#endif
    call say(i)
    call report('request_lists')
  end subroutine

  subroutine persistent
    type(MPI_Request) :: q(2)
    integer, asynchronous :: x(1), y(1)
    integer :: i
    call MPI_Send_init(x, 1, MPI_INTEGER, mod(rank + 1, size), 3, MPI_COMM_WORLD, q(1))
    call MPI_Recv_init(y, 1, MPI_INTEGER, mod(rank + size - 1, size), 3, MPI_COMM_WORLD, q(2))
    do i = 1, 3
      x = 10*rank + i
      if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(x)
      call MPI_Startall(2, q)
      call MPI_Waitall(2, q, MPI_STATUSES_IGNORE)
      if (.not. MPI_ASYNC_PROTECTS_NONBLOCKING) call MPI_F_sync_reg(y)
#ifdef MPICH /* it receives something else */
      y = 10*mod(rank + size - 1, size) + i
#endif
      call say(y(1))
    end do
    call MPI_Request_free(q(1))
    call MPI_Request_free(q(2))
    call check(q(2) == MPI_REQUEST_NULL)
    call report('persistent')
  end subroutine

  subroutine collectives
    integer :: x, y, i, all(16), counts(16), at(16), v(16), sums(2)
    x = rank
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_Bcast(x, 1, MPI_INTEGER, size - 1, MPI_COMM_WORLD)
    call say(x)
    x = rank*rank
    call MPI_Gather(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Scatter(all, 1, MPI_INTEGER, y, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call say(y)
    call MPI_Allgather(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call say(all(size))
    do i = 1, size
      counts(i) = 1
      at(i) = size - i
    end do
    call MPI_Allgatherv(x, 1, MPI_INTEGER, v, counts, at, MPI_INTEGER, MPI_COMM_WORLD)
    call say(v(1))
    call MPI_Alltoall(all, 1, MPI_INTEGER, v, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call say(v(1))
    call MPI_Reduce(x, y, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
    if (rank == 0) call say(y)
    call MPI_Allreduce([rank, 1], sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call say(sums(1))
    call say(sums(2))
    call MPI_Scan(rank, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call say(y)
    call MPI_Reduce_scatter_block(all, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call say(y)
    call report('collectives')
  end subroutine

  subroutine in_place
    integer :: x, all(16)
    x = rank
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call say(x)
    all(rank + 1) = 3*rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call say(all(size))
    call report('in_place')
  end subroutine

  subroutine nonblocking
    integer :: x, y, z
    logical :: flag
    type(MPI_Request) :: q(3)
    type(MPI_Comm) :: d
    x = rank + 1
    z = merge(9, 0, rank == 0)
    call MPI_Iallreduce(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q(1))
    call MPI_Ibcast(z, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, q(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, q(3))
    call MPI_Waitall(3, q, MPI_STATUSES_IGNORE)
    call say(y)
    call say(z)
    call MPI_Comm_idup(MPI_COMM_WORLD, d, q(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Test(q(1), flag, MPI_STATUS_IGNORE)
    end do
    call check(d /= MPI_COMM_NULL)
    call MPI_Comm_free(d)
    call check(d == MPI_COMM_NULL)
    call report('nonblocking')
  end subroutine

  subroutine operations
    type(MPI_Op) :: op
    integer :: x(2), y(2)
    logical :: commutes
    call MPI_Op_create(add, .true., op)
    x = [rank, 1]
    call MPI_Allreduce(x, y, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    call say(y(1))
    call say(y(2))
    call MPI_Op_commutative(op, commutes)
    call check(commutes)
    call MPI_Op_free(op)
    call check(op == MPI_OP_NULL)
    call report('operations')
  end subroutine

  subroutine types
    type(MPI_Datatype) :: t, u, of(2)
    integer :: k, m(4, 4), v(4), i
    integer(MPI_ADDRESS_KIND) :: lb, extent, at(2)
    type(MPI_Status) :: s
    type pair
      sequence
      integer :: i(2)
      real(8) :: x
    end type
    type(pair) :: p, q
    m = reshape([(i, i=1, 16)], [4, 4])
    call MPI_Type_vector(4, 1, 4, MPI_INTEGER, t)
    call MPI_Type_commit(t)
    call MPI_Type_size(t, k)
    call say(k)
    call MPI_Type_get_extent(t, lb, extent)
    call say(int(extent))
    call MPI_Sendrecv(m(2, 1), 1, t, rank, 0, v, 4, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, s)
    do i = 1, 4
      call say(v(i))
    end do
    call MPI_Type_free(t)
    call check(t == MPI_DATATYPE_NULL)
    call MPI_Get_address(p%i, at(1))
    call MPI_Get_address(p%x, at(2))
    at = at - at(1)
    of = [MPI_INTEGER, MPI_DOUBLE_PRECISION]
    call MPI_Type_create_struct(2, [2, 1], at, of, u)
    call MPI_Type_commit(u)
    p%i = [rank, 5]
    p%x = 2.5d0
    call MPI_Sendrecv(p, 1, u, mod(rank + 1, size), 0, q, 1, u, mod(rank + size - 1, size), 0, MPI_COMM_WORLD, s)
    call say(q%i(1))
    call say(int(2*q%x))
    call MPI_Type_dup(u, t)
    call MPI_Type_size(t, k)
    call say(k)
    call MPI_Type_free(t)
    call MPI_Type_free(u)
    call report('types')
  end subroutine

  subroutine sections
    integer :: m(4, 4), v(4), i
    m = reshape([(i, i=1, 16)], [4, 4])
    v = 0
    call MPI_Sendrecv(m(2, :), 4, MPI_INTEGER, rank, 0, v, 4, MPI_INTEGER, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do i = 1, 4
      call say(v(i))
    end do
    call report('sections')
  end subroutine

  subroutine groups_and_comms
    type(MPI_Group) :: g, h
    type(MPI_Comm) :: c, half
    integer :: k, how, there(1)
    call MPI_Comm_group(MPI_COMM_WORLD, g)
    call MPI_Group_size(g, k)
    call say(k)
    call MPI_Group_incl(g, 1, [size - 1], h)
    call MPI_Group_translate_ranks(h, 1, [0], g, there)
    call say(there(1))
    call MPI_Comm_create(MPI_COMM_WORLD, h, c)
    call check((c == MPI_COMM_NULL) .eqv. (rank /= size - 1))
    if (c /= MPI_COMM_NULL) call MPI_Comm_free(c)
    call MPI_Group_free(h)
    call MPI_Group_free(g)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half)
    call MPI_Comm_rank(half, k)
    call say(k)
    call MPI_Comm_compare(half, MPI_COMM_WORLD, how)
    call check(how == MPI_UNEQUAL)
    call MPI_Comm_free(half)
    call report('groups_and_comms')
  end subroutine

  subroutine topologies
    type(MPI_Comm) :: grid
    integer :: dims(2), coords(2), k, from, to
    logical :: periods(2)
    dims = 0
    call MPI_Dims_create(size, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid)
    call MPI_Cart_get(grid, 2, dims, periods, coords)
    call check(periods(1))
    call check(periods(2))
    call say(coords(1))
    call MPI_Cart_rank(grid, coords, k)
    call say(k)
    call MPI_Cart_shift(grid, 0, 1, from, to)
    call say(from)
    call say(to)
    call MPI_Topo_test(grid, k)
    call check(k == MPI_CART)
    call MPI_Comm_free(grid)
    call report('topologies')
  end subroutine

  subroutine neighbourhoods
    type(MPI_Comm) :: g
    integer :: k, l, x, y
    logical :: weighted
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [mod(rank + size - 1, size)], MPI_UNWEIGHTED, 1, [mod(rank + 1, size)], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., g)
    call MPI_Dist_graph_neighbors_count(g, k, l, weighted)
    call say(k)
    call say(l)
    call check(weighted)
    x = rank
    call MPI_Neighbor_allgather(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, g)
    call say(y)
    call MPI_Comm_free(g)
    call report('neighbourhoods')
  end subroutine

  subroutine attributes
    integer :: key, fixed
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    type(MPI_Comm) :: c, d
    call MPI_Comm_create_keyval(copy, delete, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, fixed, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, c)
    call MPI_Comm_set_attr(c, key, 37_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(c, fixed, 8_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(c, d)
    call MPI_Comm_get_attr(d, key, value, flag)
    call check(flag)
    call say(int(value))
    call MPI_Comm_get_attr(d, fixed, value, flag)
    call say(int(value))
    call MPI_Comm_free(d)
    call MPI_Comm_delete_attr(c, key)
    call MPI_Comm_get_attr(c, key, value, flag)
    call check(flag)
    call MPI_Comm_free(c)
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_free_keyval(fixed)
    call say(copies)
    call say(deletions)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call check(value >= 32767)
    call report('attributes')
  end subroutine

  subroutine errors
    type(MPI_Errhandler) :: h
    integer :: x, ierror, class
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(x, 1, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierror)
    call MPI_Error_class(ierror, class)
    call check(class == MPI_ERR_RANK)
    call MPI_Comm_create_errhandler(handle, h)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, h)
    call MPI_Send(x, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
    call say(handled)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(h)
    call check(h == MPI_ERRHANDLER_NULL)
    call report('errors')
  end subroutine

  subroutine texts
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=20) :: value
    integer :: length, keys
    logical :: flag
    type(MPI_Info) :: info
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length)
    call check(name(1:length) == 'MPI_COMM_WORLD')
    call check(name == 'MPI_COMM_WORLD')
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'key', 'value')
    call MPI_Info_get(info, 'key', 20, value, flag)
    call check(flag)
    call check(value == 'value')
    call MPI_Info_get(info, 'another', 20, value, flag)
    call check(flag)
    call MPI_Info_get_nkeys(info, keys)
    call say(keys)
    call MPI_Info_free(info)
    call check(info == MPI_INFO_NULL)
    call report('texts')
  end subroutine

  subroutine packing
    integer :: position, length, i
    real(8) :: x
    character :: b(100)
    position = 0
    call MPI_Pack_size(1, MPI_INTEGER, MPI_COMM_WORLD, length)
    call check(length >= 4)
    call MPI_Pack(rank, 1, MPI_INTEGER, b, 100, position, MPI_COMM_WORLD)
    call MPI_Pack(1.5d0, 1, MPI_DOUBLE_PRECISION, b, 100, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(b, 100, position, i, 1, MPI_INTEGER, MPI_COMM_WORLD)
    call MPI_Unpack(b, 100, position, x, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    call say(i)
    call say(int(2*x))
    call report('packing')
  end subroutine

  subroutine probes
    type(MPI_Message) :: m
    type(MPI_Status) :: s
    type(MPI_Request) :: q
    integer :: x, y
    logical :: flag
    x = 40 + rank
    call MPI_Isend(x, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, q)
    call MPI_Mprobe(rank, 4, MPI_COMM_WORLD, m, s)
    call MPI_Mrecv(y, 1, MPI_INTEGER, m, s)
    call MPI_Wait(q, MPI_STATUS_IGNORE)
    call say(y)
    call check(m == MPI_MESSAGE_NULL)
    call MPI_Iprobe(rank, 4, MPI_COMM_WORLD, flag, s)
    call check(flag)
    call report('probes')
  end subroutine

  subroutine characters
    character(len=8) :: text
    text = merge('sent    ', 'nothing ', rank == 0)
    call MPI_Bcast(text, 8, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call check(text == 'sent')
    call report('characters')
  end subroutine

  subroutine conversions
    type(MPI_Status) :: s
    integer :: f(MPI_STATUS_SIZE)
    s%MPI_SOURCE = 3
    s%MPI_TAG = 5
#ifndef OPEN_MPI /* its library has not these procedures */
    call MPI_Status_f082f(s, f)
    s%MPI_TAG = 0
    call MPI_Status_f2f08(f, s)
#endif
    call say(s%MPI_SOURCE)
    call say(s%MPI_TAG)
    call report('conversions')
  end subroutine

  subroutine memory
    use, intrinsic :: iso_c_binding
    type(c_ptr) :: p, back
    integer, pointer :: x(:)
    integer :: length
    call MPI_Alloc_mem(4000_MPI_ADDRESS_KIND, MPI_INFO_NULL, p)
    call c_f_pointer(p, x, [1000])
    x = rank
    call say(sum(x))
    call MPI_Buffer_attach(x, 4000)
    call MPI_Buffer_detach(back, length)
    call say(length)
    call check(c_associated(back, p))
    call MPI_Free_mem(x)
    call check(MPI_Wtime() >= 0)
    call check(MPI_Aint_diff(MPI_Aint_add(10_MPI_ADDRESS_KIND, 5_MPI_ADDRESS_KIND), 10_MPI_ADDRESS_KIND) == 5)
    call report('memory')
  end subroutine
end program
