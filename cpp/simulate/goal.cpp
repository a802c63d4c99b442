// Reading and writing of GOAL.
#include "goal.hpp"

#include <cmath>

#include "goal_text.hpp"

namespace hockney {
namespace {

// Memory of an operation while the graph is put in order, which is when there is most of it: its own, its
// place.
constexpr Bytes operation_B = 56;
// And of a dependency, once in its place and until then.
constexpr Bytes placed_B = 4, read_B = 8;
// Bytes of a message and ticks of a computation: whole numbers that times hold exactly.
constexpr std::int64_t most_amount = std::int64_t{1} << 53;
// Of a number that 64 bits hold.
constexpr int most_digits = 18;
constexpr std::size_t most_operations = std::size_t{1} << 31;

constexpr const char* format_hint =
    "docs/how-to/schedules.md has the format; `hockney schedule export --format goal` writes it";

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

class GoalReader {
  public:
    GoalReader(Graph& graph, const std::string& path, Bytes most_B)
        : graph_(graph), text_(path), most_B_(most_B) {}

    void read() {
        skip();
        text_.mark();
        expect("num_ranks", "`num_ranks N` is expected");
        const std::int64_t ranks = number("`num_ranks N` is expected");
        if (ranks < 1 || ranks > most_ranks_held)
            wrong(std::to_string(ranks) + " ranks: 1 to " + std::to_string(most_ranks_held) + " are read");
        ranks_ = static_cast<int>(ranks);
        for (rank_ = 0; rank_ < ranks_; ++rank_) {
            skip();
            text_.mark();
            const std::string opening = "`rank " + std::to_string(rank_) + " {` is expected";
            expect("rank", opening.c_str());
            if (number(opening.c_str()) != rank_)
                wrong("this is not rank " + std::to_string(rank_) + ", which is next");
            skip();
            if (text_.peek() != '{') wrong(opening);
            text_.next();
            rank();
        }
        skip();
        text_.mark();
        if (!text_.is_end())
            wrong("something stands behind the last of " + std::to_string(ranks_) + " ranks");
    }

  private:
    // The next one.
    std::string_view word() { return text_.view(text_.take_word()); }

    [[noreturn]] void wrong(const std::string& what) {
        const std::string near = text_.near();
        throw GoalFault("line " + std::to_string(text_.marked_line()) +
                        (near.empty() ? "" : " near '" + near + "'") + ": " + what + "\n" + format_hint);
    }
    // Blanks and comments.
    void skip() {
        for (;;) {
            const char c = text_.peek();
            if (is_blank(c)) {
                text_.next();
            } else if (c == '/') {
                const char kind = text_.peek_behind();
                if (kind != '/' && kind != '*') return;
                text_.next();
                text_.next();
                char last = 0;
                for (;; text_.next()) {
                    const char next = text_.peek();
                    if (text_.is_end()) return;
                    if (kind == '/' ? next == '\n' : last == '*' && next == '/') break;
                    last = next;
                }
                text_.next();
            } else {
                return;
            }
        }
    }
    void expect(std::string_view name, const char* what) {
        if (word() != name) wrong(what);
    }
    std::int64_t number(const char* what) {
        skip();
        const bool is_negative = text_.peek() == '-';
        if (is_negative) text_.next();
        std::int64_t value = 0;
        if (text_.take_digits(value, most_digits) == 0) wrong(what);
        if (is_digit(text_.peek()))
            wrong("a number has more than " + std::to_string(most_digits) + " digits");
        return is_negative ? -value : value;
    }

    void rank() {
        labels_.clear();
        edges_.clear();
        for (;;) {
            text_.forget();
            skip();
            text_.mark();
            if (text_.peek() == '}') break;
            GoalText::Word label = text_.take_word(), what = label;
            skip();
            const bool is_labelled = label.length > 0 && text_.peek() == ':';
            if (is_labelled) {
                text_.next();
                skip();
                what = text_.take_word();
            } else {
                label = {};
            }
            const std::string_view name = text_.view(what);
            if (name == "send")
                operation(Kind::send, label);
            else if (name == "recv")
                operation(Kind::receive, label);
            else if (name == "calc")
                operation(Kind::reduce, label);
            else if (is_labelled || name.empty() || !dependency(what))
                wrong("no operation (send, recv, calc), dependency or }");
        }
        text_.next();
        close();
    }

    void operation(Kind kind, const GoalText::Word& name) {
        Graph::Operation added{0, kind, -1, 0};
        const std::int64_t amount = number("a number of bytes or ticks is expected");
        if (amount < 0 || amount > most_amount)
            wrong(std::to_string(amount) + " bytes or ticks are more than " + std::to_string(most_amount) +
                  ", or less than none");
        added.amount = amount & ((std::int64_t{1} << 55) - 1);
        if (kind != Kind::reduce) {
            const bool is_send = kind == Kind::send;
            const char* form = is_send ? "`send Nb to RANK` is expected" : "`recv Nb from RANK` is expected";
            if (text_.peek() != 'b') wrong(form);
            text_.next();
            skip();
            expect(is_send ? "to" : "from", form);
            added.peer = peer(number(form), kind);
        }
        const std::size_t here = graph_.all_.size() - graph_.begin_.back();
        if (name.length > 0) {
            const std::string_view label = text_.view(name);
            if (labels_.find(label) != GoalLabels::none)
                wrong("rank " + std::to_string(rank_) + " has two operations " +
                      std::string(label.substr(0, most_shown)));
            labels_.add(label, static_cast<std::uint32_t>(here));
        }
        options(added);
        graph_.all_.push_back(added);
        if ((graph_.all_.size() & 0xFFFFU) == 0 || graph_.all_.size() == most_operations) expect_room();
    }

