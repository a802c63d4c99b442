// A vector that is reduced with one partner after another, each time in rank order, without copies: of two
// buffers one holds the sum so far; where the partner's ranks come after ours, the sum ends in the other one
// and they swap.
#pragma once

#include "../pieces.hpp"
#include "../schedule.hpp"

namespace hockney {

class DoubleBufferedSum {
  public:
    // Begins with the rank's own contribution.
    DoubleBufferedSum(const Problem& problem, Builder& builder)
        : builder_(builder), buffers_{builder.output(0, problem.bytes), builder.scratch(problem.bytes)} {
        before.push_back(builder.copy(builder.input(0, problem.bytes), buffers_[0]));
    }

    // Adds what a lower rank sends.
    void add(int lower, const Span& all) {
        const int arrived = builder_.receive(lower, at(1 - here_, all), before);
        before.push_back(builder_.reduce(at(1 - here_, all), at(here_, all), {arrived}));
    }
    // Sends one part, receives another, and adds that up.
    void exchange(int partner, bool is_higher, const Span& give, const Span& keep) {
        const std::vector<int> so_far = before;
        const int there = 1 - here_;
        const int arrived = builder_.receive(partner, at(there, keep), so_far);
        const int sent = builder_.send(partner, at(here_, give), so_far);
        before.push_back(sent);
        const int from = is_higher ? here_ : there, into = is_higher ? there : here_;
        before.push_back(builder_.reduce(at(from, keep), at(into, keep), {arrived, sent}));
        here_ = into;
    }
    // Leaves that part of the sum in the output.
    void settle(const Span& span) {
        before.push_back(builder_.copy(at(here_, span), at(0, span), before));
        here_ = 0;
    }

    std::vector<int> before;  // the steps so far

  private:
    Region at(int buffer, const Span& span) const {
        return part(buffers_[buffer], span.offset_B, span.length_B);
    }

    Builder& builder_;
    Region buffers_[2];
    int here_ = 0;
};

}  // namespace hockney
