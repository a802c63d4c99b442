// One clock for all ranks of a communicator, as far as that can be had.
#pragma once

#include <mpi.h>

namespace hockney {

// Ranks of one host share its clock. Between hosts the offset to rank 0's clock is estimated from the
// quickest of many exchanges (Cristian 1989) and taken as linear in time between two estimates, which removes
// drift (Hunold and Carpen-Amarie, TPDS 2016).
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
    // ranks. What both estimates have in common, at most half an exchange, does not show. 0 where all ranks
    // share a clock.
    double residual_s();

    double to_global(double local_s) const { return local_s - offset_at(local_s); }
    double to_local(double global_s) const { return global_s + offset_at(global_s); }

    // Collective over the ranks of this host: whether two of them are on one processor now.
    bool shares_processor() const;

  private:
    struct Reading {
        double at_s = 0, offset_s = 0;  // local time; local minus global
    };

    double offset_at(double time_s) const { return latest_.offset_s + rate_ * (time_s - latest_.at_s); }
    Reading read();
    Reading read_against(int leader) const;
    void serve(int leader) const;

    MPI_Comm hosts_ = MPI_COMM_NULL;  // one rank of each host; null on the others
    MPI_Comm host_ = MPI_COMM_NULL;   // the ranks of this host
    int host_count_ = 1;
    Reading anchor_, latest_;
    double rate_ = 0;  // of the offset, in seconds per second
};

}  // namespace hockney
