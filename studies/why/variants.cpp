// SPDX-License-Identifier: Apache-2.0
#include "studies/why/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace abortscope {
namespace {

std::string shown(const ParameterSpec& parameter, std::int64_t value) {
    if (parameter.words.empty()) return fmt::format("{}", value);
    return std::string(parameter.words[static_cast<std::size_t>(value)]);
}

/// What the remedy makes of one parameter; nothing where that is out of its range.
std::optional<std::int64_t> changed(const ParameterChange& change, const ParameterSpec& parameter,
                                    std::int64_t value, std::int64_t factor) {
    switch (change.kind) {
        case ParameterChange::Kind::set:
            value = change.value;
            break;
        case ParameterChange::Kind::divide:
            value /= factor;
            break;
        case ParameterChange::Kind::multiply:
            if (value > parameter.maximum / factor) return std::nullopt;
            value *= factor;
            break;
    }
    if (value < parameter.minimum || value > parameter.maximum) return std::nullopt;
    return value;
}

/// The remedy at one size; nothing where it does not apply or changes nothing.
std::optional<Variant> variant_of(const TrialSpec& base, const Remedy& remedy,
                                  std::int64_t factor) {
    if (!remedy.where.parameter.empty() &&
        base.value(remedy.where.parameter) != remedy.where.value) {
        return std::nullopt;
    }
    Variant variant{.words = remedy.factors.empty()
                                 ? std::string(remedy.words)
                                 : fmt::format(fmt::runtime(remedy.words), factor),
                    .spec = base};
    if (remedy.splits_operations) variant.worth = 1 / static_cast<double>(factor);
    for (std::size_t i = 0; i < base.values.size(); ++i) {
        const ParameterSpec& parameter = base.scenario->parameters[i];
        for (const ParameterChange& change : remedy.changes) {
            if (change.parameter != parameter.name) continue;
            const auto value = changed(change, parameter, base.values[i], factor);
            if (!value) return std::nullopt;
            variant.spec.values[i] = *value;
            if (!variant.change.empty()) variant.change += ' ';
            variant.change += fmt::format("--set {}={}", parameter.name, shown(parameter, *value));
        }
    }
    if (variant.spec.values == base.values) return std::nullopt;
    return variant;
}

std::string words_of(const RetryPolicy& policy) {
    if (!policy.elides) return "do not elide: take the lock";
    const bool waits = policy.waits_before_begin ||
                       std::any_of(policy.classes.begin(), policy.classes.end(),
                                   [](const ClassRule& rule) { return rule.waits_until_free; });
    const bool backs_off = std::any_of(policy.classes.begin(), policy.classes.end(),
                                       [](const ClassRule& rule) { return rule.backs_off; });
    if (waits && backs_off) return "wait until the lock is free before retrying, and back off";
    if (waits) return "wait until the lock is free before retrying";
    return "retry otherwise";
}

class Builder {
  public:
    explicit Builder(const AbortCase& abort_case)
        : base_(abort_case.repeats.front()), log_(abort_case.log()) {}

    std::vector<Variant> build() {
        add_remedies();
        if (!base_.scenario->locks.empty()) {
            add_policies();
            if (counts(rtm::Cause::nested)) add_locks();
        }
        add_threads();
        return std::move(variants_);
    }

  private:
    bool counts(rtm::Cause cause) const {
        return static_cast<double>(log_.causes[static_cast<std::size_t>(cause)]) >=
               share_that_counts * static_cast<double>(log_.aborts());
    }

    void add(Variant variant) {
        variant.choice = choice_;
        variants_.push_back(std::move(variant));
    }

    void add_remedies() {
        for (const Remedy& remedy : base_.scenario->remedies) {
            if (!counts(remedy.cause)) continue;
            constexpr std::int64_t no_factor[] = {1};
            const std::span<const std::int64_t> factors =
                remedy.factors.empty() ? std::span<const std::int64_t>(no_factor) : remedy.factors;
            for (const std::int64_t factor : factors) {
                if (auto variant = variant_of(base_, remedy, factor)) add(std::move(*variant));
            }
            ++choice_;
        }
    }

    void add_policies() {
        for (const RetryPolicy& policy : retry_policies) {
            if (policy.name == base_.policy) continue;
            Variant variant{.change = fmt::format("--policy {}", policy.name),
                            .words = words_of(policy),
                            .spec = base_,
                            .policy = &policy};
            variant.spec.policy = policy.name;
            add(std::move(variant));
            ++choice_;
        }
    }

    void add_locks() {
        for (const std::string_view lock : base_.scenario->locks) {
            if (lock == base_.lock) continue;
            Variant variant{.change = fmt::format("--lock {}", lock),
                            .words = "take another lock, which nests less",
                            .spec = base_};
            variant.spec.lock = lock;
            add(std::move(variant));
            ++choice_;
        }
    }

    void add_threads() {
        for (unsigned threads = base_.threads / 2; threads > 0; threads /= 2) {
            Variant variant{.change = fmt::format("--threads {}", threads),
                            .words = "fewer workers",
                            .spec = base_};
            variant.spec.threads = threads;
            add(std::move(variant));
        }
        ++choice_;
    }

    const TrialSpec& base_;
    const AbortLog log_;
    std::size_t choice_ = 0;
    std::vector<Variant> variants_;
};

}  // namespace

std::vector<Variant> variants_of(const AbortCase& abort_case) {
    return Builder(abort_case).build();
}

std::vector<Trial> trials_of(const AbortCase& abort_case, const Variant& variant) {
    std::vector<Trial> trials;
    for (const TrialSpec& repeat : abort_case.repeats) {
        Trial trial{abort_case.scenario, variant.spec};
        trial.spec.seed = repeat.seed;
        trial.spec.repeat = repeat.repeat;
        trials.push_back(std::move(trial));
    }
    return trials;
}

}  // namespace abortscope
