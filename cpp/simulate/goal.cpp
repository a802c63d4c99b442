#include "goal.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

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
// Of a name in a message.
constexpr std::size_t most_shown = 40;
constexpr std::size_t most_operations = std::size_t{1} << 31;
// Dependencies of a rank, with those that follow from `irequires`.
constexpr std::size_t most_edges = std::size_t{1} << 22;

constexpr const char* format_hint =
    "docs/how-to/schedules.md has the format; `hockney schedule export --format goal` writes it";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool begins_word(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

}  // namespace

// Numbers of the operations of a rank by their labels. Most labels are `l` and a number.
class GoalLabels {
  public:
    void clear() {
        numbered_.clear();
        others_.clear();
    }
    // `nobody` for none.
    std::uint32_t find(std::string_view label) const {
        const std::size_t number = number_of(label);
        if (number < numbered_.size() && numbered_[number] != none) return numbered_[number];
        const auto found = others_.find(std::string(label));
        return found == others_.end() ? none : found->second;
    }
    void add(std::string_view label, std::uint32_t operation) {
        const std::size_t number = number_of(label);
        if (number > 2 * std::size_t{operation} + 1024) {
            others_[std::string(label)] = operation;
            return;
        }
        if (number >= numbered_.size()) numbered_.resize(std::max(number + 1, 2 * numbered_.size()), none);
        numbered_[number] = operation;
    }
    static constexpr std::uint32_t none = UINT32_MAX;

  private:
    // SIZE_MAX where it is none.
    static std::size_t number_of(std::string_view label) {
        if (label.size() < 2 || label.size() > 10 || label[0] != 'l') return SIZE_MAX;
        if (label[1] == '0' && label.size() > 2) return SIZE_MAX;
        std::size_t number = 0;
        for (std::size_t i = 1; i < label.size(); ++i) {
            if (label[i] < '0' || label[i] > '9') return SIZE_MAX;
            number = 10 * number + static_cast<std::size_t>(label[i] - '0');
        }
        return number;
    }

    std::vector<std::uint32_t> numbered_;
    std::unordered_map<std::string, std::uint32_t> others_;
};

// Characters of a file, of which those since a mark can be had again. A 0 stands behind those that are held.
class GoalText {
  public:
    explicit GoalText(const std::string& path) : file_(std::fopen(path.c_str(), "rb"), &std::fclose) {
        if (file_ == nullptr) throw GoalFault("cannot read it\ncheck the name and its rights");
        struct stat status{};
        if (fstat(fileno(file_.get()), &status) == 0) size_B_ = static_cast<std::size_t>(status.st_size);
    }

    // 0 at the end, and for a 0.
    char peek() { return buffer_[at_] != 0 || at_ < end_ || !fill() ? buffer_[at_] : peek(); }
    bool is_end() { return peek() == 0 && at_ == end_; }
    void next() {
        line_ += buffer_[at_] == '\n';
        ++at_;
    }
    // Behind the mark: characters may move.
    struct Word {
        std::size_t first = 0, length = 0;
    };
    // Empty where there is none.
    Word take_word() {
        const bool is_word = begins_word(peek());
        const std::size_t first = at_ - mark_;
        if (!is_word) return {first, 0};
        do
            while (begins_word(buffer_[at_]) || is_digit(buffer_[at_])) ++at_;
        while (at_ == end_ && fill());
        return {first, at_ - mark_ - first};
    }
    std::string_view view(const Word& word) const { return {&buffer_[mark_ + word.first], word.length}; }
    // The character behind the next; 0 where there is none.
    char peek_behind() {
        while (at_ + 1 >= end_ && fill()) {
        }
        return at_ < end_ ? buffer_[at_ + 1] : '\0';
    }
    // The number of digits.
    int take_digits(std::int64_t& value, int most) {
        int digits = 0;
        for (value = 0; digits < most && is_digit(peek()); ++at_, ++digits)
            value = 10 * value + (buffer_[at_] - '0');
        return digits;
    }

