// bidirectional: both ranks post a window of receives and a window of sends (osu_bibw); the time per message
// pair.
#include <vector>

#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_bidirectional {
namespace {

double run(Pair& pair, long repetitions) {
    const auto window = static_cast<std::size_t>(pair.window);
    std::vector<MPI_Request> requests(2 * window);
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        std::byte* received = pair.receive.next();
        std::byte* sent = pair.send.next();
        for (std::size_t w = 0; w < window; ++w)
            MPI_Irecv(received, pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag, pair.comm,
                      &requests[w]);
        for (std::size_t w = 0; w < window; ++w)
            MPI_Isend(sent, pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag, pair.comm,
                      &requests[window + w]);
        MPI_Waitall(2 * pair.window, requests.data(), MPI_STATUSES_IGNORE);
        pair.answer();
    }
    return (now_s() - start) / pair.window;
}

const RegisterKernel registered("bidirectional", Kernel(run).to_leader().to_follower().in_windows());

}  // namespace
}  // namespace hockney::kernel_bidirectional
