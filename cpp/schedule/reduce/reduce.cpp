#include "reduce.hpp"

#include <array>

namespace hockney {
namespace {

// Three buffers taken in turn: one holds the sum so far, one is being joined, one receives.
class Buffers {
  public:
    Buffers(Bytes size_B, Builder& builder) {
        for (Slot& slot : slots_) slot.memory = builder.scratch(size_B);
    }

    struct Slot {
        Region memory;
        std::vector<int> used;  // the steps after which it may be overwritten
    };
    Slot& next() { return slots_[static_cast<std::size_t>(turn_++ % 3)]; }

  private:
    std::array<Slot, 3> slots_;
    int turn_ = 0;
};

}  // namespace

std::vector<int> pass_up(const Problem& p, const Tree& tree, Builder& builder) {
    const Pieces segments = Pieces::segments(p.bytes, p.segment_B, p.element_B);
    const bool is_root = tree.parent < 0;
    std::vector<int> done;
    Region own = builder.input(0, p.bytes);
    int staged = Builder::none;
    if (is_root) {
        const Region result = builder.output(0, p.bytes);
        if (tree.children.empty())
            return std::vector<int>(static_cast<std::size_t>(segments.count()), builder.copy(own, result));
        if (own.memory == Memory::output) {
            // In place, the last partial result would arrive on top of the root's own contribution.
            const Region aside = builder.scratch(p.bytes);
            staged = builder.copy(own, aside);
            own = aside;
        }
    }
    if (tree.children.empty()) {
        for (int segment = 0; segment < segments.count(); ++segment)
            done.push_back(builder.send(tree.parent, segments.of(own, segment)));
        return done;
    }

    Buffers buffers(segments.length_B(0), builder);
    const int children = static_cast<int>(tree.children.size());
    const Bytes partials = Bytes{segments.count()} * children;
    struct Arriving {
        Region memory;
        int step;
        Buffers::Slot* slot;  // null: the root's output
    };
    const auto receive = [&](Bytes number) -> Arriving {
        const int segment = static_cast<int>(number / children), child = static_cast<int>(number % children);
        Arriving arriving{{}, Builder::none, nullptr};
        std::vector<int> free{staged};
        if (is_root && child == children - 1) {
            arriving.memory = segments.of(builder.output(0, p.bytes), segment);
        } else {
            arriving.slot = &buffers.next();
            arriving.memory = part(arriving.slot->memory, 0, segments.length_B(segment));
            free = std::move(arriving.slot->used);
            arriving.slot->used.clear();
        }
        arriving.step =
            builder.receive(tree.children[static_cast<std::size_t>(child)], arriving.memory, free);
        return arriving;
    };
    Arriving next = receive(0);
    for (int segment = 0; segment < segments.count(); ++segment) {
        Region sum = segments.of(own, segment);
        int valid = staged;
        Buffers::Slot* slot = nullptr;  // that holds the sum
        for (int child = 0; child < children; ++child) {
            const Arriving arrived = next;
            const Bytes number = Bytes{segment} * children + child + 1;
            if (number < partials) next = receive(number);
            const int joined = builder.reduce(sum, arrived.memory, {valid, arrived.step});
            if (slot != nullptr) slot->used.push_back(joined);
            sum = arrived.memory;
            valid = joined;
            slot = arrived.slot;
        }
        if (is_root) {
            done.push_back(valid);
        } else {
            done.push_back(builder.send(tree.parent, sum, {valid}));
            slot->used.push_back(done.back());
        }
    }
    return done;
}

}  // namespace hockney
