#include "channel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>

#include "../schedule/collective.hpp"
#include "lenient.hpp"
#include "library.hpp"

namespace hockney {
namespace {

// Schedules that a communicator keeps. A program with more sizes than that has them made again: what is sent
// does not depend on it.
constexpr std::size_t slots = 1024;
constexpr std::size_t most_used = slots / 2;
constexpr Bytes most_kept_B = Bytes{256} << 20;

// Communicators of ours that a process has at once. Libraries have numbers for some thousands, and the
// program needs its own.
constexpr int most_private = 256;
std::atomic<int> private_ones{0};

int keyval = MPI_KEYVAL_INVALID;
// Never destroyed: programs may end MPI at their very end.
auto& mutex = *new std::mutex;
auto& making = *new std::mutex;
// In the order in which they were made: the same on all ranks, as their first calls are. So are their
// communicators freed.
auto& living = *new std::map<long, Channel*>;
long made_so_far = 0;
auto& ended = *new Totals;

int end_channel(MPI_Comm, int, void* attribute, void*) {
    delete static_cast<Channel*>(attribute);
    return MPI_SUCCESS;
}

Channel* known_of(MPI_Comm comm) {
    void* attribute = nullptr;
    int found = 0;
    PMPI_Comm_get_attr(comm, keyval, &attribute, &found);
    return found != 0 ? static_cast<Channel*>(attribute) : nullptr;
}

// A vector in more pieces would be some hundred megabytes of steps for each rank. Ranks have different
// numbers of steps, and must decide alike.
constexpr Bytes most_pieces = 1 << 20;

bool has_too_many_pieces(const Problem& problem) {
    return problem.segment_B > 0 && problem.bytes / problem.segment_B >= most_pieces;
}

// What the other ranks, which are in the schedule already, would wait for: the end of the program, not of its
// words.
[[noreturn]] void end_program(const char* why, MPI_Comm comm) {
    std::fprintf(stderr, "hockney: a schedule cannot be made: %s; use longer segments\n", why);
    PMPI_Abort(comm, 1);
    std::abort();
}

// A buffer from an address of its own on: MPICH refuses to pack what lies at MPI_BOTTOM, by absolute
// addresses.
class Addressed {
  public:
    Addressed(const Data& data, const void* from)
        : at(const_cast<void*>(from)), count(static_cast<int>(data.count)), type(data.type) {
        if (from != MPI_BOTTOM || data.count == 0) return;
        MPI_Aint first = 0, length = 0;
        PMPI_Type_get_true_extent(data.type, &first, &length);
        const MPI_Aint back = -first;
        PMPI_Type_create_hindexed(1, &count, &back, data.type, &type);
        PMPI_Type_commit(&type);
        std::memcpy(&at, &first, sizeof at);
        count = 1;
        is_made_ = true;
    }
    ~Addressed() {
        if (is_made_) PMPI_Type_free(&type);
    }
    Addressed(const Addressed&) = delete;
    Addressed& operator=(const Addressed&) = delete;

    void* at;
    int count;
    MPI_Datatype type;

  private:
    bool is_made_ = false;
};

// The first of two that is an error.
int first_error(int one, int other) { return one != MPI_SUCCESS ? one : other; }

}  // namespace

const char* name_of(Operation operation) {
    // Nothing that is destroyed: programs may end MPI at their very end.
    static const std::array<const char*, operations> names = [] {
        std::array<const char*, operations> all{};
        for (std::size_t i = 0; i < operations; ++i) all[i] = collectives()[i].name;
        return all;
    }();
    return names[static_cast<std::size_t>(operation)];
}

void Prepared::add_to(Totals& totals) const {
    totals[used].add(compared());
    if (by_library.calls != 0)
        totals[{used.operation, -1, reasons[static_cast<std::size_t>(Why::compared)]}].add(by_library);
}

Count Prepared::compared() const {
    Count made = count;
    if (count.calls != 0 && by_library.calls != 0) {
        made.compared_s = count.time_s;
        made.library_s =
            by_library.time_s / static_cast<double>(by_library.calls) * static_cast<double>(count.calls);
    }
    return made;
}

void Channel::open() { PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_channel, &keyval, nullptr); }

void Channel::close() {
    std::vector<MPI_Comm> all;
    {
        const std::lock_guard<std::mutex> held(mutex);
        for (const auto& [ordinal, one] : living) all.push_back(one->user_);
    }
    for (const MPI_Comm comm : all) PMPI_Comm_delete_attr(comm, keyval);
    PMPI_Comm_free_keyval(&keyval);
}

