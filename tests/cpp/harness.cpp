// Lets Python feed the runner's statistics and stopping criteria: one command a line, one JSON line back.
//
//   summarise VALUE:PREEMPTED …          → summary
//   stop TOLERANCE LEAST LEAST_S BUDGET_S LEAST_IN_BUDGET MOST STEP_S VALUE …   → what the rule has reached,
//   and after how many samples, a step of time each; −1: never
#include <iostream>
#include <sstream>
#include <string>

#include "json.hpp"
#include "statistics.hpp"
#include "stopping.hpp"

using namespace hockney;

namespace {

std::string summary(std::istringstream& words) {
    std::vector<Sample> samples;
    for (std::string word; words >> word;) {
        const auto colon = word.find(':');
        samples.push_back({std::stod(word.substr(0, colon)), word.substr(colon + 1) == "1"});
    }
    const Summary result = summarise(samples);
    JsonObject object;
    // All digits: the test compares with its own arithmetic.
    object.raw("median_s", std::to_string(result.median_s)).raw("low_s", std::to_string(result.low_s));
    object.raw("high_s", std::to_string(result.high_s)).add("disturbed", result.disturbed);
    object.add("used", result.used).add("quantiles_s", result.quantiles_s);
    return object.str();
}

std::string stopped_after(std::istringstream& words) {
    StoppingRule rule;
    double step_s = 0;
    words >> rule.tolerance >> rule.least >> rule.least_s >> rule.budget_s >> rule.least_in_budget >>
        rule.most >> step_s;
    std::vector<Sample> samples;
    for (double value = 0; words >> value;) {
        samples.push_back({value, false});
        const std::string name = rule.reached(samples, step_s * static_cast<double>(samples.size()));
        if (!name.empty())
            return JsonObject().add("name", name).add("after", static_cast<long>(samples.size())).str();
    }
    return JsonObject().add("name", "").add("after", -1).str();
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string command;
        words >> command;
        std::cout << (command == "summarise" ? summary(words) : stopped_after(words)) << std::endl;
    }
}
