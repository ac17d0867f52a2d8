// SPDX-License-Identifier: Apache-2.0
//
// What was measured of each figure, over the repeats, and what may be said of it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace abortscope::reproduce {

/// Two samples are told apart where Mann and Whitney's test gives no more than this.
inline constexpr double significant_p = 0.05;

class Measured {
  public:
    void add(const std::string& figure, double value) { samples_[figure].push_back(value); }

    /// These throw std::out_of_range for a figure that nothing was measured of.
    std::span<const double> samples(const std::string& figure) const { return samples_.at(figure); }
    double mean(const std::string& figure) const;
    /// The sample's standard deviation; 0 of one value.
    double sd(const std::string& figure) const;
    /// mean(above) / mean(below).
    double ratio(const std::string& above, const std::string& below) const;

    /// Whether both have values enough to be told apart at all: four.
    bool testable(const std::string& a, const std::string& b) const;
    /// Whether they can be told apart; never where they are not testable.
    bool differ(const std::string& a, const std::string& b) const;

  private:
    std::map<std::string, std::vector<double>> samples_;
};

}  // namespace abortscope::reproduce
