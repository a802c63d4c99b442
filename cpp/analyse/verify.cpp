#include "verify.hpp"

#include <algorithm>

#include "../schedule/pieces.hpp"
#include "memory.hpp"
#include "play.hpp"

namespace hockney {
namespace {

constexpr std::size_t most_complaints = 8;
constexpr Bytes most_elements = 1 << 28;  // of all memories: 4 GiB
constexpr Bytes most_races_B = 3 * most_held_B;
constexpr Bytes most_heard = Bytes{1} << 35;  // steps of a barrier × ranks: 4 GiB of bits

class Complaints {
  public:
    explicit Complaints(const Schedule& schedule) : schedule_(schedule) {}
    void add(std::string text) {
        if (texts_.size() < most_complaints) texts_.push_back(std::move(text));
    }
    void at(int rank, std::size_t step, const std::string& text) {
        const int line = schedule_[static_cast<std::size_t>(rank)].steps[step].line;
        add("rank " + std::to_string(rank) + ", " + (line ? "line " + std::to_string(line) + ", " : "") +
            "step " + std::to_string(step) + ": " + text);
    }
    bool none() const { return texts_.empty(); }
    bool enough() const { return texts_.size() >= most_complaints; }
    std::vector<std::string> take() { return std::move(texts_); }

  private:
    const Schedule& schedule_;
    std::vector<std::string> texts_;
};

// A byte of a memory, with its block where the memory is cut into one for each rank.
std::string place(const Collective& collective, const Problem& p, Memory memory, Bytes byte) {
    static const char* const names[] = {"input", "output", "scratch"};
    const std::string text = "byte " + std::to_string(byte) + " of " + names[static_cast<int>(memory)];
    if (memory == Memory::scratch || p.bytes == 0) return text;
    int block = 0;
    if (collective.sizes_are_blocks) {
        block = static_cast<int>(byte / p.bytes);
    } else {
        const Pieces blocks = Pieces::blocks(p.bytes, p.ranks, p.element_B);
        while (block + 1 < p.ranks && blocks.offset_B(block + 1) <= byte) ++block;
    }
    return text + " (block " + std::to_string(block) + ")";
}

bool overlap(const Region& a, const Region& b) {
    return a.memory == b.memory && a.offset_B < b.offset_B + b.length_B &&
           b.offset_B < a.offset_B + a.length_B;
}

// How large a rank's memories are.
struct Sizes {
    Bytes size_B[3];

    Sizes(const Collective& collective, const Problem& problem, int rank, const RankSchedule& steps) {
        Bytes offset_B = 0;
        const Bytes input_B = collective.input_B(problem, rank),
                    output_B = collective.output_B(problem, rank);
        const bool inside = input_in_output(collective, problem, rank, offset_B);
        size_B[0] = inside ? 0 : input_B;
        size_B[1] = std::max(output_B, inside ? offset_B + input_B : 0);
        size_B[2] = steps.scratch_B;
    }
    Bytes of(Memory memory) const { return size_B[static_cast<int>(memory)]; }
};

void check_form(const Collective& collective, const Problem& p, const Schedule& schedule,
                Complaints& complaints) {
    for (int rank = 0; rank < p.ranks; ++rank) {
        const RankSchedule& mine = schedule[static_cast<std::size_t>(rank)];
        const Sizes sizes(collective, p, rank, mine);
        for (std::size_t i = 0; i < mine.steps.size(); ++i) {
            const Step& step = mine.steps[i];
            const bool message = step.kind == Kind::send || step.kind == Kind::receive;
            if (const std::string reason = fault(step, i, rank, p.ranks); !reason.empty()) {
                complaints.at(rank, i, reason);
                continue;
            }
            for (const Region* region : {&step.from, &step.into}) {
                if (region->length_B == 0) continue;
                if (region->offset_B + region->length_B > sizes.of(region->memory))
                    complaints.at(rank, i, "a region lies outside its memory");
                if (region->offset_B % p.element_B != 0 || region->length_B % p.element_B != 0)
                    complaints.at(rank, i, "a region cuts through an element");
            }
            if (!message && step.from.length_B != step.into.length_B)
                complaints.at(rank, i, "source and target differ in length");
            if (!message && overlap(step.from, step.into))
                complaints.at(rank, i, "source and target overlap");
            if (step.into.length_B > 0 && step.into.memory == Memory::input)
                complaints.at(rank, i, "the input is written");
            if (complaints.enough()) return;
        }
    }
}

// Of each step, the steps that are complete before it starts.
class Ancestors {
  public:
    explicit Ancestors(const RankSchedule& mine) : words_((mine.steps.size() + 63) / 64) {
        bits_.assign(mine.steps.size() * words_, 0);
        for (std::size_t i = 0; i < mine.steps.size(); ++i)
            for (const int before : mine.steps[i].after) {
                const auto b = static_cast<std::size_t>(before);
                for (std::size_t w = 0; w < words_; ++w) bits_[i * words_ + w] |= bits_[b * words_ + w];
                bits_[i * words_ + b / 64] |= std::uint64_t{1} << (b % 64);
            }
    }
    bool ordered(int before, std::size_t step) const {
        const auto b = static_cast<std::size_t>(before);
        return (bits_[step * words_ + b / 64] >> (b % 64) & 1) != 0;
    }

