// receive_overhead: o_r, the processor time of one MPI_Recv whose message has arrived: the follower sends a
// handful, the leader works until they are there and only then receives.
#include "../clock.hpp"
#include "kernel.hpp"

namespace hockney::kernel_receive_overhead {
namespace {

// Few enough to fit any library's eager buffers, enough to be long beside a reading of the clock.
constexpr long handful = 16;

double run(Pair& pair, long repetitions) {
    double receiving_s = 0;
    for (long done = 0; done < repetitions;) {
        const long now = repetitions - done < handful ? repetitions - done : handful;
        if (pair.leader) {
            pair.send_signal();
            pair.work(handful);
            const double start = now_s();
            for (long i = 0; i < now; ++i) pair.receive_one();
            receiving_s += now_s() - start;
        } else {
            pair.receive_signal();
            for (long i = 0; i < now; ++i) pair.send_one();
        }
        done += now;
    }
    return receiving_s;
}

// Above the usual eager limits a call waits for the other side: no overhead any more.
constexpr long eager_B = 1024;

const RegisterKernel registered("receive_overhead",
                                Kernel(run).to_leader().working().up_to(eager_B).in_pieces_of(handful));

}  // namespace
}  // namespace hockney::kernel_receive_overhead