Totals Channel::totals() {
    const std::lock_guard<std::mutex> held(mutex);
    Totals all = ended;
    for (const auto& [ordinal, one] : living) one->add_to(all);
    return all;
}

Channel& Channel::of(MPI_Comm comm) {
    if (Channel* known = known_of(comm)) return *known;
    const std::lock_guard<std::mutex> held(making);
    // Another thread may have made it meanwhile.
    if (Channel* known = known_of(comm)) return *known;
    auto* made = new Channel(comm);
    PMPI_Comm_set_attr(comm, keyval, made);
    return *made;
}

Channel::Channel(MPI_Comm comm) : user_(comm) {
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    is_inter_ = inter != 0;
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &ranks_);
    if (settings().is_watching) watched_ = &Watched::of(comm);
    for (const Rule& rule : settings().rules)
        for (std::size_t i = 0; i < operations; ++i)
            if (rule.algorithm->collective == name_of(static_cast<Operation>(i)) &&
                rule.least_ranks <= ranks_ && ranks_ <= rule.most_ranks)
                rules_[i].push_back(rule);
    const std::lock_guard<std::mutex> held(mutex);
    ordinal_ = made_so_far++;
    living[ordinal_] = this;
}

Channel::~Channel() {
    {
        const std::lock_guard<std::mutex> held(mutex);
        living.erase(ordinal_);
        add_to(ended);
    }
    if (taken_ != nullptr) taken_->leave();
    slots_.clear();
    if (comm_ == MPI_COMM_NULL) return;
    PMPI_Comm_free(&comm_);
    --private_ones;
}

void Channel::add_to(Totals& totals) const {
    for (const auto& [used, count] : forgotten_) totals[used].add(count);
    for (const Slot& slot : slots_)
        if (slot.prepared) slot.prepared->add_to(totals);
    for (std::size_t i = 0; i < operations; ++i)
        for (std::size_t why = 0; why < whys; ++why)
            if (passed_[i][why].calls != 0)
                totals[{name_of(static_cast<Operation>(i)), -1, reasons[why]}].add(passed_[i][why]);
}

Channel::Key Channel::key_of(const Asked& asked) {
    const auto root = static_cast<std::uint64_t>(asked.root) << 32;
    const auto what = static_cast<std::uint32_t>(asked.operation) << 2;
    return {asked.bytes, asked.elements, root | static_cast<std::uint32_t>(asked.element_B),
            what | (asked.in_place ? 2U : 0U) | (asked.commutative ? 1U : 0U)};
}

Channel::Slot& Channel::slot_of(const Key& key) {
    std::uint64_t mixed = (static_cast<std::uint64_t>(key.bytes) + key.what) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 29) ^ key.how) * 0xBF58476D1CE4E5B9ULL;
    std::size_t place = (mixed >> 32) % slots;
    while (slots_[place].is_used && !(slots_[place].key == key)) place = (place + 1) % slots;
    return slots_[place];
}

Prepared* Channel::prepare(Asked& asked) {
    if (asked.why != Why::served) return nullptr;
    if (slots_.empty()) slots_.resize(slots);
    const Key key = key_of(asked);
    Slot* slot = &slot_of(key);
    if (!slot->is_used) {
        if (used_ == most_used || held_B_ > most_kept_B) {
            forget();
            slot = &slot_of(key);
        }
        ++used_;
        slot->is_used = true;
        slot->key = key;
        slot->why = make(slot->prepared, asked);
    }
    asked.why = slot->why;
    return slot->prepared.get();
}

void Channel::forget() {
    for (Slot& slot : slots_) {
        if (slot.prepared) slot.prepared->add_to(forgotten_);
        slot = Slot{};
    }
    used_ = 0;
    held_B_ = 0;
}

bool Channel::is_private() {
    if (is_tried_) return comm_ != MPI_COMM_NULL;
    is_tried_ = true;
    const Lenient lenient(user_);
    // Ranks have different communicators besides this one.
    if (!agreed(private_ones < most_private)) return false;
    // Not a duplicate: that would call what the program attached to its communicator.
    const bool is_made = PMPI_Comm_split(user_, 0, rank_, &comm_) == MPI_SUCCESS;
    if (agreed(is_made)) {
        // The program's handler gets what goes wrong there.
        PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
        ++private_ones;
        return true;
    }
    if (is_made) PMPI_Comm_free(&comm_);
    comm_ = MPI_COMM_NULL;
    return false;
}

