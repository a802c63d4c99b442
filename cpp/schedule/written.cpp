// The machine: a stack of whole numbers, a stack of regions, names of both. A step waits for the earlier ones
// of its rank that touch the same memory, if one of the two writes it.
#include "written.hpp"

#include <algorithm>
#include <map>

#include "collective.hpp"
#include "operations.hpp"
#include "pieces.hpp"
#include "touched.hpp"

namespace hockney {
namespace written {
namespace {

constexpr Word most_names = 1 << 16;
// Of a rank, and of all together: half a second and some seconds.
constexpr Bytes most_of_rank = 1 << 26, most_operations = 1 << 30;
// Names that the machine sets: P, n, r, root, blocks.
enum { name_ranks, name_bytes, name_rank, name_root, name_blocks, own_names };

// What a message without data sends. Of an empty block nothing is sent at all.
constexpr Region none{Memory::input, -1, 0};

class Machine {
  public:
    Machine(const Algorithm& algorithm, const Problem& problem, int rank, Builder& builder, bool only_needs)
        : algorithm_(algorithm),
          code_(*algorithm.written),
          problem_(problem),
          rank_(rank),
          builder_(builder),
          only_needs_(only_needs),
          most_(std::min(most_of_rank, most_operations - builder.operations())) {
        set(name_ranks, problem.ranks);
        set(name_bytes, problem.bytes);
        set(name_rank, rank);
        set(name_root, problem.root);
        set(name_blocks, problem.ranks);
    }

    void run() {
        while (at_ < code_.size()) {
            if (++executed_ + memories_.visited() > most_)
                wrong(
                    "more than 2^26 operations of a rank, or 2^30 of all: loop less often, or ask for fewer "
                    "ranks or bytes");
            const auto operation = static_cast<Operation>(next());
            if (only_needs_ && operation >= Operation::send && operation <= Operation::reduce) break;
            execute(operation);
        }
        builder_.operations() += executed_ + memories_.visited();
        builder_.at_line(0);
    }

  private:
    template <class Wrong = WrittenWrong>
    [[noreturn]] void wrong(const std::string& what) const {
        throw Wrong(algorithm_.name + ", line " + std::to_string(line_) + ": " + what + " (rank " +
                    std::to_string(rank_) + " of " + std::to_string(problem_.ranks) + ", " +
                    std::to_string(problem_.bytes) + " B)");
    }
    Word next() {
        if (at_ >= code_.size()) throw WrittenWrong(algorithm_.name + ": the program is cut off");
        return code_[at_++];
    }
    template <class Value>
    Value pop(std::vector<Value>& stack) {
        if (stack.empty()) throw WrittenWrong(algorithm_.name + ": the program is damaged");
        const Value value = stack.back();
        stack.pop_back();
        return value;
    }
    Word number() { return pop(numbers_); }
    Region region() { return pop(regions_); }
    static std::size_t place(Word name) {
        if (name < 0 || name >= most_names) throw WrittenWrong("the program has too many names");
        return static_cast<std::size_t>(name);
    }
    void set(Word name, Word value) {
        if (place(name) >= values_.size()) values_.resize(place(name) + 1);
        values_[place(name)] = {value, true};
    }
    Word value(Word name) const {
        if (place(name) >= values_.size() || !values_[place(name)].second)
            wrong("a name is used that has no value yet");
        return values_[place(name)].first;
    }

    void result(Operation operation, Word a, Word b) {
        try {
            numbers_.push_back(calculated(operation, a, b));
        } catch (const std::domain_error& error) {
            wrong(error.what());
        }
    }

