// Ranks' steps as programs: generated, written, of a graph, or of a recorded run.
#pragma once

#include <memory>
#include <vector>

#include "simulate.hpp"
#include "uneven.hpp"

namespace hockney {

// Generates ranks' steps and writes them down as programs.
class Programs {
  public:
    Programs(const std::vector<Phase>& phases, const CostCurves& costs, Sizes& sizes, bool rendezvous)
        : phases_(phases), writer_(rendezvous, sizes), builder_(writer_) {
        for (const Phase& phase : phases) {
            ordered_.push_back(phase.graph ? std::make_unique<Graph::Ordered>(*phase.graph, costs) : nullptr);
            if (phase.replay) replayed_ = std::make_unique<ReplayWriter>(*phase.replay, sizes, rendezvous);
        }
    }

    void write(int number, int rank, std::vector<Act>& acts, Uneven* uneven) {
        const Phase& phase = phases_[static_cast<std::size_t>(number)];
        if (phase.replay) return replayed_->write(rank, acts);
        writer_.begin(acts, uneven);
        if (phase.graph)
            ordered_[static_cast<std::size_t>(number)]->write(rank, writer_);
        else if (phase.written)
            writer_.take((*phase.written)[static_cast<std::size_t>(rank)]);
        else
            generate(*phase.algorithm, uneven ? uneven->even() : phase.problem, rank, builder_);
        writer_.end();
    }
    std::size_t looked() const { return writer_.looked(); }
    // Of the phase that is a replay; at most one is.
    const ReplayWriter* replayed() const { return replayed_.get(); }

  private:
    const std::vector<Phase>& phases_;
    std::vector<std::unique_ptr<Graph::Ordered>> ordered_;  // by phase
    std::unique_ptr<ReplayWriter> replayed_;
    Writer writer_;
    Builder builder_;
};

}  // namespace hockney
