// Processes that the program begins while MPI is initialised: they are not seen.
#pragma once

#include <string>

namespace hockney {

enum Beginning { by_fork, by_mpi, by_system, by_popen, by_posix_spawn, beginnings };

void note_begun(Beginning how);
// What was waited for before is nobody's of those that come.
void expect_children();
// A line of notes for each kind that there was.
std::string begun();

}  // namespace hockney
