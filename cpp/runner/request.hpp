// A request is one line of text, `word key=value key=value …`: what a person can type, what C++ can parse.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace hockney {

struct BadRequest : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Request {
  public:
    explicit Request(const std::string& line);

    const std::string& word() const { return word_; }
    bool has(const std::string& key) const { return values_.count(key) != 0; }

    // Each throws BadRequest where the key is missing, or its value is not of the kind or beyond the limits.
    const std::string& text(const std::string& key) const;
    long whole(const std::string& key, long least = std::numeric_limits<long>::min(),
               long most = std::numeric_limits<long>::max()) const;
    double real(const std::string& key, double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max()) const;
    double positive(const std::string& key) const;
    // Which of these words it is.
    std::size_t choice(const std::string& key, std::initializer_list<const char*> words) const;
    // A list of numbers that are not negative, `0,4-7`, of at most `most` of them.
    std::vector<int> wholes(const std::string& key, int most) const;

  private:
    std::string word_;
    std::map<std::string, std::string> values_;
};

}  // namespace hockney
