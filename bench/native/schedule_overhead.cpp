// Times a schedule as the runner executes it against the same algorithm written by hand, turn and turn about
// in one launch. Prints one line for each algorithm and size: name, bytes, median seconds of a call by
// schedule, by hand, and the median of the ratios of neighbouring batches.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "collective/program.hpp"

using namespace hockney;

namespace {

struct World {
    int rank, ranks;
    MPI_Comm comm;
};

using Data = std::byte*;

// Binomial broadcast from `root`.
void bcast_binomial(const World& w, Data data, int bytes, int root) {
    const int v = (w.rank - root + w.ranks) % w.ranks;
    int bit = 1;
    while (bit <= v) bit *= 2;
    if (v > 0) MPI_Recv(data, bytes, MPI_BYTE, (v - bit / 2 + root) % w.ranks, 0, w.comm, MPI_STATUS_IGNORE);
    for (; v + bit < w.ranks; bit *= 2)
        MPI_Send(data, bytes, MPI_BYTE, (v + bit + root) % w.ranks, 0, w.comm);
}

// Recursive doubling for powers of two. The sum lies in one of two buffers, whichever the reduction writes.
void allreduce_recursive_doubling(const World& w, Data input, Data output, Data scratch, int bytes) {
    std::memcpy(output, input, static_cast<std::size_t>(bytes));
    Data sum = output, other = scratch;
    for (int bit = 1; bit < w.ranks; bit *= 2) {
        const int partner = w.rank ^ bit;
        MPI_Sendrecv(sum, bytes, MPI_BYTE, partner, 0, other, bytes, MPI_BYTE, partner, 0, w.comm,
                     MPI_STATUS_IGNORE);
        if (partner < w.rank) {
            MPI_Reduce_local(other, sum, bytes / 4, MPI_FLOAT, MPI_SUM);
        } else {
            MPI_Reduce_local(sum, other, bytes / 4, MPI_FLOAT, MPI_SUM);
            std::swap(sum, other);
        }
    }
    if (sum != output) std::memcpy(output, sum, static_cast<std::size_t>(bytes));
}

// Ring: P − 1 steps, each rank passes on the block it got last.
void allgather_ring(const World& w, Data input, Data output, int bytes) {
    const int next = (w.rank + 1) % w.ranks, previous = (w.rank - 1 + w.ranks) % w.ranks;
    std::memcpy(output + w.rank * bytes, input, static_cast<std::size_t>(bytes));
    for (int step = 0; step < w.ranks - 1; ++step) {
        const int give = (w.rank - step + w.ranks) % w.ranks, take = (give - 1 + w.ranks) % w.ranks;
        MPI_Sendrecv(output + give * bytes, bytes, MPI_BYTE, next, 0, output + take * bytes, bytes, MPI_BYTE,
                     previous, 0, w.comm, MPI_STATUS_IGNORE);
    }
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

class Bench {
  public:
    Bench(const World& w, int bytes)
        : w_(w), bytes_(bytes), input_(size(), std::byte{0}), output_(size(), std::byte{0}), other_(size()) {}

    void run(const std::string& collective, const std::string& name) {
        Problem p;
        p.ranks = w_.ranks;
        p.bytes = bytes_;
        p.element_B = collective == "allreduce" ? 4 : 1;
        std::vector<std::unique_ptr<Program>> programs;
        const int roots = collective == "bcast" ? w_.ranks : 1;
        Bytes scratch_B = 0;
        for (p.root = 0; p.root < roots; ++p.root) {
            const RankSchedule schedule = generate(algorithms().at({collective, name}), p, w_.rank);
            scratch_B = std::max(scratch_B, schedule.scratch_B);
            programs.push_back(std::make_unique<Program>(schedule, w_.comm, MPI_FLOAT));
        }
        std::vector<std::byte> scratch(static_cast<std::size_t>(scratch_B));
        // The root moves on, so that a broadcast cannot run ahead of its receivers.
        const auto by_schedule = [&](int i) {
            programs[static_cast<std::size_t>(i % roots)]->run(input_.data(), output_.data(), scratch.data());
        };
        const auto by_hand = [&](int i) {
            if (collective == "bcast") bcast_binomial(w_, output_.data(), bytes_, i % roots);
            if (collective == "allreduce")
                allreduce_recursive_doubling(w_, input_.data(), output_.data(), other_.data(), bytes_);
            if (collective == "allgather") allgather_ring(w_, input_.data(), output_.data(), bytes_);
        };
        // Batches of about 200 µs, a few hundred pairs of them.
        int calls = bytes_ > 65536 ? 2 : 200;
        std::vector<double> schedule_s, hand_s, ratios;
        for (int pair = -20; pair < 400; ++pair) {
            double took_s[2];
            for (int turn = 0; turn < 2; ++turn) {
                // Each goes first as often as the other.
                const bool hand = (turn == 0) == (pair % 2 == 0);
                MPI_Barrier(w_.comm);
                const double start_s = now_s();
                if (hand)
                    for (int i = 0; i < calls; ++i) by_hand(i);
                else
                    for (int i = 0; i < calls; ++i) by_schedule(i);
                took_s[hand ? 1 : 0] = (now_s() - start_s) / calls;
            }
            if (pair < 0) continue;  // warm-up
            schedule_s.push_back(took_s[0]);
            hand_s.push_back(took_s[1]);
            ratios.push_back(took_s[0] / took_s[1]);
        }
        if (w_.rank == 0)
            std::printf("%s/%s %d %.9g %.9g %.5f\n", collective.c_str(), name.c_str(), bytes_,
                        median(schedule_s), median(hand_s), median(ratios));
    }

  private:
    std::size_t size() const { return static_cast<std::size_t>(bytes_) * static_cast<std::size_t>(w_.ranks); }

    World w_;
    int bytes_;
    std::vector<std::byte> input_, output_, other_;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    World w{0, 0, MPI_COMM_WORLD};
    MPI_Comm_rank(w.comm, &w.rank);
    MPI_Comm_size(w.comm, &w.ranks);
    for (const int bytes : {8, 1024, 1 << 20}) {
        Bench bench(w, bytes);
        bench.run("bcast", "binomial");
        bench.run("allreduce", "recursive_doubling");
        if (algorithms().count({"allgather", "ring"}) != 0) bench.run("allgather", "ring");
    }
    MPI_Finalize();
}
