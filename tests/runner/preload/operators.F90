! The operators of collectives.F90, as its binding (-DUSE_MPI_F08 or another) calls them.
module operators
#ifdef USE_MPI_F08
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
#endif
  implicit none
  integer, parameter :: prime = 10007
contains
  ! x -> a x + b modulo a prime, one after the other: associative, and not commutative.
  subroutine compose_pairs(first, both, length)
    integer, intent(in) :: length, first(2, length)
    integer, intent(inout) :: both(2, length)
    integer :: i
    do i = 1, length
      both(2, i) = mod(first(2, i) * both(1, i) + both(2, i), prime)
      both(1, i) = mod(first(1, i) * both(1, i), prime)
    end do
  end subroutine

  subroutine add_numbers(first, both, length)
    integer, intent(in) :: length, first(length)
    integer, intent(inout) :: both(length)
    both = mod(first + both, prime)
  end subroutine

#ifdef USE_MPI_F08
  subroutine compose(from, into, length, datatype)
    type(c_ptr), value :: from, into
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: first(:, :), both(:, :)
    call c_f_pointer(from, first, [2, length])
    call c_f_pointer(into, both, [2, length])
    call compose_pairs(first, both, length)
  end subroutine

  subroutine add(from, into, length, datatype)
    type(c_ptr), value :: from, into
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: first(:), both(:)
    call c_f_pointer(from, first, [length])
    call c_f_pointer(into, both, [length])
    call add_numbers(first, both, length)
  end subroutine
#else
  subroutine compose(first, both, length, datatype)
    integer :: length, datatype, first(2, length), both(2, length)
    call compose_pairs(first, both, length)
  end subroutine

  subroutine add(first, both, length, datatype)
    integer :: length, datatype, first(length), both(length)
    call add_numbers(first, both, length)
  end subroutine
#endif
end module
