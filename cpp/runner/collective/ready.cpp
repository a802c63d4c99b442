#include "ready.hpp"

#include <algorithm>

#include "../placement.hpp"
#include "../point.hpp"
#include "offer.hpp"
#include "schedule_call.hpp"

namespace hockney {

std::pair<Bytes, Bytes> sizes_B(const Collective& collective, Problem problem, const std::vector<int>& roots,
                                int rank) {
    std::pair<Bytes, Bytes> largest{0, 0};
    for (const int root : roots) {
        problem.root = root;
        largest.first = std::max(largest.first, collective.input_B(problem, rank));
        largest.second = std::max(largest.second, collective.output_B(problem, rank));
    }
    return largest;
}

bool fits_memory(double& needed_B, const Group& group) {
    // All may share one host; scratch of ours and buffers of the library come on top.
    const double own_B = 2 * needed_B, available_B = available_memory_B();
    MPI_Allreduce(&own_B, &needed_B, 1, MPI_DOUBLE, MPI_SUM, group.control);
    return all_agree(available_B == 0 || needed_B < memory_share * available_B, group.control);
}

Ready make_ready(const Request& request, const Problem& problem, const std::vector<int>& roots,
                 const Group& group) {
    const Collective& collective = *find_collective(request.text("operation"));
    const std::string& name = request.text("algorithm");
    const LibraryAlgorithm* library = find_library_algorithm(collective.name, name);
    Ready ready;
    ready.selection = library == nullptr ? std::make_unique<Selection>(group.comm)
                                         : std::make_unique<Selection>(*library, problem.segment_B,
                                                                       problem.radix, group.comm);
    const MPI_Comm comm = ready.selection->comm();
    const Algorithm* schedule = find_schedule(collective.name, name);
    ready.call = schedule != nullptr
                     ? schedule_call(*schedule, problem, roots, comm)
                     : library_call(collective, problem, comm, ready.selection->nonblocking());
    return ready;
}

}  // namespace hockney
