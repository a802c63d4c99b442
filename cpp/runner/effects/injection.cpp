// injection: k pairs stream at once, for what a process injects alone and what several share.
//
//   effect operation=injection members=0,4,1,5 bytes=65536 window=16 sample_s=5e-4 repetitions=0 …
//
// Member 2i sends to member 2i + 1. Gropp, Olson, Samfass, EuroMPI 2016.
#include <numeric>

#include "effect.hpp"
#include "streams/streams.hpp"

namespace hockney::effect_injection {
namespace {

std::string run(const Request& request, MPI_Comm comm) {
    std::vector<int> ends(static_cast<std::size_t>(ranks_of(comm)));
    std::iota(ends.begin(), ends.end(), 0);
    return stream(request, comm, ends);
}

const RegisterEffect registered("injection", {run, any_number});

}  // namespace
}  // namespace hockney::effect_injection