  private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

// Who touched an element last. An access must come after the latest write, a write after all reads since too;
// by transitivity that orders every conflicting pair.
struct Touched {
    int written = -1;
    std::vector<int> read;
};

void check_races(const Problem& p, int rank, const RankSchedule& mine, const Sizes& sizes,
                 Complaints& complaints) {
    const Ancestors ancestors(mine);
    std::vector<Touched> elements[3];
    for (int memory = 0; memory < 3; ++memory)
        elements[memory].resize(static_cast<std::size_t>(sizes.size_B[memory] / p.element_B));
    const auto each = [&](const Region& region, auto&& touch) {
        auto& memory = elements[static_cast<int>(region.memory)];
        for (Bytes e = region.offset_B / p.element_B; e < (region.offset_B + region.length_B) / p.element_B;
             ++e)
            touch(memory[static_cast<std::size_t>(e)]);
    };
    for (std::size_t i = 0; i < mine.steps.size(); ++i) {
        const Step& step = mine.steps[i];
        int unordered = -1;
        each(step.from, [&](Touched& element) {
            if (element.written >= 0 && !ancestors.ordered(element.written, i)) unordered = element.written;
            element.read.push_back(static_cast<int>(i));
        });
        each(step.into, [&](Touched& element) {
            if (element.written >= 0 && !ancestors.ordered(element.written, i)) unordered = element.written;
            for (const int reader : element.read)
                if (!ancestors.ordered(reader, i)) unordered = reader;
            element.written = static_cast<int>(i);
            element.read.clear();
        });
        if (unordered >= 0)
            complaints.at(rank, i,
                          "touches memory of step " + std::to_string(unordered) + " without depending on it");
        if (complaints.enough()) return;
    }
}

// Moves symbolic elements as the steps say.
class Symbolic {
  public:
    Symbolic(const Collective& collective, const Problem& p, const Schedule& schedule, Complaints& complaints)
        : collective_(collective), p_(p), contributors_(p.ranks, p.commutative), complaints_(complaints) {
        for (int rank = 0; rank < p.ranks; ++rank) {
            const Sizes sizes(collective, p, rank, schedule[static_cast<std::size_t>(rank)]);
            memories_.emplace_back(sizes.size_B, p.element_B);
            Bytes offset_B = 0;
            const bool inside = input_in_output(collective, p, rank, offset_B);
            const Bytes input_B = collective.input_B(p, rank);
            Memories& mine = memories_.back();
            mine.fill({inside ? Memory::output : Memory::input, inside ? offset_B : 0, input_B},
                      contributors_.only(rank));
            if (collective.sends_output(p, rank))
                mine.fill({Memory::output, 0, p.bytes}, contributors_.only(rank));
        }
    }

