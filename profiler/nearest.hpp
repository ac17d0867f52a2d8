// SPDX-License-Identifier: Apache-2.0
//
// The name that somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace abortscope {

/// Edit distance with transpositions (optimal string alignment; Damerau 1964): how many letters
/// must be put in, left out, replaced or swapped with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest of `names`, the first one of equals; empty if none is near: more than a third of
/// the letters (and more than two) differ, and none begins with what was typed.
std::string_view nearest(std::string_view typed, std::span<const std::string_view> names);

/// "unknown scenario 'ovs-hmpa'; did you mean 'ovs-hmap'?", or where nothing is near, the names
/// that there are. What was typed is shown in short and without control characters.
std::string unknown_name(std::string_view kind, std::string_view typed,
                         std::span<const std::string_view> names);

/// What a user typed, in quotes, fit for one line: control characters and bytes outside
/// ASCII are shown as '?', and the middle of a long text is left out.
std::string in_quotes(std::string_view typed);

}  // namespace abortscope
