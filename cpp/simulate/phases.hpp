// Phases as they are gone through: what is simulated of them, and the clocks that see it.
#pragma once

#include <vector>

#include "programs.hpp"

namespace hockney {

bool has_rendezvous(const CostCurves& costs);
// `copies_count`: whether it matters who copies, though it may cost nothing.
Workload workload(const std::vector<Phase>& phases, Programs& programs, const CostCurves& costs, Sizes& sizes,
                  bool rendezvous, bool copies_count, bool noise);
// Whether ranks wait for each other at something that is passed in the order of time.
bool has_sharing(const CostCurves& costs, const Network& network);

// Costs of sizes are added when the first message of a size is on its way.
template <class Time>
class Stream : public Evaluator<Time> {
  public:
    Stream(const CostCurves& curves, Costs& costs, const Sizes& sizes, std::size_t ranks, std::size_t phases,
           bool rendezvous, Room& room)
        : Evaluator<Time>(ranks, phases, costs, rendezvous, room),
          curves_(curves),
          costs_(costs),
          sizes_(sizes) {}

    void take(const Event* events, std::size_t count) {
        add_costs();
        if (events->op == Op::send) ++sends_;
        events_ += count;
        Evaluator<Time>::take(events, count);
    }
    bool waits_in_stream(const Event& event) {
        add_costs();
        return Evaluator<Time>::waits_in_stream(event);
    }
    bool is_shared(const Event& event) {
        add_costs();
        return Evaluator<Time>::is_shared(event);
    }
    std::int64_t sends() const { return sends_; }
    std::size_t events() const { return events_; }

  private:
    void add_costs() {
        for (; rows_ < sizes_.all().size(); ++rows_) {
            const Terms terms = sizes_.terms(rows_);
            costs_.add(sizes_.all()[rows_], curves_, terms.factor, terms.is_synchronous);
        }
    }

    const CostCurves& curves_;
    Costs& costs_;
    const Sizes& sizes_;
    std::size_t rows_ = 0;
    std::int64_t sends_ = 0;
    std::size_t events_ = 0;
};

}  // namespace hockney