    void local(int rank, std::size_t index, const Step& step) {
        Memories& mine = memories_[static_cast<std::size_t>(rank)];
        Bytes next_B = 0;
        mine.each(step.from, step.into, [&](const Element& from, Element& into) {
            const Bytes here_B = next_B;
            next_B += p_.element_B;
            const auto at = [&](const Region& region) {
                return place(collective_, p_, region.memory, region.offset_B + here_B);
            };
            if (from.contributors == Contributors::undefined)
                return complaints_.at(rank, index, "reads " + at(step.from) + ", which holds nothing");
            if (step.kind == Kind::reduce && into.contributors == Contributors::undefined)
                return complaints_.at(rank, index, "reads " + at(step.into) + ", which holds nothing");
            if (step.kind == Kind::copy) {
                into = from;
                return;
            }
            if (from.index != into.index)
                return complaints_.at(rank, index,
                                      "adds what does not belong together into " + at(step.into));
            const int sum = contributors_.sum(from.contributors, into.contributors);
            if (sum == Contributors::undefined) {
                const int twice = contributors_.first_in_both(from.contributors, into.contributors);
                return complaints_.at(rank, index,
                                      twice < 0 ? "out of rank order"
                                                : "the contribution of rank " + std::to_string(twice) +
                                                      " is added twice to " + at(step.into));
            }
            into.contributors = sum;
        });
    }

    void message(int from_rank, std::size_t from_index, const Step& send, int to_rank, const Step& receive) {
        if (send.from.length_B != receive.into.length_B)
            return complaints_.at(from_rank, from_index,
                                  "sends " + std::to_string(send.from.length_B) + " B where " +
                                      std::to_string(receive.into.length_B) + " B are received");
        const Memories& source = memories_[static_cast<std::size_t>(from_rank)];
        Memories& target = memories_[static_cast<std::size_t>(to_rank)];
        for (Bytes e = 0; e < send.from.length_B / p_.element_B; ++e) {
            const Element& element = source.at(send.from, e);
            if (element.contributors == Contributors::undefined)
                return complaints_.at(
                    from_rank, from_index,
                    "sends " +
                        place(collective_, p_, send.from.memory, send.from.offset_B + e * p_.element_B) +
                        ", which holds nothing");
            target.at(receive.into, e) = element;
        }
    }

    void check_results() {
        for (int rank = 0; rank < p_.ranks && !complaints_.enough(); ++rank) {
            const Bytes output_B = collective_.output_B(p_, rank);
            for (Bytes offset_B = 0; offset_B < output_B; offset_B += p_.element_B) {
                const Origin origin = collective_.origin(p_, rank, offset_B);
                const int contributors = origin.rank == Origin::everyone ? contributors_.everyone()
                                                                         : contributors_.only(origin.rank);
                const Element& element =
                    memories_[static_cast<std::size_t>(rank)].at({Memory::output, offset_B, p_.element_B}, 0);
                if (element.contributors == contributors && element.index == origin.index / p_.element_B)
                    continue;
                complaints_.add("rank " + std::to_string(rank) + " ends with the wrong data in " +
                                place(collective_, p_, Memory::output, offset_B) + ": " +
                                mistaken(element, contributors, origin.index / p_.element_B));
                break;
            }
        }
    }

  private:
    // How an element differs from what it should be.
    std::string mistaken(const Element& element, int contributors, Bytes index) const {
        if (element.contributors == Contributors::undefined) return "it holds nothing";
        if (element.index != index)
            return "it holds byte " + std::to_string(element.index * p_.element_B) + " of inputs, not byte " +
                   std::to_string(index * p_.element_B);
        const int lacking = contributors_.first_lacking(element.contributors, contributors);
        return lacking < 0 ? "it has more contributions than it should"
                           : "the contribution of rank " + std::to_string(lacking) + " is missing";
    }

