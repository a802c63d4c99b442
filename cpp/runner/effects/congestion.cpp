// congestion: pairs across a bisection of the ranks stream at once (Hoefler, Schneider, Lumsdaine, Cluster
// 2008).
//
//   effect operation=congestion members=0-7 pairs=0,5,2,4,7,1,3,6 bytes=1048576 window=8 sample_s=0 …
//
// `pairs`: sender and receiver of each pair, by their place among the members.
#include "effect.hpp"
#include "streams/streams.hpp"

namespace hockney::effect_congestion {
namespace {

std::string run(const Request& request, MPI_Comm comm) {
    return stream(request, comm, request.wholes("pairs", ranks_of(comm)));
}

const RegisterEffect registered("congestion", {run, any_number});

}  // namespace
}  // namespace hockney::effect_congestion