bool Channel::agreed(bool mine) const {
    int all = mine ? 1 : 0;
    return library::Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, user_) == MPI_SUCCESS && all == 1;
}

const Rule* Channel::rule_for(const Asked& asked) const {
    const std::vector<Rule>& rules = rules_of(asked.operation);
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const Rule& one) {
        return one.least_B <= asked.bytes && asked.bytes <= one.most_B;
    });
    return rule != rules.end() ? &*rule : nullptr;
}

Why Channel::make(std::unique_ptr<Prepared>& prepared, const Asked& asked) {
    const Rule* const rule = rule_for(asked);
    if (rule == nullptr) return Why::no_rule;
    Problem problem;
    problem.ranks = ranks_;
    problem.root = asked.root;
    problem.bytes = asked.elements != 0 ? asked.elements * asked.element_B : asked.bytes;
    problem.element_B = asked.element_B;
    problem.segment_B = rule->segment_B;
    problem.radix = rule->radix;
    problem.in_place = asked.in_place;
    problem.commutative = asked.commutative;
    if (!refusal(*rule->algorithm, problem).empty() || has_too_many_pieces(problem)) return Why::refused;
    if (!is_private()) return Why::no_communicator;
    try {
        const RankSchedule schedule = generate(*rule->algorithm, problem, rank_);
        prepared = std::make_unique<Prepared>();
        prepared->used = {rule->algorithm->collective, rule->number, ""};
        prepared->writes_output = std::any_of(
            schedule.steps.begin(), schedule.steps.end(),
            [](const Step& step) { return step.kind != Kind::send && step.into.memory == Memory::output; });
        prepared->program = std::make_unique<Program>(schedule, comm_, asked.element);
        scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(schedule.scratch_B)));
        held_B_ += static_cast<Bytes>(schedule.steps.size() * sizeof(Step));
    } catch (const std::exception& lack) {
        end_program(lack.what(), comm_);
    }
    return Why::served;
}

std::byte* Channel::staged(const Data& data, std::vector<std::byte>& stage, int& code) {
    if (data.staged_B == 0) return static_cast<std::byte*>(data.at);
    stage.resize(std::max(stage.size(), static_cast<std::size_t>(data.staged_B)));
    if (data.spread_B != 0)
        std::memcpy(stage.data(), data.at, static_cast<std::size_t>(data.spread_B));
    else
        code = first_error(code, pack(data, data.at, stage));
    return stage.data();
}

int Channel::pack(const Data& data, const void* from, std::vector<std::byte>& into) const {
    int position = 0;
    const Addressed packed(data, from);
    return PMPI_Pack(packed.at, packed.count, packed.type, into.data(), static_cast<int>(into.size()),
                     &position, comm_);
}

int Channel::run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output) {
    // In place, and at the root of a broadcast, the output holds data already; what else it holds is
    // overwritten.
    int code = MPI_SUCCESS;
    std::byte* const from = staged(input, staged_input_, code);
    std::byte* into = staged(output, staged_output_, code);
    if (output.is_kept && output.staged_B == 0 && prepared.writes_output) {
        const auto size = static_cast<std::size_t>(asked.bytes);
        staged_output_.resize(std::max(staged_output_.size(), size));
        into = static_cast<std::byte*>(std::memcpy(staged_output_.data(), output.at, size));
    }
    code = first_error(code, prepared.program->run(from, into, scratch_.data(), asked.element, asked.op));
    if (output.staged_B != 0 && !output.is_kept) {
        // Data alone goes back: what lies in the gaps is the program's.
        std::vector<std::byte>* bytes = &staged_output_;
        if (output.spread_B != 0) {
            bytes = &packed_;
            packed_.resize(std::max(packed_.size(), static_cast<std::size_t>(output.staged_B)));
            code = first_error(code, pack(output, into, packed_));
        }
        int position = 0;
        const Addressed wanted(output, output.at);
        code = first_error(code, PMPI_Unpack(bytes->data(), static_cast<int>(bytes->size()), &position,
                                             wanted.at, wanted.count, wanted.type, comm_));
    }
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(user_, code);
    return code;
}

}  // namespace hockney