    const Collective& collective_;
    const Problem& p_;
    Contributors contributors_;
    std::vector<Memories> memories_;
    Complaints& complaints_;
};

// What `check_races` holds of one rank: who touched each element, and the ancestors of each step.
Bytes races_B(const Problem& p, const RankSchedule& mine, Bytes elements) {
    const auto steps = static_cast<Bytes>(mine.steps.size());
    Bytes read = 0;
    for (const Step& step : mine.steps)
        read = std::min(read + std::min(step.from.length_B / p.element_B, elements), most_races_B);
    return elements * static_cast<Bytes>(sizeof(Touched)) + read * static_cast<Bytes>(2 * sizeof(int)) +
           steps * ((steps + 63) / 64) * static_cast<Bytes>(sizeof(std::uint64_t));
}

// Throws where following every element, or who has heard of whom, would take more memory than there may be.
void expect_room(const Collective& collective, const Problem& p, const Schedule& schedule) {
    Bytes elements = 0, heard = 0;
    for (int rank = 0; rank < p.ranks; ++rank) {
        const RankSchedule& mine = schedule[static_cast<std::size_t>(rank)];
        const Bytes others = elements;
        for (const Bytes size_B : Sizes(collective, p, rank, mine).size_B)
            elements += std::min(size_B / p.element_B, most_elements + 1 - elements);
        if (!collective.has_size) heard += (static_cast<Bytes>(mine.steps.size()) + 1) * p.ranks;
        if (elements > most_elements || heard > most_heard ||
            races_B(p, mine, elements - others) > most_races_B)
            throw TooLarge("a proof on " + std::to_string(p.ranks) +
                           " ranks follows more than can be held at once");
    }
}

// After a barrier, everybody must have heard, directly or not, from everybody.
void check_barrier(const Problem& p, const Schedule& schedule, Complaints& complaints) {
    using Heard = std::vector<bool>;
    const auto join = [](Heard& into, const Heard& from) {
        for (std::size_t r = 0; r < into.size(); ++r)
            if (from[r]) into[r] = true;
    };
    std::vector<std::vector<Heard>> heard(schedule.size());
    std::vector<Heard> at_end(schedule.size());
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        at_end[rank].resize(schedule.size());
        at_end[rank][rank] = true;
        heard[rank].assign(schedule[rank].steps.size(), Heard(schedule.size()));
    }
    Player player(schedule);
    player.on_start = [&](int rank, std::size_t index) {
        Heard& mine = heard[static_cast<std::size_t>(rank)][index];
        mine[static_cast<std::size_t>(rank)] = true;
        for (const int before : schedule[static_cast<std::size_t>(rank)].steps[index].after)
            join(mine, heard[static_cast<std::size_t>(rank)][static_cast<std::size_t>(before)]);
    };
    player.on_message = [&](int from, std::size_t send, int to, std::size_t receive) {
        Heard& news = heard[static_cast<std::size_t>(to)][receive];
        join(news, heard[static_cast<std::size_t>(from)][send]);
        join(at_end[static_cast<std::size_t>(to)], news);
    };
    player.play();
    for (int rank = 0; rank < p.ranks; ++rank)
        for (int other = 0; other < p.ranks; ++other)
            if (!at_end[static_cast<std::size_t>(rank)][static_cast<std::size_t>(other)])
                complaints.add("rank " + std::to_string(rank) + " leaves without having heard of rank " +
                               std::to_string(other));
}

}  // namespace

std::vector<std::string> verify(const Collective& collective, const Problem& p, const Schedule& schedule) {
    Complaints complaints(schedule);
    if (schedule.size() != static_cast<std::size_t>(p.ranks)) {
        complaints.add("the schedule has " + std::to_string(schedule.size()) + " ranks");
        return complaints.take();
    }
    expect_room(collective, p, schedule);
    check_form(collective, p, schedule, complaints);
    for (int rank = 0; complaints.none() && rank < p.ranks; ++rank) {
        const RankSchedule& mine = schedule[static_cast<std::size_t>(rank)];
        check_races(p, rank, mine, Sizes(collective, p, rank, mine), complaints);
    }
    if (!complaints.none()) return complaints.take();
    Symbolic symbolic(collective, p, schedule, complaints);
    Player player(schedule);
    player.on_start = [&](int rank, std::size_t index) {
        const Step& step = schedule[static_cast<std::size_t>(rank)].steps[index];
        if (step.kind == Kind::copy || step.kind == Kind::reduce) symbolic.local(rank, index, step);
    };
    player.on_message = [&](int from, std::size_t send, int to, std::size_t receive) {
        symbolic.message(from, send, schedule[static_cast<std::size_t>(from)].steps[send], to,
                         schedule[static_cast<std::size_t>(to)].steps[receive]);
    };
    for (const Stuck& stuck : player.play()) {
        const Step& step = schedule[static_cast<std::size_t>(stuck.rank)].steps[stuck.step];
        const std::string peer = "rank " + std::to_string(step.peer);
        complaints.at(stuck.rank, stuck.step,
                      !stuck.started            ? "waits for ever"
                      : step.kind == Kind::send ? "deadlock: " + peer + " never receives this message"
                                                : "deadlock: " + peer + " never sends this message");
    }
    if (complaints.none()) symbolic.check_results();
    if (complaints.none() && !collective.has_size) check_barrier(p, schedule, complaints);
    return complaints.take();
}

}  // namespace hockney
