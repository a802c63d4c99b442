// pingping: both ranks send at once and then receive; the time of a message obstructed by an oncoming one
// (IMB-MPI1 PingPing: MPI_Isend, MPI_Recv, MPI_Wait; the whole interval counts as one message).
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_pingping {
namespace {

double run(Pair& pair, long repetitions) {
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        MPI_Request request;
        MPI_Isend(pair.send.next(), pair.payload.count(), pair.payload.type(), pair.partner, Pair::tag,
                  pair.comm, &request);
        pair.receive_one();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return now_s() - start;
}

const RegisterKernel registered("pingping", Kernel(run).to_leader().to_follower());

}  // namespace
}  // namespace hockney::kernel_pingping
