// What the layer has from the runner: the executor of schedules and the common clock, by the library's own
// names: no tool of the user's sees our messages.
#include <mpi.h>

#define MPI_Allgather PMPI_Allgather
#define MPI_Allreduce PMPI_Allreduce
#define MPI_Bcast PMPI_Bcast
#define MPI_Comm_free PMPI_Comm_free
#define MPI_Comm_get_attr PMPI_Comm_get_attr
#define MPI_Comm_rank PMPI_Comm_rank
#define MPI_Comm_size PMPI_Comm_size
#define MPI_Comm_split PMPI_Comm_split
#define MPI_Irecv PMPI_Irecv
#define MPI_Isend PMPI_Isend
#define MPI_Recv PMPI_Recv
#define MPI_Reduce_local PMPI_Reduce_local
#define MPI_Send PMPI_Send
#define MPI_Sendrecv PMPI_Sendrecv
#define MPI_Type_commit PMPI_Type_commit
#define MPI_Type_contiguous PMPI_Type_contiguous
#define MPI_Type_create_struct PMPI_Type_create_struct
#define MPI_Type_free PMPI_Type_free
#define MPI_Type_get_extent PMPI_Type_get_extent
#define MPI_Wait PMPI_Wait
#define MPI_Waitall PMPI_Waitall

#include "../runner/buffers.cpp"
#include "../runner/clock.cpp"
#include "../runner/collective/program.cpp"
#include "../runner/json.cpp"
#include "../runner/sync/global_clock.cpp"