    void execute(Operation operation) {
        switch (operation) {
            case Operation::constant:
                return numbers_.push_back(next());
            case Operation::load:
                return numbers_.push_back(value(next()));
            case Operation::store:
                return set(next(), number());
            case Operation::load_region: {
                const auto found = named_.find(next());
                if (found == named_.end()) wrong("a name is used that holds no memory yet");
                return regions_.push_back(found->second);
            }
            case Operation::store_region:
                named_[place(next())] = region();
                return;
            case Operation::jump:
                return jump(next());
            case Operation::jump_unless: {
                const Word to = next();
                if (number() == 0) jump(to);
                return;
            }
            case Operation::at_line:
                line_ = next();
                builder_.at_line(static_cast<std::uint16_t>(line_));
                break;
            case Operation::loop:
                return loop();
            case Operation::negate:
                return result(Operation::subtract, 0, number());
            case Operation::invert:
                return numbers_.push_back(~number());
            case Operation::no:
                return numbers_.push_back(number() == 0);
            case Operation::logarithm: {
                Word a = number(), result = 0;
                if (a < 1) wrong("log2 of " + std::to_string(a));
                while (a >>= 1) ++result;
                return numbers_.push_back(result);
            }
            case Operation::input:
            case Operation::output:
                return regions_.push_back(vector(operation == Operation::input));
            case Operation::nothing:
                return regions_.push_back(none);
            case Operation::block: {
                const Word index = number();
                numbers_.push_back(index);
                result(Operation::add, index, 1);
                return blocks();
            }
            case Operation::blocks:
                return blocks();
            case Operation::part: {
                const Word length_B = number(), offset_B = number();
                const Region whole = region();
                if (offset_B < 0 || length_B < 0 || offset_B > whole.length_B - length_B)
                    wrong(std::to_string(length_B) + " bytes from byte " + std::to_string(offset_B) +
                          " on are outside the " + std::to_string(whole.length_B) + " B that there are");
                return regions_.push_back(part(whole, offset_B, length_B));
            }
            case Operation::scratch:
                return regions_.push_back(scratch(number()));
            case Operation::length:
                return numbers_.push_back(region().length_B);
            case Operation::wait:
                return wait();
            case Operation::need:
                if (number() == 0) wrong<Unmet>("what this line requires does not hold");
                break;
            case Operation::drop:
                number();
                return;
            case Operation::send:
            case Operation::receive:
            case Operation::copy:
            case Operation::reduce:
                return step(operation, next());
            default: {
                const Word b = number(), a = number();
                result(operation, a, b);
            }
        }
    }

    void jump(Word to) {
        // Loops leave nothing behind: what grows by them is damaged.
        if (numbers_.size() + regions_.size() > most_names)
            throw WrittenWrong(algorithm_.name + ": the program is damaged");
        at_ = static_cast<std::size_t>(std::max<Word>(to, 0));
    }

    // The name that counts; behind it the names of the next number, the end and the step. Ends by a jump.
    void loop() {
        const Word counts = static_cast<Word>(place(next())), to = next();
        const Word now = value(counts + 1), end = value(counts + 2), by = value(counts + 3);
        if (by == 0) wrong("a loop by steps of 0");
        if (by > 0 ? now >= end : now <= end) return jump(to);
        set(counts, now);
        result(Operation::add, now, by);
        set(counts + 1, number());
    }

    Region scratch(Bytes length_B) {
        if (length_B < 0 || length_B > most_held_B)
            wrong("memory of " + std::to_string(length_B) + " B: 0 to " + std::to_string(most_held_B) +
                  " B are had");
        return only_needs_ ? Region{Memory::scratch, 0, length_B} : builder_.scratch(length_B);
    }

    // The whole input or output. Where a rank's output does not count, memory stands for it.
    Region vector(bool is_input) {
        const Collective& collective = *algorithm_.operation;
        const auto size_B = is_input ? collective.input_B : collective.output_B;
        Problem apart = problem_;
        apart.in_place = false;
        const Bytes mine_B = size_B(apart, rank_), of_root_B = size_B(apart, apart.root);
        if (is_input && mine_B < of_root_B) wrong("only the root has an input");
        if (is_input && mine_B == 0 && problem_.bytes > 0)
            wrong(std::string(collective.name) + " has no input: the root's data is in output");
        if (only_needs_) return {Memory::output, 0, std::max(mine_B, of_root_B)};
        if (is_input) return builder_.input(0, mine_B);
        if (mine_B == of_root_B || mine_B > 0) return builder_.output(0, mine_B);
        if (!stands_for_output_.length_B) stands_for_output_ = scratch(of_root_B);
        return stands_for_output_;
    }

    // Of the region the blocks from the first to before the last.
    void blocks() {
        const Word last = number(), first = number(), count = value(name_blocks);
        const Region whole = region();
        if (count < 1 || count > most_ranks) wrong("a vector cut into " + std::to_string(count) + " blocks");
        if (first < 0 || last > count || first > last)
            wrong("blocks " + std::to_string(first) + " to " + std::to_string(last) + " are not within the " +
                  std::to_string(count) + " that there are");
        regions_.push_back(Pieces::blocks(whole.length_B, static_cast<int>(count), problem_.element_B)
                               .of(whole, static_cast<int>(first), static_cast<int>(last)));
    }