    std::int32_t peer(std::int64_t peer, Kind kind) {
        if (peer < 0) anybody();
        if (peer >= ranks_ || peer == rank_)
            wrong("rank " + std::to_string(rank_) + (kind == Kind::send ? " sends to" : " receives from") +
                  " rank " + std::to_string(peer) + " of " + std::to_string(ranks_));
        return static_cast<std::int32_t>(peer);
    }
    [[noreturn]] void anybody() {
        wrong("a message from anybody or with any tag (−1): which one comes is not known");
    }

    void options(Graph::Operation& operation) {
        for (;;) {
            text_.forget();
            skip();
            text_.mark();
            const std::string_view name = word();
            const bool is_tag = name == "tag";
            const bool is_option = is_tag || name == "cpu" || name == "nic";
            if (is_option) skip();
            // A label may have such a name.
            if (!is_option || !(is_digit(text_.peek()) || text_.peek() == '-')) return text_.go_back();
            const std::int64_t value = number("a number is expected");
            if (value > INT32_MAX || value < INT32_MIN) wrong("a tag has at most 31 bits");
            if (is_tag) {
                operation.tag = static_cast<std::int32_t>(value);
                if (operation.kind != Kind::reduce && value < 0) anybody();
            } else if (value != 0)
                wrong("a rank has one processor and one port here: cpu and nic must be 0");
        }
    }

    bool dependency(const GoalText::Word& waiting) {
        const std::string_view how = word();
        const bool is_start = how == "irequires";
        if (!is_start && how != "requires") return false;
        skip();
        const GoalText::Word before = text_.take_word();
        if (before.length == 0) return false;
        edges_.emplace_back(labelled(before), 2 * labelled(waiting) + (is_start ? 1U : 0U));
        if ((edges_.size() & 0xFFFFU) == 0) expect_room();
        return true;
    }
    std::uint32_t labelled(const GoalText::Word& name) {
        const std::string_view label = text_.view(name);
        const std::uint32_t operation = labels_.find(label);
        if (operation == GoalLabels::none)
            wrong("rank " + std::to_string(rank_) + " has no " + std::string(label.substr(0, most_shown)) +
                  " before this line");
        return operation;
    }

    // The rank is read.
    void close() {
        const std::size_t first = graph_.begin_.back(), count = graph_.all_.size() - first;
        std::vector<std::uint32_t>& begin = graph_.waiting_begin_;
        if (graph_.waiting_.size() + edges_.size() >= UINT32_MAX)
            throw TooLarge("more than 2^32 dependencies");
        // Counted, added up, put in their places: `begin` is where the next one goes.
        const std::size_t before = graph_.waiting_.size();
        begin.resize(first + count + 1);
        for (const auto& [number, waiting] : edges_) ++begin[first + number + 1];
        begin[first] = static_cast<std::uint32_t>(before);
        for (std::size_t i = first; i < first + count; ++i) begin[i + 1] += begin[i];
        graph_.waiting_.resize(before + edges_.size());
        for (const auto& [number, waiting] : edges_)
            graph_.waiting_[begin[first + number]++] = waiting + 2 * static_cast<std::uint32_t>(first);
        for (std::size_t i = first + count; i > first; --i) begin[i] = begin[i - 1];
        begin[first] = static_cast<std::uint32_t>(before);
        graph_.begin_.push_back(graph_.all_.size());
    }

    void expect_room() {
        const std::size_t count = graph_.all_.size();
        const Bytes needed_B = static_cast<Bytes>(count) * operation_B +
                               static_cast<Bytes>(graph_.waiting_.size()) * placed_B +
                               static_cast<Bytes>(edges_.size()) * read_B;
        if (count < most_operations && needed_B < most_B_) return;
        const double share = text_.share();
        char says[200];
        std::snprintf(
            says, sizeof says,
            "the graph has about %.3g operations, which take %.3g GB of memory, more than the %.3g GB "
            "that it may\nleave out ranks or steps, or use more memory",
            share * static_cast<double>(count), share * static_cast<double>(needed_B) / 1e9,
            static_cast<double>(most_B_) / 1e9);
        throw TooLarge(says);
    }

    Graph& graph_;
    GoalText text_;
    Bytes most_B_;
    int ranks_ = 0, rank_ = 0;
    GoalLabels labels_;
    // (number before, doubled number after and whether only the start is waited for)
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

Graph::Graph(const std::string& path, Bytes most_B) {
    GoalReader(*this, path, most_B).read();
    match();
}

std::string goal_text(const RankSchedule& schedule, double reduce_ticks_per_B) {
    std::string text;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        const std::string label = "l" + std::to_string(i);
        text += label;
        const std::string with = std::to_string(step.peer) + " tag " + std::to_string(step.tag);
        if (step.kind == Kind::send) {
            text += ": send " + std::to_string(step.from.length_B) + "b to " + with;
        } else if (step.kind == Kind::receive) {
            text += ": recv " + std::to_string(step.into.length_B) + "b from " + with;
        } else {
            const double ticks =
                step.kind == Kind::reduce ? reduce_ticks_per_B * static_cast<double>(step.into.length_B) : 0;
            text += ": calc " + std::to_string(std::llrint(ticks));
        }
        text += '\n';
        for (const int before : step.after) text += label + " requires l" + std::to_string(before) + '\n';
    }
    return text;
}

}  // namespace hockney
