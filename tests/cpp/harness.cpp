// Lets Python feed the runner's statistics and stopping criteria: one command a line, one JSON line back.
//
//   summarise VALUE:PREEMPTED …          → summary
//   stop interval TOL LEAST LEAST_S STEP_S VALUE …   → number of samples after which the criterion was
//   content, or −1 stop budget BUDGET_S LEAST STEP_S VALUE … stop count MOST STEP_S VALUE …
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "json.hpp"
#include "statistics.hpp"
#include "stopping/criterion.hpp"

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
    std::string kind;
    words >> kind;
    std::vector<std::unique_ptr<Criterion>> criteria;
    double tolerance = 0, least_s = 0, budget_s = 0, step_s = 0;
    long least = 0, most = 0;
    if (kind == "interval") {
        words >> tolerance >> least >> least_s;
        criteria.push_back(interval_criterion(tolerance, least, least_s));
    } else if (kind == "budget") {
        words >> budget_s >> least;
        criteria.push_back(budget_criterion(budget_s, least));
    } else {
        words >> most;
        criteria.push_back(count_criterion(most));
    }
    words >> step_s;
    std::vector<Sample> samples;
    for (double value = 0; words >> value;) {
        samples.push_back({value, false});
        const std::string name = finished(criteria, samples, step_s * static_cast<double>(samples.size()));
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
