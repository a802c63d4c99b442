// What the kernel tells of the ranks while they are measured: what may be behind a level of the machine.
#pragma once

#include <mpi.h>

#include <cmath>
#include <vector>

#include "json.hpp"

namespace hockney {

// Of one rank or of several, between two looks. NaN where the kernel does not tell; all of it in a
// simulation.
struct Causes {
    double span_s = NAN;                // from look to look
    double took_s = NAN;                // both looks
    double involuntary_switches = NAN;  // the system took the processor away; all ranks together
    double migrations = NAN;            // the system moved the rank to another processor; all together
    double waited_s = NAN;         // ready to run while its processor ran something else; the rank with most
    double stolen_s = NAN;         // the hypervisor's, mean over the rank's processors; the rank with most
    double siblings_busy_s = NAN;  // work of the other hardware threads of the rank's cores; as above
    double frequency_Hz = NAN;     // of the rank's processor at the second look; the slowest

    // As `causes`; nothing where there was no look.
    void add_to(JsonObject& record) const;
};

Causes combined(const std::vector<Causes>& of_ranks);
// Collective: `combined` of all ranks on rank 0, this rank's own elsewhere.
Causes combined(const Causes& own, MPI_Comm comm);

// Looks twice: when it is made and when it is asked. Not to be done inside a timed stretch.
class CausesWatch {
  public:
    CausesWatch();
    Causes so_far() const;

  private:
    // Since the rank started, and of its processors since the machine did.
    struct Counts {
        double switches, migrations, waited_s, stolen_s, siblings_busy_s;
    };
    static Counts look();

    double begin_s_ = 0, first_look_s_ = 0;
    Counts first_{};
};

}  // namespace hockney
