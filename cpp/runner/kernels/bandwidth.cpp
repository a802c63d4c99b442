// bandwidth: a window of non-blocking sends, answered once when all have arrived (osu_bw). The messages of a
// window share one buffer on either side, as in osu_bw: what is measured is the channel, not the memory
// behind window × size bytes.
#include <vector>

#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_bandwidth {
namespace {

double run(Pair& pair, long repetitions) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(pair.window));
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        std::byte* buffer = pair.leader ? pair.send.next() : pair.receive.next();
        for (MPI_Request& request : requests) {
            if (pair.leader)
                MPI_Isend(buffer, pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag,
                          pair.comm, &request);
            else
                MPI_Irecv(buffer, pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag,
                          pair.comm, &request);
        }
        MPI_Waitall(pair.window, requests.data(), MPI_STATUSES_IGNORE);
        pair.answer();
    }
    return (now_s() - start) / pair.window;
}

const RegisterKernel registered("bandwidth", Kernel(run).to_follower().in_windows());

}  // namespace
}  // namespace hockney::kernel_bandwidth
