#include "shared_memory.hpp"

#include <cstdio>
#include <fstream>

namespace hockney {

long shared_B() {
    std::ifstream maps("/proc/self/maps");
    long total = 0;
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0;
        char mode[5] = "";
        if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, mode) == 3 && mode[3] == 's')
            total += static_cast<long>(end - begin);
    }
    return total;
}

bool first_call_maps_memory(const std::string& operation, MPI_Comm comm) {
    const long before = shared_B();
    int in = 1, out = 0;
    if (operation == "bcast") MPI_Bcast(&in, 1, MPI_INT, 0, comm);
    if (operation == "reduce") MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, 0, comm);
    if (operation == "allreduce") MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
    if (operation == "barrier") MPI_Barrier(comm);
    return shared_B() > before;
}

}  // namespace hockney
