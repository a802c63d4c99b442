// Schedules for Python: algorithms, steps (which tests may change to see the verifier object), proof and
// counts.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "../analyse/count.hpp"
#include "../analyse/verify.hpp"
#include "../schedule/collective.hpp"
#include "../schedule/schedule.hpp"
#include "../simulate/written.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MAKE_OPAQUE(std::vector<hockney::Step>)
NB_MAKE_OPAQUE(std::vector<hockney::RankSchedule>)

namespace hockney {
namespace {

template <class Number>
using Column = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

const Collective& known(const std::string& name) {
    const Collective* collective = find_collective(name);
    if (collective == nullptr) throw std::invalid_argument("unknown collective " + name);
    return *collective;
}

const Algorithm& known(const std::string& collective, const std::string& name) {
    const auto found = algorithms().find({collective, name});
    if (found == algorithms().end())
        throw std::invalid_argument("unknown algorithm " + collective + " " + name);
    return found->second;
}

void accept(const Algorithm& algorithm, const Problem& problem) {
    const std::string reason = refusal(algorithm, problem);
    if (!reason.empty()) throw std::invalid_argument(reason);
}

std::vector<Algorithm> all_algorithms() {
    std::vector<Algorithm> all;
    // In the order of the collectives, then by name.
    for (const Collective& collective : collectives())
        for (const auto& entry : algorithms())
            if (entry.first.first == collective.name) all.push_back(entry.second);
    return all;
}

}  // namespace

void register_schedule(nb::module_& module) {
    nb::exception<TooLarge>(module, "TooLarge", PyExc_MemoryError);
    module.attr("MOST_RANKS") = most_ranks;
    nb::enum_<Memory>(module, "Memory")
        .value("input", Memory::input)
        .value("output", Memory::output)
        .value("scratch", Memory::scratch);
    nb::enum_<Kind>(module, "Kind")
        .value("send", Kind::send)
        .value("receive", Kind::receive)
        .value("copy", Kind::copy)
        .value("reduce", Kind::reduce);
    nb::class_<Region>(module, "Region")
        .def(nb::init<>())
        .def_rw("memory", &Region::memory)
        .def_rw("offset_B", &Region::offset_B)
        .def_rw("length_B", &Region::length_B);
    nb::class_<Step>(module, "Step")
        .def(nb::init<>())
        .def_rw("kind", &Step::kind)
        .def_rw("peer", &Step::peer)
        .def_rw("tag", &Step::tag)
        .def_rw("source", &Step::from)
        .def_rw("target", &Step::into)
        .def_prop_rw(
            "after", [](const Step& step) { return std::vector<int>(step.after.begin(), step.after.end()); },
            [](Step& step, const std::vector<int>& after) { step.after = {after.begin(), after.end()}; });
    nb::bind_vector<std::vector<Step>, nb::rv_policy::reference_internal>(module, "Steps");
    nb::class_<RankSchedule>(module, "RankSchedule")
        .def(nb::init<>())
        .def_rw("steps", &RankSchedule::steps)
        .def_rw("scratch_B", &RankSchedule::scratch_B);
    nb::bind_vector<Schedule, nb::rv_policy::reference_internal>(module, "Schedule");
    module.def(
        "write_schedule",
        [](int ranks, const Column<std::int32_t>& rank, const Column<std::int32_t>& stage,
           const Column<std::int32_t>& kind, const Column<std::int32_t>& peer,
           const Column<Bytes>& length_B) {
            std::vector<StagedStep> steps(rank.size());
            if (stage.size() != steps.size() || kind.size() != steps.size() || peer.size() != steps.size() ||
                length_B.size() != steps.size())
                throw std::invalid_argument("all columns must have the same length");
            if (ranks < 1 || ranks > most_ranks_held) throw std::invalid_argument("ranks are out of range");
            for (std::size_t i = 0; i < steps.size(); ++i) {
                if (kind(i) < 0 || kind(i) > static_cast<int>(Kind::reduce))
                    throw std::invalid_argument("unknown kind of step");
                steps[i] = {rank(i), stage(i), static_cast<Kind>(kind(i)), peer(i), length_B(i)};
            }
            return write_schedule(ranks, steps);
        },
        "ranks"_a, "rank"_a, "stage"_a, "kind"_a, "peer"_a, "length_B"_a);
    nb::class_<Problem>(module, "Problem")
        .def(
            "__init__",
            [](Problem* self, int ranks, int root, Bytes bytes, Bytes element_B, Bytes segment_B, int radix,
               bool in_place, bool commutative) {
                new (self) Problem{ranks, root, bytes, element_B, segment_B, radix, in_place, commutative};
            },
            nb::kw_only(), "ranks"_a, "root"_a = 0, "bytes"_a = 0, "element_B"_a = 1, "segment_B"_a = 0,
            "radix"_a = 0, "in_place"_a = false, "commutative"_a = true)
        .def_ro("ranks", &Problem::ranks)
        .def_ro("root", &Problem::root)
        .def_ro("bytes", &Problem::bytes)
        .def_ro("element_B", &Problem::element_B)
        .def_ro("segment_B", &Problem::segment_B)
        .def_ro("radix", &Problem::radix)
        .def_ro("in_place", &Problem::in_place)
        .def_ro("commutative", &Problem::commutative);
    nb::enum_<Growth>(module, "Growth")
        .value("irregular", Growth::irregular)
        .value("per_rank", Growth::per_rank)
        .value("per_doubling", Growth::per_doubling);
    nb::class_<Algorithm>(module, "Algorithm")
        .def_ro("collective", &Algorithm::collective)
        .def_ro("name", &Algorithm::name)
        .def_ro("is_segmented", &Algorithm::is_segmented)
        .def_ro("default_radix", &Algorithm::default_radix)
        .def_ro("least_radix", &Algorithm::least_radix)
        .def_ro("is_ordered", &Algorithm::is_ordered)
        .def_ro("is_one_block", &Algorithm::is_one_block)
        .def_ro("is_divided", &Algorithm::is_divided)
        .def_ro("growth", &Algorithm::growth);
    nb::enum_<Direction>(module, "Direction")
        .value("outward", Direction::outward)
        .value("inward", Direction::inward)
        .value("between_all", Direction::between_all);
    nb::class_<Collective>(module, "Collective")
        .def_ro("name", &Collective::name)
        .def_ro("direction", &Collective::direction)
        .def_prop_ro("rooted", &Collective::rooted)
        .def_ro("reduces", &Collective::reduces)
        .def_ro("sizes_are_blocks", &Collective::sizes_are_blocks)
        .def_ro("has_size", &Collective::has_size)
        .def("input_B", [](const Collective& c, const Problem& p, int rank) { return c.input_B(p, rank); })
        .def("output_B", [](const Collective& c, const Problem& p, int rank) { return c.output_B(p, rank); });
    nb::class_<Counts>(module, "Counts")
        .def_ro("rounds", &Counts::rounds)
        .def_ro("messages", &Counts::messages)
        .def_ro("bytes", &Counts::bytes)
        .def_ro("critical_messages", &Counts::critical_messages)
        .def_ro("critical_bytes", &Counts::critical_bytes)
        .def_ro("max_degree", &Counts::max_degree)
        .def_ro("round_bytes", &Counts::round_bytes)
        .def_ro("reduced_bytes", &Counts::reduced_bytes)
        .def_ro("copied_bytes", &Counts::copied_bytes)
        .def_ro("sent_bytes", &Counts::sent_bytes)
        .def_ro("received_bytes", &Counts::received_bytes)
        .def_ro("blocks", &Counts::blocks);

    nb::class_<Move>(module, "Move")
        .def_ro("sender", &Move::from)
        .def_ro("receiver", &Move::to)
        .def_ro("send", &Move::send)
        .def_ro("receive", &Move::receive)
        .def_ro("round", &Move::round)
        .def_ro("length_B", &Move::length_B);

    module.def("algorithms", &all_algorithms);
    module.def("collectives", [] { return collectives(); });
    module.def(
        "refusal",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem) {
            return refusal(known(collective, algorithm), problem);
        },
        "collective"_a, "algorithm"_a, "problem"_a);
    module.def(
        "generate",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem) {
            accept(known(collective, algorithm), problem);
            return generate(known(collective, algorithm), problem);
        },
        "collective"_a, "algorithm"_a, "problem"_a);
    module.def(
        "generate_rank",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem, int rank) {
            accept(known(collective, algorithm), problem);
            return generate(known(collective, algorithm), problem, rank);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "rank"_a);
    module.def(
        "count_steps",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem,
           Bytes enough) {
            accept(known(collective, algorithm), problem);
            return count_steps(known(collective, algorithm), problem, enough);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "enough"_a);
    module.def(
        "verify",
        [](const std::string& collective, const Problem& problem, const Schedule& schedule) {
            return verify(known(collective), problem, schedule);
        },
        "collective"_a, "problem"_a, "schedule"_a);
    module.def("count", &count, "schedule"_a);
    module.def("moves", &moves, "schedule"_a);
    module.def(
        "beaten_bounds",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem,
           const Counts& counts) { return beaten_bounds(known(collective, algorithm), problem, counts); },
        "collective"_a, "algorithm"_a, "problem"_a, "counts"_a);
}

}  // namespace hockney
