// Lets Python feed the runner's statistics and stopping criteria: one command a line, one JSON line back.
//
//   summarise VALUE:PREEMPTED …          → summary
//   stop TOLERANCE LEAST LEAST_S BUDGET_S LEAST_IN_BUDGET MOST STEP_S VALUE …   → what the rule has reached,
//   and after how many samples, a step of time each; −1: never
//   stop_each FILE LENGTH TOLERANCE LEAST   → the same rule on every stream of doubles, LENGTH long, in the
//   file: after how many samples it stops (all of them: never), and the interval then
#include <cmath>
#include <fstream>
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
    object.add("disturbed_but_counted", result.disturbed_but_counted);
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

std::string stopped_each(std::istringstream& words) {
    std::string path;
    std::size_t length = 0;
    double tolerance = 0;
    long least = 0;
    words >> path >> length >> tolerance >> least;
    std::ifstream file(path, std::ios::binary);
    std::vector<double> after, low_s, high_s, stream(length);
    while (file.read(reinterpret_cast<char*>(stream.data()),
                     static_cast<std::streamsize>(length * sizeof(double)))) {
        StoppingRule rule;
        rule.tolerance = tolerance;
        rule.least = least;
        rule.budget_s = HUGE_VAL;
        rule.most = static_cast<long>(length);
        std::vector<Sample> samples;
        do {
            samples.push_back({stream[samples.size()], false});
        } while (rule.reached(samples, 0).empty());
        const Summary result = summarise(samples);
        after.push_back(static_cast<double>(samples.size()));
        low_s.push_back(result.low_s);
        high_s.push_back(result.high_s);
    }
    return JsonObject().add("after", after).add("low_s", low_s).add("high_s", high_s).str();
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string command;
        words >> command;
        if (command == "summarise")
            std::cout << summary(words) << std::endl;
        else
            std::cout << (command == "stop" ? stopped_after(words) : stopped_each(words)) << std::endl;
    }
}
