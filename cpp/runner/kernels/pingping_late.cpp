// pingping_late: both ranks post a receive, send and wait for both; the follower does so when the leader's
// message is there, or what asks for a large one. So it answers at once and then asks itself: over a stream
// that keeps its order, the leader's data are ahead of the leader's answer, and the messages take turns.
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_pingping_late {
namespace {

double run(Pair& pair, long repetitions) {
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        MPI_Request requests[2];
        if (!pair.leader) MPI_Probe(pair.partner, Pair::tag, pair.comm, MPI_STATUS_IGNORE);
        MPI_Irecv(pair.receive.next(), pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag,
                  pair.comm, &requests[0]);
        MPI_Isend(pair.send.next(), pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag,
                  pair.comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return now_s() - start;
}

const RegisterKernel registered("pingping_late", Kernel(run).to_leader().to_follower());

}  // namespace
}  // namespace hockney::kernel_pingping_late
