// Runs one reduction of seven numbers, at most as many in a call as the argument says; prints what comes out.
#include "collective/program.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace hockney;

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    std::vector<float> input, output;
    for (int i = 0; i < 8; ++i) {
        input.push_back(static_cast<float>(i));
        output.push_back(100);
    }
    // The first number stays as it is: offsets count.
    constexpr Bytes element_B = sizeof(float);
    Step step;
    step.kind = Kind::reduce;
    step.from = {Memory::input, element_B, 7 * element_B};
    step.into = {Memory::output, element_B, 7 * element_B};
    RankSchedule schedule;
    schedule.steps = {step};
    Program program(schedule, MPI_COMM_WORLD, MPI_FLOAT, std::atoi(argv[1]));
    program.run(reinterpret_cast<std::byte*>(input.data()), reinterpret_cast<std::byte*>(output.data()),
                nullptr);
    for (const float number : output) std::printf("%g ", static_cast<double>(number));
    std::printf("\n");
    MPI_Finalize();
}
