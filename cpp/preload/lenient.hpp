#pragma once

#include <mpi.h>

namespace hockney {

// While it lives, errors on a communicator are returned, whatever handler the program set.
class Lenient {
  public:
    explicit Lenient(MPI_Comm comm) : comm_(comm) {
        PMPI_Comm_get_errhandler(comm_, &before_);
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    }
    ~Lenient() {
        PMPI_Comm_set_errhandler(comm_, before_);
        PMPI_Errhandler_free(&before_);
    }
    Lenient(const Lenient&) = delete;
    Lenient& operator=(const Lenient&) = delete;

  private:
    MPI_Comm comm_;
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace hockney
