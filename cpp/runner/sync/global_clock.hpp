// One clock for all ranks of a communicator, as far as that can be had.
#pragma once

#include <mpi.h>

namespace hockney {

// The offset to rank 0's clock is estimated from the quickest of many exchanges (Cristian 1989). Between
// hosts it is taken as linear in time between two estimates, which removes drift (Hunold and Carpen-Amarie,
// TPDS 2016). Ranks of one host share its clock, but not to the nanosecond: between two virtual processors
// its readings were found to jump by 10 to 40 ns every few seconds, a third of a small broadcast, while round
// trips stayed the same. So the offset to the host's first rank is estimated too, wherever both have a
// processor of their own.
class GlobalClock {
  public:
    // Collective over `comm`, which must outlive the clock.
    explicit GlobalClock(MPI_Comm comm);
    ~GlobalClock();
    GlobalClock(const GlobalClock&) = delete;
    GlobalClock& operator=(const GlobalClock&) = delete;

    // Collective: estimates the offset anew; the drift follows from an estimate that lies some time back.
    void synchronise();
    // Collective: estimates once more and returns the largest difference to what the line says, over all
    // ranks. What both estimates have in common, at most half an exchange, does not show.
    double residual_s();

    double to_global(double local_s) const { return local_s - offset_at(local_s); }
    double to_local(double global_s) const { return global_s + offset_at(global_s); }

    // Collective over the ranks of this host: whether two of them are on one processor now.
    bool shares_processor() const;

  private:
    struct Reading {
        double at_s = 0, offset_s = 0;  // local time; local minus global
    };

    double offset_at(double time_s) const {
        return in_host_s_ + latest_.offset_s + rate_ * (time_s - latest_.at_s);
    }
    Reading read_between_hosts() const;
    double read_in_host() const;

    MPI_Comm hosts_ = MPI_COMM_NULL;  // one rank of each host; null on the others
    MPI_Comm host_ = MPI_COMM_NULL;   // the ranks of this host
    int host_count_ = 1;
    Reading anchor_, latest_;
    double rate_ = 0;       // of the offset between hosts, in seconds per second
    double in_host_s_ = 0;  // local minus the clock of the host's first rank
};

}  // namespace hockney
