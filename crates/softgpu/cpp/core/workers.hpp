// Host threads that help to run a grid.
#pragma once
#include <functional>

namespace octopus_softgpu {

/// How many host threads a grid is spread over when nobody says.
unsigned usual_threads();

/// Calls `work` on this thread and on up to `threads - 1` others, and returns when all are done.
void on_threads(unsigned threads, const std::function<void()>& work);

}  // namespace octopus_softgpu
