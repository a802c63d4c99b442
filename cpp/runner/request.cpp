// Parsing of request lines.
#include "request.hpp"

#include <sstream>

namespace hockney {

Request::Request(const std::string& line) {
    std::istringstream words(line);
    words >> word_;
    for (std::string pair; words >> pair;) {
        const auto equals = pair.find('=');
        if (equals == std::string::npos || equals == 0) throw BadRequest("'" + pair + "' is not key=value");
        values_[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
}

const std::string& Request::text(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end()) throw BadRequest("'" + key + "' is missing");
    return found->second;
}

long Request::whole(const std::string& key) const {
    const std::string& value = text(key);
    std::size_t used = 0;
    long number = 0;
    try {
        number = std::stol(value, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != value.size()) throw BadRequest(key + "=" + value + " is not a whole number");
    return number;
}

double Request::real(const std::string& key) const {
    const std::string& value = text(key);
    std::size_t used = 0;
    double number = 0;
    try {
        number = std::stod(value, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != value.size()) throw BadRequest(key + "=" + value + " is not a number");
    return number;
}

std::vector<int> Request::wholes(const std::string& key, int most) const {
    const std::string& value = text(key);
    const BadRequest wrong(key + "=" + value + " is not a list of numbers such as 0,4-7");
    std::vector<int> found;
    std::istringstream parts(value);
    for (std::string part; std::getline(parts, part, ',');) {
        int first = 0, last = 0;
        char dash = 0, more = 0;
        std::istringstream words(part);
        if (!(words >> first)) throw wrong;
        if (!(words >> dash))
            last = first;
        else if (dash != '-' || !(words >> last) || words >> more)
            throw wrong;
        if (first < 0 || last < first || last - first >= most - static_cast<int>(found.size())) throw wrong;
        for (int number = first; number <= last; ++number) found.push_back(number);
    }
    if (found.empty()) throw wrong;
    return found;
}

}  // namespace hockney
