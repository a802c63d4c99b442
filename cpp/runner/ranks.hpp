// What the ranks of a communicator tell each other, outside of what is timed.
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hockney {

inline int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int ranks_of(MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

// Whether every rank of `comm` says so. Collective.
inline bool all_agree(bool mine, MPI_Comm comm) {
    int own = mine ? 1 : 0, all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_LAND, comm);
    return all != 0;
}

// A communicator that is freed with this.
class OwnComm {
  public:
    explicit OwnComm(MPI_Comm comm) : comm_(comm) {}
    ~OwnComm() { MPI_Comm_free(&comm_); }
    OwnComm(const OwnComm&) = delete;
    OwnComm& operator=(const OwnComm&) = delete;
    MPI_Comm comm() const { return comm_; }

  private:
    MPI_Comm comm_;
};

// The ranks of `comm` on this rank's host. Collective.
inline OwnComm host_ranks(MPI_Comm comm) {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    return OwnComm(host);
}

// What cannot be done here, as the answer that says so.
class Refusal : public std::runtime_error {
  public:
    // `reason` is `memory`, `library`, `file` or `constraint`.
    Refusal(const char* reason, const std::string& message);
    // Buffers of `needed_B` do not fit.
    Refusal(double needed_B, double available_B);
};

// The record that `run` returns, or the answer that says what it threw.
std::string answered(const std::function<std::string()>& run);

// Collective: throws Refusal on every rank where what the ranks of any host need together is more than the
// share of its free memory that buffers may take. To be called before anything is allocated.
void require_memory(double needed_B, MPI_Comm comm);

// Collective: throws Refusal on every rank where `is_fine` is false on any; `message` is that of the lowest
// such rank.
void require_all(bool is_fine, const char* reason, const std::string& message, MPI_Comm comm);

// On rank 0 one value of each rank, empty on the others. Collective.
std::vector<double> gather(double value, MPI_Comm comm);
std::vector<long> gather(long value, MPI_Comm comm);
std::vector<std::string> gather(const std::string& text, MPI_Comm comm);

}  // namespace hockney