    void mark() {
        keeps_ = true;
        mark_ = at_;
        mark_line_ = line_;
    }
    // What comes is not needed again, up to the next mark.
    void forget() { keeps_ = false; }
    void go_back() {
        at_ = mark_;
        line_ = mark_line_;
    }
    std::size_t marked_line() const { return mark_line_; }
    // What stands from the mark on, to the end of its line.
    std::string near() {
        go_back();
        std::string text;
        for (; text.size() < most_shown && !is_end() && peek() != '\n'; next())
            text += peek() >= ' ' && peek() < 127 ? peek() : '?';
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }
    // How many of those that have been read the whole file has.
    double share() const {
        return static_cast<double>(size_B_) / static_cast<double>(std::max<std::size_t>(read_B_, 1));
    }

  private:
    bool fill() {
        if (!keeps_) mark_ = at_;
        std::memmove(buffer_.data(), buffer_.data() + mark_, end_ - mark_);
        at_ -= mark_;
        end_ -= mark_;
        mark_ = 0;
        if (2 * end_ > buffer_.size()) buffer_.resize(2 * buffer_.size());
        const std::size_t count =
            std::fread(buffer_.data() + end_, 1, buffer_.size() - end_ - 1, file_.get());
        end_ += count;
        buffer_[end_] = 0;
        read_B_ += count;
        return count > 0;
    }

    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18);
    bool keeps_ = false;
    std::size_t at_ = 0, end_ = 0, mark_ = 0, line_ = 1, mark_line_ = 1, size_B_ = 0, read_B_ = 0;
};

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

Bytes Graph::largest_B() const {
    Bytes largest = 0;
    for (const Operation& operation : all_)
        if (operation.kind != Kind::reduce) largest = std::max<Bytes>(largest, operation.amount);
    return largest;
}

// Sends with their receives: of equal ends and tags, in the order of the text.
void Graph::match() {
    struct End {
        std::int32_t from, tag;
        std::uint32_t at;
        bool operator<(const End& other) const {
            return std::tie(from, tag, at) < std::tie(other.from, other.tag, other.at);
        }
    };
    const auto count = static_cast<std::size_t>(ranks());
    // Sends by receiver, in the order of their senders.
    std::vector<std::uint32_t> to(count + 1), sent;
    for (const Operation& operation : all_)
        if (operation.kind == Kind::send) ++to[static_cast<std::size_t>(operation.peer) + 1];
    std::partial_sum(to.begin(), to.end(), to.begin());
    sent.resize(to.back());
    {
        std::vector<std::uint32_t> next(to.begin(), to.end() - 1);
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].kind == Kind::send)
                sent[next[static_cast<std::size_t>(all_[i].peer)]++] = static_cast<std::uint32_t>(i);
    }
    partner_.assign(all_.size(), nobody);
    std::vector<End> sends, receives;
    const auto fail = [](std::int32_t rank, const std::string& what, const char* hint) {
        throw GoalFault("rank " + std::to_string(rank) + " " + what + "\n" + hint);
    };
    for (std::size_t rank = 0; rank < count; ++rank) {
        sends.clear();
        receives.clear();
        std::size_t from = 0;
        for (std::uint32_t i = to[rank]; i < to[rank + 1]; ++i) {
            while (begin_[from + 1] <= sent[i]) ++from;
            sends.push_back({static_cast<std::int32_t>(from), all_[sent[i]].tag, sent[i]});
        }
        for (std::size_t i = begin_[rank]; i < begin_[rank + 1]; ++i)
            if (all_[i].kind == Kind::receive)
                receives.push_back({all_[i].peer, all_[i].tag, static_cast<std::uint32_t>(i)});
        for (std::vector<End>* ends : {&sends, &receives})
            if (!std::is_sorted(ends->begin(), ends->end())) std::sort(ends->begin(), ends->end());
        auto receive = receives.begin();
        for (const End& send : sends) {
            const auto here = static_cast<std::int32_t>(rank);
            const auto key = std::tie(send.from, send.tag);
            if (receive != receives.end() && std::tie(receive->from, receive->tag) < key) break;
            const std::string what = "sends " + std::to_string(all_[send.at].amount) + " B to " +
                                     std::to_string(here) + " with tag " + std::to_string(send.tag);
            if (receive == receives.end() || std::tie(receive->from, receive->tag) != key)
                fail(send.from, what + ", and nobody receives it", "add a recv of that rank and tag");
            if (all_[send.at].amount != all_[receive->at].amount)
                fail(send.from, what + ", which receives " + std::to_string(all_[receive->at].amount) + " B",
                     "give both the same size");
            partner_[send.at] = receive->at;
            partner_[receive->at] = send.at;
            ++receive;
        }
        if (receive != receives.end())
            fail(static_cast<std::int32_t>(rank),
                 "receives a message of tag " + std::to_string(receive->tag) + " from " +
                     std::to_string(receive->from) + " that nobody sends",
                 "add a send of that rank and tag");
        messages_ += static_cast<std::int64_t>(sends.size());
    }
}

