#include "channel.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "../schedule/collective.hpp"
#include "lenient.hpp"
#include "library.hpp"
#include "served.hpp"

namespace hockney {
namespace {

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

// What a rank needs at most, in vectors of the call: four for a schedule's scratch, and one each for data
// that goes in, that comes out, and that is put back between gaps.
constexpr Bytes most_vectors = 7;

// A vector in more pieces would be some hundred megabytes of steps for each rank. Ranks have different
// numbers of steps, and must decide alike.
constexpr Bytes most_pieces = 1 << 20;

bool has_too_many_pieces(const Problem& problem) {
    return problem.segment_B > 0 && problem.bytes / problem.segment_B >= most_pieces;
}

// What the other ranks, which are in the schedule already, would wait for: the end of the program, not of its
// words.
[[noreturn]] void end_program(const std::string& why, MPI_Comm comm) {
    std::fprintf(stderr, "hockney: %s\n", why.c_str());
    PMPI_Abort(comm, 1);
    std::abort();
}

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
    const trace::Once once;
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
        ++gone_;
        living.erase(ordinal_);
        add_to(ended);
    }
    if (taken_ != nullptr) taken_->leave();
    if (comm_ == MPI_COMM_NULL) return;
    PMPI_Comm_free(&comm_);
    --private_ones;
}

void Channel::add_to(Totals& totals) {
    kept_.add_to(totals);
    for (std::size_t i = 0; i < operations; ++i)
        for (std::size_t why = 0; why < whys; ++why)
            if (passed_[i][why].calls != 0)
                totals[{name_of(static_cast<Operation>(i)), -1, reasons[why]}].add(passed_[i][why]);
}

void Channel::count(const Asked& asked, const Count& one) {
    if (asked.why == Why::compared) {
        const auto held = hold();
        const Kept::Slot* const slot = kept_.find(key_of(asked));
        if (slot != nullptr && slot->prepared) return slot->prepared->by_library.add(one);
        // Another thread has dropped the schedule.
    }
    passed_[static_cast<std::size_t>(asked.operation)][static_cast<std::size_t>(asked.why)].add(one);
}

void Channel::count(long ordinal, const Asked& asked, const Count& one) {
    Channel* still = nullptr;
    {
        const std::lock_guard<std::mutex> held(mutex);
        const auto found = living.find(ordinal);
        if (found != living.end())
            still = found->second;
        else
            ended[{name_of(asked.operation), -1, reasons[static_cast<std::size_t>(asked.why)]}].add(one);
    }
    if (still != nullptr) still->count(asked, one);
}

Kept::Key Channel::key_of(const Asked& asked) {
    const auto root = static_cast<std::uint64_t>(asked.root) << 32;
    const auto what = static_cast<std::uint32_t>(asked.operation) << 2;
    return {asked.bytes, asked.elements, root | static_cast<std::uint32_t>(asked.element_B),
            what | (asked.in_place ? 2U : 0U) | (asked.commutative ? 1U : 0U)};
}

Prepared* Channel::prepare(Asked& asked, const Data& input, const Data& output) {
    if (asked.why != Why::served) return nullptr;
    const Kept::Key key = key_of(asked);
    Kept::Slot* slot = kept_.find(key);
    if (slot == nullptr) {
        std::unique_ptr<Prepared> prepared;
        const Why why = make(prepared, asked);
        // Nothing is kept where nothing is ever made.
        if (why == Why::no_communicator) {
            asked.why = why;
            return nullptr;
        }
        slot = &kept_.add(key);
        slot->why = why;
        slot->prepared = std::move(prepared);
        kept_.keep(*slot);
    }
    asked.why = slot->why;
    if (slot->prepared && !has_room(asked, taken_B(*slot->prepared, asked, input, output)))
        asked.why = Why::scratch;
    return asked.why == Why::served ? slot->prepared.get() : nullptr;
}

bool Channel::has_room(const Asked& asked, Bytes needed_B) const {
    const auto& collective = collectives()[static_cast<std::size_t>(asked.operation)];
    const Bytes part_B = asked.elements != 0 ? asked.elements * asked.element_B : asked.bytes;
    const Bytes vector_B = collective.sizes_are_blocks ? part_B * ranks_ : part_B;
    if (vector_B * most_vectors <= settings().scratch_B) return true;
    // Ranks need different amounts, and must decide alike: so large a call has the time to ask.
    long long most_B = needed_B;
    const int code = library::Allreduce(MPI_IN_PLACE, &most_B, 1, MPI_LONG_LONG, MPI_MAX, comm_);
    return code == MPI_SUCCESS && most_B <= settings().scratch_B;
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
        prepared->scratch_B = schedule.scratch_B;
        prepared->used = {rule->algorithm->collective, rule->number, ""};
        prepared->writes_output = std::any_of(
            schedule.steps.begin(), schedule.steps.end(),
            [](const Step& step) { return step.kind != Kind::send && step.into.memory == Memory::output; });
        prepared->program = std::make_unique<Program>(schedule, comm_, asked.element);
    } catch (const std::exception& lack) {
        end_program(std::string("a schedule cannot be made: ") + lack.what() + "; use longer segments",
                    comm_);
    }
    return Why::served;
}

int Channel::run(Prepared& prepared, const Asked& asked, const Data& input, const Data& output) {
    try {
        return hockney::run(prepared, asked, input, output, comm_);
    } catch (const std::bad_alloc&) {
        end_program("there is no memory for the scratch of a schedule; allow less of it", comm_);
    }
}

}  // namespace hockney