    // `named`: how many numbers of steps are on the stack for which it waits besides.
    void step(Operation operation, Word named) {
        std::vector<int> after;
        for (; named > 0; --named) {
            const Word before = number();
            if (before < Builder::none || before > builder_.latest())
                wrong("after= takes steps of this rank");
            if (before != Builder::none) after.push_back(static_cast<int>(before));
        }
        const bool is_local = operation == Operation::copy || operation == Operation::reduce;
        const Word peer = is_local ? Word{-1} : number();
        const Region into = operation == Operation::send ? Region{} : region();
        const Region from = operation == Operation::receive ? Region{} : region();
        if (!is_local && (peer < 0 || peer >= problem_.ranks))
            wrong("there is no rank " + std::to_string(peer));
        if (peer == rank_)
            wrong("a rank sends itself nothing: copy() does, and require(P > 1) is for two or more");
        if (is_local && from.length_B != into.length_B)
            wrong(std::to_string(from.length_B) + " B into " + std::to_string(into.length_B) + " B");
        if (into.memory == Memory::input && into.length_B > 0) wrong("the input must not be written");
        memories_.before(from, false, after);
        memories_.before(into, true, after);
        if (operation == Operation::reduce) memories_.before(into, false, after);
        // What stands before `wait()` is waited for by way of the steps that `wait()` left.
        after.erase(std::remove_if(after.begin(), after.end(), [&](int s) { return s < waited_; }),
                    after.end());
        after.insert(after.end(), left_.begin(), left_.end());
        std::sort(after.begin(), after.end());
        after.erase(std::unique(after.begin(), after.end()), after.end());
        const int other = static_cast<int>(peer);
        const bool signal = from == none || into == none;
        int added = Builder::none;
        switch (operation) {
            case Operation::send:
                added = signal ? builder_.signal(other, after) : builder_.send(other, from, after);
                break;
            case Operation::receive:
                added = signal ? builder_.await(other, after) : builder_.receive(other, into, after);
                break;
            case Operation::copy:
                added = builder_.copy(from, into, after);
                break;
            default:
                added = builder_.reduce(from, into, after);
                break;
        }
        numbers_.push_back(added);
        if (added == Builder::none) return;
        followed_.resize(static_cast<std::size_t>(added) + 1);
        for (const int before : after) followed_[static_cast<std::size_t>(before)] = true;
        memories_.touch(from, false, added);
        memories_.touch(into, true, added);
        expect_held(builder_.held_B() + memories_.held_B());
    }

    // Later steps wait for all so far.
    void wait() {
        std::vector<int> open;
        for (std::size_t s = static_cast<std::size_t>(waited_); s < followed_.size(); ++s)
            if (!followed_[s]) open.push_back(static_cast<int>(s));
        if (open.empty()) return;
        left_ = open;
        waited_ = builder_.latest() + 1;
    }

    const Algorithm& algorithm_;
    const std::vector<Word>& code_;
    const Problem& problem_;
    const int rank_;
    Builder& builder_;
    const bool only_needs_;
    const Bytes most_;
    std::size_t at_ = 0;
    Word executed_ = 0, line_ = 0;
    std::vector<Word> numbers_;
    std::vector<Region> regions_;
    std::vector<std::pair<Word, bool>> values_;
    std::map<std::size_t, Region> named_;
    Region stands_for_output_{Memory::scratch, 0, 0};
    TouchedMemories memories_;
    std::vector<bool> followed_;
    std::vector<int> left_;
    int waited_ = 0;
};

}  // namespace
}  // namespace written

const Algorithm& define(const std::string& collective, const std::string& name, std::vector<Word> program) {
    Algorithm algorithm(collective.c_str(), name.c_str(), nullptr);
    if (algorithm.operation == nullptr) throw std::invalid_argument("unknown collective " + collective);
    Algorithm& entry = algorithms()[{collective, name}];
    if (entry.generate != nullptr) throw std::invalid_argument(name + " is one of our algorithms");
    algorithm.written = std::make_shared<const std::vector<Word>>(std::move(program));
    return entry = algorithm;
}

void run_written(const Algorithm& algorithm, const Problem& problem, int rank, Builder& builder,
                 bool only_needs) {
    written::Machine(algorithm, problem, rank, builder, only_needs).run();
}

}  // namespace hockney
