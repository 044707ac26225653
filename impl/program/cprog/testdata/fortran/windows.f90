! One-sided communication: windows by mpif.h's names in module mpi, with addresses of kind MPI_ADDRESS_KIND.
module callbacks
  use mpi
  implicit none
  integer :: deletions = 0
contains
  subroutine note_deleted(win, key, value, extra, e)
    integer :: win, key, e
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    deletions = deletions + int(value + extra)
    e = MPI_SUCCESS
  end subroutine
end module

program windows
  use mpi
  use callbacks
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: rank, size, e, win, next, before, key, n, group, class, request
  integer :: memory(6), value, old, compare, buffer(2)
  integer, pointer :: allocated(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, attribute, place
  integer(kind=MPI_ADDRESS_KIND), allocatable :: places(:)
  type(C_PTR) :: base
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, e)
  call MPI_Comm_size(MPI_COMM_WORLD, size, e)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)

  memory = -1
  bytes = 24
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, e)
  place = 2
  call MPI_Put(rank, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, e)
  call MPI_Win_fence(0, win, e)
  place = 5
  memory(6) = 0
  call MPI_Win_fence(0, win, e)
  call MPI_Accumulate(size, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, MPI_SUM, win, e)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, e)
  call say('put', [memory(3), memory(6)])

  call MPI_Win_get_attr(win, MPI_WIN_SIZE, attribute, flag, e)
  call say('size', [int(attribute), merge(1, 0, flag)])
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, attribute, flag, e)
  call say('unit', [int(attribute), merge(1, 0, flag)])
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, note_deleted, key, 100_MPI_ADDRESS_KIND, e)
  call MPI_Win_set_attr(win, key, 7_MPI_ADDRESS_KIND, e)
  call MPI_Win_get_attr(win, key, attribute, flag, e)
  call MPI_Win_delete_attr(win, key, e)
  call MPI_Win_free_keyval(key, e)
  call say('attribute', [int(attribute), deletions])
  call MPI_Win_set_name(win, 'halo', e)
  call MPI_Win_get_name(win, name, n, e)
  call say(name(1:n), [n])
  call MPI_Win_get_group(win, group, e)
  call MPI_Group_size(group, n, e)
  call say('group', [n])

  call MPI_Barrier(MPI_COMM_WORLD, e)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win, e)
  place = 2
  call MPI_Get(buffer, 2, MPI_INTEGER, next, place, 2, MPI_INTEGER, win, e)
  call MPI_Win_flush(next, win, e)
  call MPI_Rput(size, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, request, e)
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  call MPI_Win_unlock(next, win, e)
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call say('lock', [buffer(1), memory(3)])

  call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN, e)
  call MPI_Win_unlock(next, win, e)
  call MPI_Error_class(e, class, n)
  call say('error', [merge(1, 0, class == MPI_ERR_RMA_SYNC)])
  call MPI_Win_post(group, 0, win, e)
  call MPI_Win_start(group, 0, win, e)
  place = 0
  call MPI_Put(rank, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, win, e)
  call MPI_Win_complete(win, e)
  call MPI_Win_wait(win, e)
  call say('post', [memory(1)])
  call MPI_Group_free(group, e)
  call MPI_Win_free(win, e)
  call say('freed', [merge(1, 0, win == MPI_WIN_NULL)])

  bytes = 8
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, e)
  call C_F_POINTER(base, allocated, [2])
  allocated = 5
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call MPI_Win_lock_all(0, win, e)
  value = rank
  place = 1
  call MPI_Fetch_and_op(value, old, MPI_INTEGER, next, place, MPI_REPLACE, win, e)
  call MPI_Win_flush(next, win, e)
  compare = rank
  value = 77
  call MPI_Compare_and_swap(value, compare, n, MPI_INTEGER, next, place, win, e)
  call MPI_Win_unlock_all(win, e)
  call MPI_Barrier(MPI_COMM_WORLD, e)
  call say('atomic', [old, n, allocated(2)])
  call MPI_Win_free(win, e)

  allocate(places(size))
  memory = 0
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, e)
  bytes = 24
  call MPI_Win_attach(win, memory, bytes, e)
  call MPI_Get_address(memory(4), place, e)
  call MPI_Allgather(place, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD, e)
  call MPI_Win_fence(0, win, e)
  call MPI_Put(size, 1, MPI_INTEGER, next, places(next + 1), 1, MPI_INTEGER, win, e)
  call MPI_Win_fence(0, win, e)
  call say('dynamic', [memory(3), memory(4)])
  call MPI_Win_detach(win, memory, e)
  call MPI_Win_free(win, e)
  call MPI_Finalize(e)
contains
  ! say prints numbers of rank 1.
  subroutine say(what, numbers)
    character(len=*), intent(in) :: what
    integer, intent(in) :: numbers(:)
    if (rank == min(1, size - 1)) print '(a,9(1x,i0))', what, numbers
  end subroutine
end program
