// Simulation of schedules under LogGOPS costs (Hoefler, Schneider and Lumsdaine 2010) that depend on size and
// locality, with links that ranks share (max-rate; Gropp, Olson and Samfass 2016) where asked.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../replay/replay.hpp"
#include "evaluate.hpp"
#include "goal.hpp"

namespace hockney {

// One operation after another; each rank goes on to the next by itself.
struct Phase {
    const Algorithm* algorithm = nullptr;
    Problem problem;                    // of what follows the number of ranks only
    const Schedule* written = nullptr;  // instead of an algorithm
    const Graph* graph = nullptr;       // or this
    const Replay* replay = nullptr;     // or this
};

struct Simulated {
    std::vector<double> finish_s;  // [phase × ranks + rank]; or by class
    std::vector<std::int64_t>
        ranks_of_class;         // one for all that do the same at the same times; none: each rank
    std::int64_t messages = 0;  // of all ranks
    std::size_t work = 0;       // events taken and places looked at
    std::vector<Bytes> size_B;  // the sizes that occurred
    // How often each cost lies on the critical path to the last rank's finish; same layout as the costs.
    std::vector<double> critical;
    // Of a replay: where time goes, and for each of them seconds of computing and of communication on that
    // path, those that all ranks are idle, and those for what the other end had not come to.
    std::vector<Spot> spots;
    std::vector<double> of_spots_s;
    double worked_s = 0;  // computing of all ranks
    std::vector<Moment> moments;
    std::unordered_map<std::uint64_t, double> idle_of_pair_s;  // as of Waits
    std::string alone;                                         // a message of which one end is missing
    double engine_s = 0;                                       // generating and simulating
};

struct Options {
    Domains domains;
    Network network;  // without ranks: nothing is shared
    Noise noise;
    bool by_class = false;  // one rank stands for all that do the same; only where they all cost the same
    bool trace = false;     // fills `critical`
    Window window;          // of the moments that are kept of a replay
    Bytes most_B = most_held_B;  // of memory
};

// From nothing: steps are generated as they are needed. Throws std::invalid_argument for a cost that is no
// number or endless, or a schedule that blocks; TooLarge for more memory than there may be.
Simulated simulate(const std::vector<Phase>& phases, const CostCurves& costs, const Options& options);

// When each step of a schedule happens.
Timeline timeline(const Schedule& schedule, const CostCurves& costs);

// What happens, in the order in which it happens: simulated again and again under different costs. Messages
// pass shared links in the order in which the costs at the beginning let them; the order of everything else
// does not depend on costs.
class RecordedTrace {
  public:
    RecordedTrace(const std::vector<Phase>& phases, const CostCurves& costs, Domains domains,
                  Network network);

    const std::vector<Bytes>& size_B() const { return sizes_.all(); }
    std::size_t events() const { return events_.size(); }
    std::size_t ranks() const { return ranks_; }
    std::size_t phases() const { return phases_; }
    std::size_t row() const { return Costs(localities_).row(); }
    // [phase × ranks + rank]; `table_s` has a row for each size. A message that was eager at the beginning
    // stays eager, one that shared links shares them, in the order of the beginning.
    std::vector<double> finish_s(std::vector<double> table_s) const;
    // The weight of each of these times, as many.
    using Weigh = std::function<std::vector<double>(std::vector<double> finish_s)>;
    // The derivative of Σ weight · finish by each cost: counts along the critical paths. Of messages that
    // share links the shares are held fixed, which is not quite the derivative.
    std::vector<double> gradient(std::vector<double> table_s, const Weigh& weigh) const;

  private:
    template <class Time>
    void play(Evaluator<Time>& evaluator) const;

    std::size_t ranks_, phases_, localities_, slots_ = 0;
    bool rendezvous_;
    Network network_;
    Sizes sizes_;
    std::vector<Event> events_;
};

}  // namespace hockney
