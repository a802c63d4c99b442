// send_overhead: o_s, the processor time of one MPI_Send, from messages kept apart by work that outlasts
// their delivery, minus the same work alone (the delay d of PRTT(n, d, s) in Hoefler, Lichei and Rehm, IPDPS
// 2007).
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_send_overhead {
namespace {

double run(Pair& pair, long repetitions) {
    if (!pair.leader) {
        for (long i = 0; i < repetitions; ++i) pair.receive_one();
        pair.send_signal();
        return 0;
    }
    const double start = now_s();
    for (long i = 0; i < repetitions; ++i) {
        pair.send_one();
        pair.work();
    }
    const double with_sends = now_s();
    for (long i = 0; i < repetitions; ++i) pair.work();
    const double work_only = now_s() - with_sends;
    pair.receive_signal();
    return with_sends - start - work_only;
}

// Above the usual eager limits a call waits for the other side: no overhead any more.
constexpr long eager_B = 1024;

const RegisterKernel registered("send_overhead",
                                Kernel(run).to_follower().subtracting().up_to(eager_B).in_pieces_of(16));

}  // namespace
}  // namespace hockney::kernel_send_overhead
