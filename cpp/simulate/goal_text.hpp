// The text of a GOAL file: its characters as they are read, and the labels of a rank's operations.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "goal.hpp"
#include "mapped_file.hpp"

namespace hockney {

// Of a name in a message.
constexpr std::size_t most_shown = 40;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool begins_word(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

// Numbers of the operations of a rank by their labels. Most labels are `l` and a number.
class GoalLabels {
  public:
    void clear() {
        numbered_.clear();
        others_.clear();
    }
    // `nobody` for none.
    std::uint32_t find(std::string_view label) const {
        const std::size_t number = number_of(label);
        if (number < numbered_.size() && numbered_[number] != none) return numbered_[number];
        const auto found = others_.find(std::string(label));
        return found == others_.end() ? none : found->second;
    }
    void add(std::string_view label, std::uint32_t operation) {
        const std::size_t number = number_of(label);
        if (number > 2 * std::size_t{operation} + 1024) {
            others_[std::string(label)] = operation;
            return;
        }
        if (number >= numbered_.size()) numbered_.resize(std::max(number + 1, 2 * numbered_.size()), none);
        numbered_[number] = operation;
    }
    static constexpr std::uint32_t none = UINT32_MAX;

  private:
    // SIZE_MAX where it is none.
    static std::size_t number_of(std::string_view label) {
        if (label.size() < 2 || label.size() > 10 || label[0] != 'l') return SIZE_MAX;
        if (label[1] == '0' && label.size() > 2) return SIZE_MAX;
        std::size_t number = 0;
        for (std::size_t i = 1; i < label.size(); ++i) {
            if (label[i] < '0' || label[i] > '9') return SIZE_MAX;
            number = 10 * number + static_cast<std::size_t>(label[i] - '0');
        }
        return number;
    }

    std::vector<std::uint32_t> numbered_;
    std::unordered_map<std::string, std::uint32_t> others_;
};

// Characters of a file, of which those since a mark can be had again.
class GoalText {
  public:
    GoalText(const std::string& path, const char* hint)
        : file_(path, hint, false), at_(begin()), end_(at_ + (file_.end() - file_.begin())), mark_(at_) {}

    // 0 at the end, and for a 0.
    char peek() const { return at_ < end_ ? *at_ : '\0'; }
    bool is_end() const { return at_ == end_; }
    void next() { line_ += *at_++ == '\n'; }
    // Empty where there is none.
    std::string_view take_word() {
        const char* const first = at_;
        if (begins_word(peek())) do
                ++at_;
            while (begins_word(peek()) || is_digit(peek()));
        return {first, static_cast<std::size_t>(at_ - first)};
    }
    // The character behind the next; 0 where there is none.
    char peek_behind() const { return at_ + 1 < end_ ? at_[1] : '\0'; }
    // The number of digits.
    int take_digits(std::int64_t& value, int most) {
        int digits = 0;
        for (value = 0; digits < most && is_digit(peek()); ++at_, ++digits) value = 10 * value + (*at_ - '0');
        return digits;
    }

    void mark() {
        mark_ = at_;
        mark_line_ = line_;
        if (mark_ - kept_ < most_kept_B) return;
        kept_ = mark_;
        file_.forget(read_B());
    }
    void go_back() {
        at_ = mark_;
        line_ = mark_line_;
    }
    std::size_t marked_line() const { return mark_line_; }
    // What stands from the mark on, to the end of its line.
    std::string near() {
        go_back();
        std::string text;
        for (; text.size() < most_shown && !is_end() && peek() != '\n'; next())
            text += peek() >= ' ' && peek() < 127 ? peek() : '?';
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }
    // How many of those that have been read the whole file has.
    double share() const {
        return static_cast<double>(file_.end() - file_.begin()) /
               static_cast<double>(std::max<std::size_t>(read_B(), 1));
    }

  private:
    static constexpr std::ptrdiff_t most_kept_B = 1 << 22;

    const char* begin() const { return reinterpret_cast<const char*>(file_.begin()); }
    std::size_t read_B() const { return static_cast<std::size_t>(at_ - begin()); }

    MappedFile file_;
    const char *at_, *end_, *mark_, *kept_ = at_;
    std::size_t line_ = 1, mark_line_ = 1;
};

}  // namespace hockney
