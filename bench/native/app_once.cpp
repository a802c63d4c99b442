// Runs applications once each on all ranks, by themselves: no conversation, no rank that waits. Reads
// requests from the file that it is given, a line each; rank 0 prints "@ " and each answer.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "apps/app.hpp"
#include "request.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::ifstream file(argc > 1 ? argv[1] : "");
    for (std::string line; std::getline(file, line);) {
        const std::string answer = hockney::run_app(hockney::Request(line), MPI_COMM_WORLD);
        if (rank == 0) {
            std::printf("@ %s\n", answer.c_str());
            std::fflush(stdout);
        }
    }
    MPI_Finalize();
}
