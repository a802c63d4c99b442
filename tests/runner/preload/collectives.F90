! Calls every collective from Fortran by one of its bindings (-DMPIF_H, -DUSE_MPI or -DUSE_MPI_F08) on 2, 3, ... ranks,
! and checks each result against what the inputs, which each rank can compute of all others, must give. Knows of no
! layer. Rank 0 prints what all ranks called, by its own count. Exit code 1 and a line for each kind of wrong result.
#ifdef USE_MPI_F08
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

program collectives
#if defined(USE_MPI_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use operators
  implicit none
#ifdef MPIF_H
  include 'mpif.h'
#endif
  integer, parameter :: kinds = 17
  integer, parameter :: barrier = 1, bcast = 2, scatter = 3, gather = 4, allgather = 5, alltoall = 6, reduce = 7, &
    allreduce = 8, reduce_scatter = 9, send = 10, recv = 11, isend = 12, irecv = 13, sendrecv = 14, waitall = 15, &
    iallreduce = 16, waited = 17
  character(len=14), parameter :: names(kinds) = [character(len=14) :: 'barrier', 'bcast', 'scatter', 'gather', &
    'allgather', 'alltoall', 'reduce', 'allreduce', 'reduce_scatter', 'send', 'recv', 'isend', 'irecv', 'sendrecv', &
    'waitall', 'iallreduce', 'wait']
  integer, parameter :: counts(3) = [1, 6, 500]
  HANDLE(MPI_Comm) :: comm
  HANDLE(MPI_Op) :: composing, adding
  HANDLE(MPI_Datatype) :: pair, precise
  integer :: own_rank, all_ranks, rank, ranks, error, wrong = 0, checked = 0, total = 0, i, more
  ! Calls and bytes of each kind; of this rank, and of all.
  double precision :: tally(2, kinds) = 0, tallies(2, kinds) = 0

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, own_rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, all_ranks, error)
  call MPI_Op_create(compose, .false., composing, error)
  call MPI_Op_create(add, .true., adding, error)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
  call MPI_Type_commit(pair, error)
  call MPI_Type_create_f90_real(12, 100, precise, error)
  do ranks = 2, all_ranks
    call MPI_Comm_split(MPI_COMM_WORLD, merge(0, MPI_UNDEFINED, own_rank < ranks), own_rank, comm, error)
    if (own_rank >= ranks) cycle
    call MPI_Comm_rank(comm, rank, error)
    do i = 1, size(counts)
      do more = 0, 1
        call moving(counts(i), mod(i + more, ranks))
        call reducing(counts(i), mod(i + more, ranks), 1000 * ranks + 10 * i + more)
      end do
      call types_of_fortran(counts(i))
      call called(barrier, 0)
      call MPI_Barrier(comm, error)
    end do
    call layouts()
    call messages()
    call MPI_Comm_free(comm, error)
  end do
  call MPI_Op_free(composing, error)
  call MPI_Op_free(adding, error)
  call MPI_Type_free(pair, error)
  call called(allreduce, 4)
  call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call called(reduce, 8 * size(tally))
  call MPI_Reduce(tally, tallies, size(tally), MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (own_rank == 0) then
    do i = 1, kinds
      print '(a, a, 1x, i0, 1x, i0)', 'called ', trim(names(i)), int(tallies(1, i)), int(tallies(2, i))
    end do
    print '(i0, a, i0, a)', checked, ' checks on rank 0, ', total, ' wrong on all'
  end if
  call MPI_Finalize(error)
  if (total /= 0) stop 1

contains

  subroutine called(what, bytes)
    integer, intent(in) :: what, bytes
    tally(:, what) = tally(:, what) + [1, bytes]
  end subroutine

  subroutine expect(is_right, what, count)
    logical, intent(in) :: is_right
    character(len=*), intent(in) :: what
    integer, intent(in) :: count
    checked = checked + 1
    if (is_right) return
    wrong = wrong + 1
    if (wrong <= 5) print '(a, a, a, i0, a, i0)', 'wrong: ', what, ', ranks ', ranks, ', count ', count
  end subroutine

  integer elemental function number_of(of_rank, at, salt)
    integer, intent(in) :: of_rank, at, salt
    number_of = mod(of_rank * 7919 + at * 31 + salt * 131, prime)
  end function

  function numbers(of_rank, first, many, salt)
    integer, intent(in) :: of_rank, first, many, salt
    integer :: numbers(many), at
    numbers = [(number_of(of_rank, first + at, salt), at = 0, many - 1)]
  end function

  ! Blocks of n integers to and from each rank, in place and not.
  subroutine moving(n, root)
    integer, intent(in) :: n, root
    integer :: sent(n * ranks), got(n * ranks), want(n * ranks), other
    logical :: is_root
    is_root = rank == root
    got = merge(numbers(root, 0, n * ranks, 1), -1, is_root)
    call called(bcast, 4 * n)
    call MPI_Bcast(got, n, MPI_INTEGER, root, comm, error)
    call expect(all(got(:n) == numbers(root, 0, n, 1)), 'bcast', n)

    sent = numbers(rank, 0, n * ranks, 2)
    got = -1
    call called(scatter, 4 * n)
    call MPI_Scatter(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, root, comm, error)
    call expect(all(got(:n) == numbers(root, rank * n, n, 2)), 'scatter', n)
    got = -1
    call called(scatter, 4 * n)
    if (is_root) then
      call MPI_Scatter(sent, n, MPI_INTEGER, MPI_IN_PLACE, n, MPI_INTEGER, root, comm, error)
    else
      call MPI_Scatter(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, root, comm, error)
      call expect(all(got(:n) == numbers(root, rank * n, n, 2)), 'scatter in place', n)
    end if
    call expect(all(sent == numbers(rank, 0, n * ranks, 2)), 'input of scatter', n)

    do other = 0, ranks - 1
      want(other * n + 1:(other + 1) * n) = numbers(other, 0, n, 2)
    end do
    got = -1
    call called(gather, 4 * n)
    call MPI_Gather(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, root, comm, error)
    call expect(.not. is_root .or. all(got == want), 'gather', n)
    got = -1
    got(rank * n + 1:(rank + 1) * n) = sent(:n)
    call called(gather, 4 * n)
    if (is_root) then
      call MPI_Gather(MPI_IN_PLACE, n, MPI_INTEGER, got, n, MPI_INTEGER, root, comm, error)
      call expect(all(got == want), 'gather in place', n)
    else
      call MPI_Gather(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, root, comm, error)
    end if

    got = -1
    call called(allgather, 4 * n)
    call MPI_Allgather(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, comm, error)
    call expect(all(got == want), 'allgather', n)
    got = -1
    got(rank * n + 1:(rank + 1) * n) = sent(:n)
    call called(allgather, 4 * n)
    call MPI_Allgather(MPI_IN_PLACE, n, MPI_INTEGER, got, n, MPI_INTEGER, comm, error)
    call expect(all(got == want), 'allgather in place', n)

    do other = 0, ranks - 1
      want(other * n + 1:(other + 1) * n) = numbers(other, rank * n, n, 2)
    end do
    got = -1
    call called(alltoall, 4 * n)
    call MPI_Alltoall(sent, n, MPI_INTEGER, got, n, MPI_INTEGER, comm, error)
    call expect(all(got == want), 'alltoall', n)
    got = sent
    call called(alltoall, 4 * n)
    call MPI_Alltoall(MPI_IN_PLACE, n, MPI_INTEGER, got, n, MPI_INTEGER, comm, error)
    call expect(all(got == want), 'alltoall in place', n)
  end subroutine

  ! What an operator makes of the integers of all ranks: one sum, one by the program, one that does not commute.
  function folded(how, first, many, salt)
    integer, intent(in) :: how, first, many, salt
    integer :: folded(many), next(many), other
    folded = numbers(0, first, many, salt)
    do other = 1, ranks - 1
      next = numbers(other, first, many, salt)
      select case (how)
      case (1)
        next = next + folded
      case (2)
        call add_numbers(folded, next, many)
      case (3)
        call compose_pairs(folded, next, many / 2)
      end select
      folded = next
    end do
  end function

  subroutine reducing(n, root, salt)
    integer, intent(in) :: n, root, salt
    call reducing_by(1, 'sum', MPI_SUM, MPI_INTEGER, 1, n, root, salt)
    call reducing_by(2, 'by the program', adding, MPI_INTEGER, 1, n, root, salt)
    call reducing_by(3, 'not commutative', composing, pair, 2, n, root, salt)
  end subroutine

  ! `n` elements of `wide` integers each.
  subroutine reducing_by(how, what, op, element, wide, n, root, salt)
    integer, intent(in) :: how, wide, n, root, salt
    character(len=*), intent(in) :: what
    HANDLE(MPI_Op), intent(in) :: op
    HANDLE(MPI_Datatype), intent(in) :: element
    integer :: sent(wide * n * ranks), got(wide * n * ranks), of_each(ranks), many, first
    many = wide * n
    sent = numbers(rank, 0, many * ranks, salt)
    got = -1
    call called(reduce, 4 * many)
    call MPI_Reduce(sent, got, n, element, op, root, comm, error)
    call expect(rank /= root .or. all(got(:many) == folded(how, 0, many, salt)), 'reduce '//what, n)
    got = sent
    call called(reduce, 4 * many)
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, got, n, element, op, root, comm, error)
      call expect(all(got(:many) == folded(how, 0, many, salt)), 'reduce in place '//what, n)
    else
      call MPI_Reduce(sent, got, n, element, op, root, comm, error)
    end if

    got = -1
    call called(allreduce, 4 * many)
    call MPI_Allreduce(sent, got, n, element, op, comm, error)
    call expect(all(got(:many) == folded(how, 0, many, salt)), 'allreduce '//what, n)
    got = sent
    call called(allreduce, 4 * many)
    call MPI_Allreduce(MPI_IN_PLACE, got, n, element, op, comm, error)
    call expect(all(got(:many) == folded(how, 0, many, salt)), 'allreduce in place '//what, n)

    got = -1
    call called(reduce_scatter, 4 * many)
    call MPI_Reduce_scatter_block(sent, got, n, element, op, comm, error)
    call expect(all(got(:many) == folded(how, rank * many, many, salt)), 'reduce_scatter_block '//what, n)
    got = sent
    call called(reduce_scatter, 4 * many)
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, n, element, op, comm, error)
    call expect(all(got(:many) == folded(how, rank * many, many, salt)), 'reduce_scatter_block in place '//what, n)
    of_each = n
    got = -1
    call called(reduce_scatter, 4 * many)
    call MPI_Reduce_scatter(sent, got, of_each, element, op, comm, error)
    call expect(all(got(:many) == folded(how, rank * many, many, salt)), 'reduce_scatter '//what, n)
    ! One element more for the last rank, and one less for the first.
    of_each(1) = n - 1
    of_each(ranks) = n + 1
    first = wide * (rank * n - merge(0, 1, rank == 0))
    many = wide * of_each(rank + 1)
    got = -1
    call called(reduce_scatter, 4 * many)
    call MPI_Reduce_scatter(sent, got, of_each, element, op, comm, error)
    call expect(all(got(:many) == folded(how, first, many, salt)), 'irregular reduce_scatter '//what, n)
    call expect(all(sent == numbers(rank, 0, wide * n * ranks, salt)), 'input of reductions '//what, n)
  end subroutine

  ! Numbers that add up exactly, in types that C does not have.
  subroutine types_of_fortran(n)
    integer, intent(in) :: n
    double precision :: precise_ones(n), places(2, n)
    complex :: points(n)
    complex(kind(1.d0)) :: wide_points(n)
    logical :: words(n)
    integer :: low(2, n), at
    character(len=n) :: text
    real :: singles(n)
    integer :: sums
    sums = ranks * (ranks - 1) / 2
    precise_ones = [(rank + at, at = 1, n)]
    call called(allreduce, 8 * n)
    call MPI_Allreduce(MPI_IN_PLACE, precise_ones, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, error)
    call expect(all(precise_ones == [(sums + ranks * at, at = 1, n)]), 'double precision', n)
    precise_ones = [(rank + at, at = 1, n)]
    call called(allreduce, 8 * n)
    call MPI_Allreduce(MPI_IN_PLACE, precise_ones, n, precise, MPI_MAX, comm, error)
    call expect(all(precise_ones == [(ranks - 1 + at, at = 1, n)]), 'a type of 12 digits', n)
    singles = [(rank - at, at = 1, n)]
    call called(allreduce, 4 * n)
    call MPI_Allreduce(MPI_IN_PLACE, singles, n, MPI_REAL, MPI_MIN, comm, error)
    call expect(all(singles == [(-at, at = 1, n)]), 'real', n)
    points = [(cmplx(rank, at), at = 1, n)]
    call called(allreduce, 8 * n)
    call MPI_Allreduce(MPI_IN_PLACE, points, n, MPI_COMPLEX, MPI_SUM, comm, error)
    call expect(all(points == [(cmplx(sums, ranks * at), at = 1, n)]), 'complex', n)
    ! The product of i by itself, once for each rank.
    wide_points = (0.d0, 1.d0)
    call called(allreduce, 16 * n)
    call MPI_Allreduce(MPI_IN_PLACE, wide_points, n, MPI_DOUBLE_COMPLEX, MPI_PROD, comm, error)
    call expect(all(wide_points == (0.d0, 1.d0)**ranks), 'double complex', n)
    words = [(mod(at, ranks) /= rank, at = 1, n)]
    call called(allreduce, 4 * n)
    call MPI_Allreduce(MPI_IN_PLACE, words, n, MPI_LOGICAL, MPI_LAND, comm, error)
    call expect(.not. any(words), 'logical', n)
    ! The largest, which one rank has, and that rank.
    do at = 1, n
      places(:, at) = [merge(0.5d0 + at, -1.d0, mod(at, ranks) == rank), dble(rank)]
      low(:, at) = [mod(rank + at, ranks), rank]
    end do
    call called(allreduce, 16 * n)
    call MPI_Allreduce(MPI_IN_PLACE, places, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, comm, error)
    call expect(all(places(1, :) == [(0.5d0 + at, at = 1, n)]) .and. &
      all(places(2, :) == [(mod(at, ranks), at = 1, n)]), 'maxloc', n)
    call called(allreduce, 8 * n)
    call MPI_Allreduce(MPI_IN_PLACE, low, n, MPI_2INTEGER, MPI_MINLOC, comm, error)
    call expect(all(low(1, :) == 0) .and. all(mod(low(2, :) + [(at, at = 1, n)], ranks) == 0), 'minloc', n)
    text = merge(repeat('x', n), repeat('-', n), rank == 0)
    call called(bcast, n)
    call MPI_Bcast(text, n, MPI_CHARACTER, 0, comm, error)
    call expect(text == repeat('x', n), 'character', n)
  end subroutine

  ! Data that do not follow one another: rows of a matrix, every second element, and an address of its own.
  subroutine layouts()
    integer, volatile, target :: far(40)
    integer :: matrix(3, 20), spread(40), lengths(2)
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    HANDLE(MPI_Datatype) :: row, absolute
    call MPI_Type_vector(20, 1, 3, MPI_INTEGER, row, error)
    call MPI_Type_commit(row, error)
    matrix = rank
    call called(bcast, 80)
    call MPI_Bcast(matrix(2, 1), 1, row, 1, comm, error)
    call expect(all(matrix(2, :) == 1) .and. all(matrix(1::2, :) == rank), 'row', 20)
    call MPI_Type_free(row, error)
    spread = rank
    call called(bcast, 80)
    call MPI_Bcast(spread(1:40:2), 20, MPI_INTEGER, 1, comm, error)
    call expect(all(spread(1::2) == 1) .and. all(spread(2::2) == rank), 'section', 20)
    far = rank
    call MPI_Get_address(far(3), places(1), error)
    call MPI_Get_address(far(21), places(2), error)
    lengths = [5, 20]
    call MPI_Type_create_hindexed(2, lengths, places, MPI_INTEGER, absolute, error)
    call MPI_Type_commit(absolute, error)
    call called(bcast, 100)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 1, comm, error)
    call expect(all(far(3:7) == 1) .and. all(far(21:) == 1) .and. all(far(8:20) == rank) .and. &
      all(far(:2) == rank), 'bottom', 25)
    call MPI_Type_free(absolute, error)
  end subroutine

  subroutine messages()
    HANDLE(MPI_Request) :: requests(2), summing
    integer, volatile :: got, one, all_of_them
    integer :: next, before
    next = mod(rank + 1, ranks)
    before = mod(rank + ranks - 1, ranks)
    one = 1
    all_of_them = 0
    call called(iallreduce, 4)
    call MPI_Iallreduce(one, all_of_them, 1, MPI_INTEGER, MPI_SUM, comm, summing, error)
    got = -1
    call called(sendrecv, 4)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, next, 5, got, 1, MPI_INTEGER, before, 5, comm, MPI_STATUS_IGNORE, error)
    call expect(got == before, 'sendrecv', 1)
    got = -1
    call called(irecv, 4)
    call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, requests(1), error)
    call called(isend, 4)
    call MPI_Isend(rank, 1, MPI_INTEGER, next, 6, comm, requests(2), error)
    call called(waitall, 0)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call expect(got == before, 'isend', 1)
    got = -1
    if (rank == 0) then
      call called(send, 4)
      call MPI_Send(rank, 1, MPI_INTEGER, 1, 7, comm, error)
    else if (rank == 1) then
      call called(recv, 4)
      call MPI_Recv(got, 1, MPI_INTEGER, 0, 7, comm, MPI_STATUS_IGNORE, error)
      call expect(got == 0, 'send', 1)
    end if
    call called(waited, 0)
    call MPI_Wait(summing, MPI_STATUS_IGNORE, error)
    call expect(all_of_them == ranks, 'iallreduce', 1)
  end subroutine
end program
