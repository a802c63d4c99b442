// Messages that travel once around a ring of processes, in both directions at once.
//
//   app operation=ring ranks=4 repetitions=0 least_samples=6 budget_s=1 tolerance=0.01
//
// Each process sends its message to the left and to the right; what arrives goes on, after the process has
// added its rank to the message that came from its left and subtracted it from the one that came from its
// right, until its own messages are back. Their tag is ten times the rank of the process that sent them
// first.
#include "../clock.hpp"
#include "app.hpp"

namespace hockney {
namespace {

constexpr int tag_factor = 10;

struct Ring {
    MPI_Comm comm;
    int rank = 0, ranks = 0;
    int left = 0, right = 0;
    int from_left = 0, from_right = 0;  // the values that arrived last
    int from_left_tag = 0, from_right_tag = 0;
    long received = 0;

    explicit Ring(MPI_Comm comm_) : comm(comm_) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        left = (rank + ranks - 1) % ranks;
        right = (rank + 1) % ranks;
    }

    double once() {
        int to_right = rank, to_left = -rank;
        from_left_tag = from_right_tag = tag_factor * rank;
        received = 0;
        const double start_s = now_s();
        for (int hop = 0; hop < ranks; ++hop) {
            MPI_Status status;
            MPI_Sendrecv(&to_right, 1, MPI_INT, right, from_left_tag, &from_left, 1, MPI_INT, left,
                         MPI_ANY_TAG, comm, &status);
            from_left_tag = status.MPI_TAG;
            MPI_Sendrecv(&to_left, 1, MPI_INT, left, from_right_tag, &from_right, 1, MPI_INT, right,
                         MPI_ANY_TAG, comm, &status);
            from_right_tag = status.MPI_TAG;
            received += 2;
            to_right = from_left + rank;
            to_left = from_right - rank;
        }
        return now_s() - start_s;
    }
};

std::string run(const Request& request, MPI_Comm comm) {
    Ring ring(comm);
    const std::vector<double> samples_s = repeat(Repetitions(request), comm, [&ring] { return ring.once(); });
    const std::vector<double> tags = gather(ring.from_left_tag, comm);
    JsonObject record;
    record.add("type", "record");
    add_times(record, samples_s);
    return record.add("tags", tags).str();
}

const RegisterApp registered("ring", {run});

}  // namespace
}  // namespace hockney
