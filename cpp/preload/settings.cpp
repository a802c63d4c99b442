#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace hockney {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

Bytes number(const char* name, Bytes otherwise) {
    const std::string text = variable(name);
    return text.empty() ? otherwise : std::strtoll(text.c_str(), nullptr, 10);
}

// Words of `HOCKNEY_PRELOAD_RULES`, lines apart by `;`: collective, algorithm, least and most ranks, least
// and most bytes, bytes of a segment, radix.
std::vector<Rule> rules_of(const std::string& text) {
    std::vector<Rule> rules;
    std::istringstream lines(text);
    int number = -1;
    for (std::string line; std::getline(lines, line, ';');) {
        ++number;
        std::istringstream words(line);
        std::string collective, name;
        Rule rule;
        words >> collective >> name >> rule.least_ranks >> rule.most_ranks >> rule.least_B >> rule.most_B >>
            rule.segment_B >> rule.radix;
        const auto found = algorithms().find({collective, name});
        if (!words || found == algorithms().end()) {
            std::fprintf(stderr, "hockney: no rule: '%s'; the library's own code runs instead\n",
                         line.c_str());
            continue;
        }
        rule.algorithm = &found->second;
        rule.number = number;
        rules.push_back(rule);
    }
    return rules;
}

Settings read() {
    Settings made;
    const std::string mode = variable("HOCKNEY_PRELOAD");
    made.is_on = !mode.empty();
    made.is_watching = mode == "profile";
    made.sums_ranks = !variable("HOCKNEY_PRELOAD_SUMMARY").empty();
    made.is_timed = made.sums_ranks || made.is_watching;
    made.is_compared = !variable("HOCKNEY_PRELOAD_COMPARE").empty();
    made.is_bitwise = !variable("HOCKNEY_PRELOAD_BITWISE").empty();
    made.scratch_B = number("HOCKNEY_PRELOAD_SCRATCH", made.scratch_B);
    made.kept_B = number("HOCKNEY_PRELOAD_KEPT", made.kept_B);
    made.report = variable("HOCKNEY_PRELOAD_REPORT");
    made.trace_folder = made.is_watching ? variable("HOCKNEY_PRELOAD_TRACE") : "";
    made.trace_clock = variable("HOCKNEY_PRELOAD_CLOCK");
    made.mpi = variable("HOCKNEY_PRELOAD_MPI");
    made.trace_limit_B = static_cast<std::uint64_t>(number("HOCKNEY_PRELOAD_TRACE_LIMIT", 0));
    if (!made.is_watching) made.rules = rules_of(variable("HOCKNEY_PRELOAD_RULES"));
    return made;
}

}  // namespace

const Settings& settings() {
    static const Settings& only = *new Settings(read());
    return only;
}

}  // namespace hockney
