// reduce_local: both ranks add up a message's numbers with what they have, as after each message of a
// reduction; the time of MPI_Reduce_local.
#include <vector>

#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_reduce_local {
namespace {

double run(Pair& pair, long repetitions) {
    const auto count = static_cast<std::size_t>(pair.payload.bytes()) / sizeof(float);
    const std::vector<float> there(count, 1.0F);
    std::vector<float> here(count, 0.0F);
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i)
        MPI_Reduce_local(there.data(), here.data(), static_cast<int>(count), MPI_FLOAT, MPI_SUM);
    return now_s() - start;
}

const RegisterKernel registered("reduce_local", Kernel(run));

}  // namespace
}  // namespace hockney::kernel_reduce_local
