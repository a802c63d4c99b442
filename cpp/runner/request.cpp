// Parsing of request lines.
#include "request.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <type_traits>

namespace hockney {

namespace {

template <class Number>
Number number(const std::string& key, const std::string& value, const char* kind, Number least, Number most) {
    std::size_t used = 0;
    Number number = 0;
    try {
        if constexpr (std::is_same_v<Number, long>)
            number = std::stol(value, &used);
        else
            number = std::stod(value, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != value.size()) throw BadRequest(key + "=" + value + " is not " + kind);
    if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(number)) throw BadRequest(key + " must be finite, not " + value);
    if (number >= least && number <= most) return number;
    std::ostringstream limits;
    if (most == std::numeric_limits<Number>::max())
        limits << "at least " << least;
    else
        limits << "from " << least << " to " << most;
    throw BadRequest(key + " must be " + limits.str() + ", not " + value);
}

}  // namespace

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

long Request::whole(const std::string& key, long least, long most) const {
    return number<long>(key, text(key), "a whole number", least, most);
}

double Request::real(const std::string& key, double least, double most) const {
    return number<double>(key, text(key), "a number", least, most);
}

double Request::positive(const std::string& key) const {
    const double value = real(key);
    if (!(value > 0)) throw BadRequest(key + " must be positive");
    return value;
}

std::size_t Request::choice(const std::string& key, std::initializer_list<const char*> words) const {
    const std::string& value = text(key);
    const auto found = std::find(words.begin(), words.end(), value);
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string all;
    for (const char* const& word : words)
        all += (all.empty() ? "" : &word == words.end() - 1 ? " or " : ", ") + std::string(word);
    throw BadRequest(key + " must be " + all + ", not '" + value + "'");
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