namespace {

// What is known of a message beforehand: how long it takes if nothing is in its way, and whether it waits for
// its receive.
class OneWay {
  public:
    explicit OneWay(const std::vector<Curve>& costs) : costs_(costs) {}

    const std::pair<double, bool>& of(Bytes size_B) {
        if (size_B == latest_B_) return latest_;
        latest_B_ = size_B;
        const auto known = by_size_.find(size_B);
        if (known != by_size_.end()) return latest_ = known->second;
        const double time_s = at(Term::send, size_B) + at(Term::transfer, size_B) + at(Term::receive, size_B);
        return latest_ = by_size_[size_B] = {time_s, at(Term::handshake, size_B) >= 0};
    }

  private:
    double at(Term term, Bytes size_B) const { return costs_[static_cast<std::size_t>(term)].at(size_B); }

    const std::vector<Curve>& costs_;
    Bytes latest_B_ = -1;
    std::pair<double, bool> latest_;
    std::unordered_map<Bytes, std::pair<double, bool>> by_size_;
};

}  // namespace

Graph::Ordered::Ordered(const Graph& graph, const CostCurves& costs) : graph_(graph) {
    const std::size_t count = graph.all_.size();
    // Of each operation how many it waits for, then whether it has started; its earliest start; the longest
    // way to it in operations, so that of equal ones whoever is waited for comes first.
    constexpr std::int32_t started = -1;
    std::vector<std::int32_t> waits(count), level(count);
    std::vector<double> start_s(count);
    for (const std::uint32_t waiting : graph.waiting_) ++waits[waiting / 2];

    OneWay message(costs.message.back());
    std::vector<std::uint32_t> ready;
    const auto release = [&](std::size_t i, bool is_start, double at_s, std::int32_t depth) {
        for (std::uint32_t w = graph.waiting_begin_[i]; w < graph.waiting_begin_[i + 1]; ++w) {
            if ((graph.waiting_[w] % 2 == 1) != is_start) continue;
            const std::uint32_t next = graph.waiting_[w] / 2;
            start_s[next] = std::max(start_s[next], at_s);
            level[next] = std::max(level[next], depth + 1);
            if (--waits[next] == 0) ready.push_back(next);
        }
    };
    const auto start = [&](std::size_t i) {
        const Operation& operation = graph.all_[i];
        waits[i] = started;
        release(i, true, start_s[i], level[i]);
        if (operation.kind == Kind::reduce)
            return release(i, false, start_s[i] + costs.reduce.at(operation.amount), level[i] + 1);
        const std::size_t other = graph.partner_[i];
        const bool is_send = operation.kind == Kind::send;
        const auto [one_way_s, meets] = message.of(operation.amount);
        if (is_send && !meets) release(i, false, start_s[i], level[i] + 1);
        if (waits[other] != started) return;
        const std::size_t send = is_send ? i : other, receive = is_send ? other : i;
        const std::int32_t depth = std::max(level[i], level[other]) + 1;
        if (meets) release(send, false, std::max(start_s[i], start_s[other]), depth);
        release(receive, false, std::max(start_s[receive], start_s[send] + one_way_s), depth);
    };
    std::size_t done = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (waits[i] == 0) {
            start(i);
            ++done;
        }
        while (!ready.empty()) {
            const std::size_t next = ready.back();
            ready.pop_back();
            start(next);
            ++done;
        }
    }
    if (done < count) {
        const auto stuck = static_cast<std::size_t>(
            std::find_if(waits.begin(), waits.end(), [](std::int32_t n) { return n > 0; }) - waits.begin());
        const auto next = std::upper_bound(graph.begin_.begin(), graph.begin_.end(), stuck);
        throw GoalFault("the graph is a deadlock: operation " + std::to_string(stuck - *std::prev(next) + 1) +
                        " of rank " + std::to_string(next - graph.begin_.begin() - 1) +
                        " waits, by way of others, for itself\nremove one of the dependencies, or post the "
                        "receives earlier");
    }
    order_.resize(count);
    tag_.resize(count);
    Tally sent;
    for (std::size_t rank = 0; rank + 1 < graph.begin_.size(); ++rank) {
        const std::size_t first = graph.begin_[rank];
        const auto mine = order_.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = order_.begin() + static_cast<std::ptrdiff_t>(graph.begin_[rank + 1]);
        std::iota(mine, end, 0U);
        const auto is_before = [&](std::uint32_t a, std::uint32_t b) {
            return std::tie(start_s[first + a], level[first + a], a) <
                   std::tie(start_s[first + b], level[first + b], b);
        };
        if (!std::is_sorted(mine, end, is_before)) std::sort(mine, end, is_before);
        sent.clear();
        for (auto number = mine; number != end; ++number) {
            const std::size_t i = first + *number;
            if (graph.all_[i].kind == Kind::send)
                tag_[i] = tag_[graph.partner_[i]] = sent.next(graph.all_[i].peer);
        }
    }
}

