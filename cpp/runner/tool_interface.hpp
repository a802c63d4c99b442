// MPI_T (MPI 3.1, chapter 14), begun once and never finalised: MPICH 4.0 finds no variable after a second
// initialisation.
#pragma once

#include <mpi.h>

namespace hockney {

#ifndef HOCKNEY_NO_MPI_T

// Whether it is there; MPI must have been initialised. Open MPI takes the level of threads asked for here for
// that of MPI itself, so it must be the same.
inline bool has_tool_interface() {
    static const bool done = [] {
        int level = MPI_THREAD_SINGLE, provided = 0;
        MPI_Query_thread(&level);
        return MPI_T_init_thread(level, &provided) == MPI_SUCCESS;
    }();
    return done;
}

#endif

}  // namespace hockney
