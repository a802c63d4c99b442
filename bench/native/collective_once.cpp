// Runs schedules once each on a simulated cluster, where a second time would be the same. All ranks begin
// together, because a simulation has one clock. Each line of the input names a collective, an algorithm,
// bytes and a segment; each line of the output is the same with the seconds from the beginning to the last
// exit.
#include <mpi.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "../schedule/collective.hpp"
#include "collective/program.hpp"

using namespace hockney;

namespace {

std::size_t size_of(Bytes length_B) { return static_cast<std::size_t>(std::max<Bytes>(length_B, 1)); }

// A time that is still to come for every rank; the simulated clock is the same for all.
void begin_together() {
    double now_s = MPI_Wtime(), latest_s = 0;
    MPI_Allreduce(&now_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const auto wait_ns = static_cast<long>((latest_s + 0.1 - MPI_Wtime()) * 1e9);
    const timespec wait{wait_ns / 1'000'000'000, wait_ns % 1'000'000'000};
    nanosleep(&wait, nullptr);
}

double seconds(const Collective& collective, const Algorithm& algorithm, const Problem& problem, int rank) {
    std::vector<std::byte> input(size_of(collective.input_B(problem, rank)));
    std::vector<std::byte> output(size_of(collective.output_B(problem, rank)));
    const RankSchedule schedule = generate(algorithm, problem, rank);
    std::vector<std::byte> scratch(size_of(schedule.scratch_B));
    Program program(schedule, MPI_COMM_WORLD, MPI_FLOAT);
    begin_together();
    const double start_s = MPI_Wtime();
    program.run(input.data(), output.data(), scratch.data());
    const double own_s = MPI_Wtime() - start_s;
    double latest_s = 0;
    MPI_Reduce(&own_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return latest_s;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::ifstream lines(argv[1]);
    std::string collective, name;
    for (Bytes size_B = 0, segment_B = 0; lines >> collective >> name >> size_B >> segment_B;) {
        Problem problem;
        problem.ranks = ranks;
        problem.bytes = size_B;
        problem.element_B = 4;
        problem.segment_B = segment_B;
        const double took_s =
            seconds(*find_collective(collective), algorithms().at({collective, name}), problem, rank);
        if (rank == 0) {
            std::printf("@ %s %s %lld %lld %.9g\n", collective.c_str(), name.c_str(),
                        static_cast<long long>(size_B), static_cast<long long>(segment_B), took_s);
            std::fflush(stdout);
        }
    }
    MPI_Finalize();
}
