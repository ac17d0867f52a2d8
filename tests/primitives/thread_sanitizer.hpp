// SPDX-License-Identifier: Apache-2.0
//
// ThreadSanitizer watches the native locks. It keeps a call stack of its own, which neither fibers
// nor a rolled-back stack carry along: tests on such machines leave under it.
#pragma once

#include <gtest/gtest.h>

#if defined(__SANITIZE_THREAD__)
#define ABORTSCOPE_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ABORTSCOPE_TEST_THREAD_SANITIZER 1
#endif
#endif

#if defined(ABORTSCOPE_TEST_THREAD_SANITIZER)
#define SKIP_UNDER_THREAD_SANITIZER() \
    GTEST_SKIP() << "ThreadSanitizer cannot follow a stack that is put back"
#else
#define SKIP_UNDER_THREAD_SANITIZER() static_cast<void>(0)
#endif
