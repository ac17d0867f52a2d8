// SPDX-License-Identifier: Apache-2.0
#include "studies/reproduce/measured.hpp"

#include <cmath>
#include <numeric>

#include "reports/statistics.hpp"

namespace abortscope::reproduce {

double Measured::mean(const std::string& figure) const {
    const std::vector<double>& values = samples_.at(figure);
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Measured::sd(const std::string& figure) const {
    const std::vector<double>& values = samples_.at(figure);
    if (values.size() < 2) return 0;
    const double middle = mean(figure);
    double squares = 0;
    for (const double value : values) squares += (value - middle) * (value - middle);
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double Measured::ratio(const std::string& above, const std::string& below) const {
    return mean(above) / mean(below);
}

bool Measured::testable(const std::string& a, const std::string& b) const {
    return smallest_p(samples(a).size(), samples(b).size()) <= significant_p;
}

bool Measured::differ(const std::string& a, const std::string& b) const {
    return testable(a, b) && mann_whitney_p(samples(a), samples(b)) <= significant_p;
}

}  // namespace abortscope::reproduce
