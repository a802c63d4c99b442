// Who sent how much to whom, as the MPI library counts it beneath its collectives.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hockney {

// What this rank has sent to each rank of a communicator.
struct Traffic {
    std::vector<long> messages, bytes;
};

// Counts from its making on. Open MPI counts when it was launched with `pml_monitoring_enable` 1 (messages
// inside collectives included); this costs time, so that a launch that measures goes without. Local.
class TrafficMeter {
  public:
    explicit TrafficMeter(MPI_Comm comm);
    ~TrafficMeter();
    TrafficMeter(const TrafficMeter&) = delete;
    TrafficMeter& operator=(const TrafficMeter&) = delete;

    // Nothing where the library does not count.
    std::optional<Traffic> since() const;

  private:
    struct Counters;
    std::unique_ptr<Counters> counters_;
};

// One row for each rank, as a JSON list of lists on rank 0. Collective.
std::string matrix_json(const std::vector<long>& row, MPI_Comm comm);

}  // namespace hockney