void Graph::Ordered::write(int rank, Writer& writer) const {
    const std::size_t first = graph_.begin_[static_cast<std::size_t>(rank)];
    const std::size_t count = graph_.begin_[static_cast<std::size_t>(rank) + 1] - first;
    // Of each operation those it waits for: their number, doubled, and whether for the start only.
    std::vector<std::uint32_t> begin(count + 1), before;
    const std::uint32_t *waiting = graph_.waiting_.data() + graph_.waiting_begin_[first],
                        *end = graph_.waiting_.data() + graph_.waiting_begin_[first + count];
    bool has_starts = false;
    for (const std::uint32_t* w = waiting; w != end; ++w) {
        ++begin[*w / 2 - first + 1];
        has_starts = has_starts || *w % 2 == 1;
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    before.resize(begin.back());
    {
        std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
        for (std::size_t i = 0; i < count; ++i)
            for (std::uint32_t w = graph_.waiting_begin_[first + i]; w < graph_.waiting_begin_[first + i + 1];
                 ++w)
                before[next[graph_.waiting_[w] / 2 - first]++] =
                    2 * static_cast<std::uint32_t>(i) + graph_.waiting_[w] % 2;
    }
    std::vector<std::int32_t> at(count), after;
    // Whoever starts with another waits for what the other waits for, and stands behind it.
    std::vector<std::vector<std::int32_t>> needed(has_starts ? count : 0);
    std::size_t edges = 0;
    for (std::size_t place = 0; place < count; ++place) {
        const std::uint32_t number = order_[first + place];
        at[number] = static_cast<std::int32_t>(place);
        after.clear();
        for (std::uint32_t b = begin[number]; b < begin[number + 1]; ++b) {
            if (before[b] % 2 == 0)
                after.push_back(at[before[b] / 2]);
            else
                after.insert(after.end(), needed[before[b] / 2].begin(), needed[before[b] / 2].end());
        }
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        if (has_starts) {
            edges += after.size();
            if (edges > most_edges)
                throw GoalFault("rank " + std::to_string(rank) + " has more than " +
                                std::to_string(most_edges) +
                                " dependencies\nleave out those that follow from others");
            needed[number] = after;
        }
        const Operation& operation = graph_.all_[first + number];
        const Steps steps(after.begin(), after.end());
        if (operation.kind == Kind::reduce)
            writer.work(operation.amount, steps);
        else
            writer.take(operation.kind, operation.peer, tag_[first + number], operation.amount, steps);
    }
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
