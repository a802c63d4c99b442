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

}  // namespace hockney
