// SPDX-License-Identifier: Apache-2.0
#include "studies/reproduce/publication.hpp"

#include <algorithm>
#include <stdexcept>

#include "scenarios/registry.hpp"

namespace abortscope::reproduce {
namespace {

/// A figure's number in one repeat of its trials.
double number_of(const Figure& figure, const std::vector<std::vector<Measurement>>& results,
                 unsigned repeat, unsigned repeats) {
    double sum = 0;
    for (const Source& source : figure.sources) {
        bool found = false;
        for (const Measurement& row : results.at(source.trial * repeats + repeat)) {
            if (!source.phase.empty() && row.phase != source.phase) continue;
            const std::optional<double> number = figure.of(row);
            if (!number) throw std::logic_error(figure.name + " has no number");
            sum += *number * figure.scale;
            found = true;
        }
        if (!found) throw std::logic_error(figure.name + " names no phase of its trial");
    }
    return sum;
}

}  // namespace

std::optional<double> duration_ms(const Measurement& row) {
    return static_cast<double>(row.duration_ns) / 1e6;
}

std::optional<double> operations_per_s(const Measurement& row) {
    return row.operations_per_s();
}

std::size_t Publication::trial(const TrialSpec& spec) {
    const auto known = std::find_if(trials.begin(), trials.end(), [&](const TrialSpec& other) {
        return command_for(other) == command_for(spec);
    });
    if (known != trials.end()) return static_cast<std::size_t>(known - trials.begin());
    trials.push_back(spec);
    return trials.size() - 1;
}

const Figure* Publication::find(std::string_view figure) const {
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const Figure& each) { return each.name == figure; });
    return found == figures.end() ? nullptr : &*found;
}

bool agrees(double measured, double published) {
    return measured <= published * agreement && published <= measured * agreement;
}

TrialSpec trial_of(std::string_view scenario, std::string_view machine, std::string_view lock,
                   std::string_view policy, unsigned threads, std::vector<Setting> settings) {
    TrialSpec spec;
    spec.scenario = find_scenario(scenario)->info;
    spec.machine = machine;
    spec.lock = lock;
    spec.policy = policy;
    spec.threads = threads;
    for (const ParameterSpec& parameter : spec.scenario->parameters) {
        const auto setting =
            std::find_if(settings.begin(), settings.end(),
                         [&](const Setting& each) { return each.parameter == parameter.name; });
        const bool is_set = setting != settings.end();
        spec.values.push_back(is_set ? setting->value : parameter.default_value);
        if (is_set) settings.erase(setting);
    }
    if (!settings.empty()) throw std::logic_error("no parameter of that name");
    return spec;
}

std::vector<Trial> trials_of(const Publication& publication, std::uint64_t seed, unsigned repeats) {
    std::vector<Trial> trials;
    for (const TrialSpec& spec : publication.trials) {
        for (unsigned repeat = 0; repeat < repeats; ++repeat) {
            trials.push_back({find_scenario(spec.scenario->name), spec});
            trials.back().spec.repeat = repeat;
            trials.back().spec.seed = seed + repeat;
        }
    }
    return trials;
}

Measured measured_from(const Publication& publication,
                       const std::vector<std::vector<Measurement>>& results, unsigned repeats) {
    Measured measured;
    for (const Figure& figure : publication.figures) {
        for (unsigned repeat = 0; repeat < repeats; ++repeat) {
            measured.add(figure.name, number_of(figure, results, repeat, repeats));
        }
    }
    return measured;
}

}  // namespace abortscope::reproduce
